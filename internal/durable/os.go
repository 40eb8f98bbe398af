package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// OS is the operating system's file system.
func OS() FS { return osFS{} }

type osFS struct{}

type osFile struct{ *os.File }

func (osFS) Create(path string, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL|noFollow, perm.Perm())
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(perm.Perm()); err != nil { // the umask may have taken bits away
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return osFile{f}, nil
}

func (osFS) OpenAppend(path string) (File, error) { return open(path, os.O_WRONLY|os.O_APPEND) }

func (osFS) OpenAt(path string) (FileAt, error) { return open(path, os.O_WRONLY) }

func (osFS) Open(path string) (Reader, error) { return open(path, os.O_RDONLY) }

// anyFile is what an open file can do; how it was opened says what of it works.
type anyFile interface {
	File
	FileAt
	Reader
}

func open(path string, flags int) (anyFile, error) {
	f, err := openRegular(path, flags)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// openRegular neither follows a link at path nor waits on a FIFO.
func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// maxNames bounds what List holds in memory.
const maxNames = 1 << 20

func (osFS) List(path string) ([]string, error) { return list(path, maxNames) }

func list(path string, most int) ([]string, error) {
	d, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(most + 1)
	_ = d.Close() // nothing was written through it
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(names) > most {
		return nil, fmt.Errorf("%q: more than %d names: %w", path, most, ErrTooLarge)
	}
	slices.Sort(names)
	return names, nil
}

func (osFS) Rename(old, new string) error { return os.Rename(old, new) }

func (osFS) Link(old, new string) error { return os.Link(old, new) }

func (osFS) Remove(path string) error { return os.Remove(path) }

func (osFS) Mkdir(path string, perm fs.FileMode) error {
	if err := os.Mkdir(path, perm.Perm()); err != nil {
		return err
	}
	if err := os.Chmod(path, perm.Perm()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func (osFS) SyncDir(path string) error { return syncDirectory(path) }

func (f osFile) Sync() error { return syncFile(f.File) }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
