package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular says that a path names something other than a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge says that a file is larger than the caller reads.
var ErrTooLarge = errors.New("too large")

// ReadFile reads a regular file of at most max bytes and says what its permission bits are. It does not wait on a FIFO and
// takes nothing from a device: those are ErrNotRegular. A larger file is ErrTooLarge. Links are followed, for the paths are
// the operator's own.
func ReadFile(path string, max int64) ([]byte, fs.FileMode, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%q: %w", path, ErrNotRegular)
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		err = fmt.Errorf("%q: more than %d bytes: %w", path, max, ErrTooLarge)
	}
	if err != nil {
		return nil, 0, err
	}
	return data, info.Mode().Perm(), nil
}

// Load reads a regular file of at most max bytes through fsys; a larger one is ErrTooLarge. Unlike ReadFile it does not follow
// a link at path.
func Load(fsys FS, path string, max int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > max {
		return nil, fmt.Errorf("%q: more than %d bytes: %w", path, max, ErrTooLarge)
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF { // it may have been cut meanwhile
		return nil, err
	}
	return data[:n], nil
}
