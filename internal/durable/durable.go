package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
)

// WriteFile makes path hold exactly data, with the permission bits of perm, whether or not it existed. The steps and
// what each leaves are in the package's doc. Any error but a *SyncError of the directory, or one of the rename itself,
// means that nothing changed.
func WriteFile(fsys FS, path string, data []byte, perm fs.FileMode) error {
	temp, err := writeTemp(fsys, path, data, perm)
	if err != nil {
		return notWritten(path, err)
	}
	if err := fsys.Rename(temp, path); err != nil {
		_ = fsys.Remove(temp)
		return notWritten(path, err)
	}
	return syncDir(fsys, path)
}

// WriteNew is WriteFile for a path that must not exist; if it does, the error matches fs.ErrExist and nothing changed. Of several
// at once exactly one succeeds. The file system must have hard links.
func WriteNew(fsys FS, path string, data []byte, perm fs.FileMode) error {
	temp, err := writeTemp(fsys, path, data, perm)
	if err != nil {
		return notWritten(path, err)
	}
	err = fsys.Link(temp, path)
	_ = fsys.Remove(temp) // if that fails a stale name stays, which does no harm
	if err != nil {
		return notWritten(path, err)
	}
	return syncDir(fsys, path)
}

// Append puts data at the end of path, creating it with the permission bits of perm if it does not exist. Any error but *SyncError and
// *TailError means that the file holds what it held before (or exists, empty).
func Append(fsys FS, path string, data []byte, perm fs.FileMode) error {
	f, err := openOrCreate(fsys, path, perm)
	if err != nil {
		return notAppended(path, err)
	}
	err = appendTo(fsys, f, path, data)
	_ = f.Close() // nothing is left to write: what was synced stays, what was not has its error
	return err
}

// Mkdir makes the directory path and makes its name durable; its parent must exist. If path exists the error matches
// fs.ErrExist, and its name is durable all the same, for whoever made it may have been killed before.
func Mkdir(fsys FS, path string, perm fs.FileMode) error {
	made := fsys.Mkdir(path, perm)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return fmt.Errorf("%q: no directory was made: %w", path, made)
	}
	if err := syncDir(fsys, path); err != nil {
		return err
	}
	if made != nil {
		return fmt.Errorf("%q: it exists already: %w", path, made)
	}
	return nil
}

// writeTemp leaves a file beside path with data on the disk, or nothing.
func writeTemp(fsys FS, path string, data []byte, perm fs.FileMode) (temp string, err error) {
	temp = filepath.Join(filepath.Dir(path), TempPrefix+rand.Text())
	f, err := fsys.Create(temp, perm)
	if err == nil {
		err = errors.Join(fill(f, temp, data), f.Close())
	}
	if err != nil {
		_ = fsys.Remove(temp)
		return "", err
	}
	return temp, nil
}

func fill(f File, name string, data []byte) error {
	if err := writeAll(f, data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return &SyncError{name, err}
	}
	return nil
}

func writeAll(f File, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		return io.ErrShortWrite
	}
	return err
}

func openOrCreate(fsys FS, path string, perm fs.FileMode) (File, error) {
	f, err := fsys.OpenAppend(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fsys.Create(path, perm)
	}
	return f, err
}

func appendTo(fsys FS, f File, path string, data []byte) error {
	size, err := f.Size()
	if err != nil {
		return notAppended(path, err)
	}
	if size == 0 {
		if err := syncDir(fsys, path); err != nil {
			return err
		}
	}
	if err := writeAll(f, data); err != nil {
		if cut := f.Truncate(size); cut != nil {
			return &TailError{path, size, errors.Join(err, cut)}
		}
		return notAppended(path, err)
	}
	if err := f.Sync(); err != nil {
		return &SyncError{path, err}
	}
	return nil
}

// syncDir makes the name of path durable.
func syncDir(fsys FS, path string) error {
	dir := filepath.Dir(path)
	if err := fsys.SyncDir(dir); err != nil {
		return &SyncError{dir, err}
	}
	return nil
}

func notWritten(path string, err error) error {
	return fmt.Errorf("%q: not written: %w", path, err)
}

func notAppended(path string, err error) error {
	return fmt.Errorf("%q: nothing was appended: %w", path, err)
}
