package durable

import (
	"errors"
	"io/fs"
	"os"
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

func (osFS) OpenAppend(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|noFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "append", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
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

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
