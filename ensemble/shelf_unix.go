//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package ensemble

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// shelf is a directory of a corpus in which many files are made at once. It stays
// open, and files are made by their names in it: what a path to it leads to
// meanwhile does not matter.
type shelf struct {
	dir *os.File
	fd  int
}

// openShelf opens a directory beneath a root.
func openShelf(root *os.Root, name string) (*shelf, error) {
	d, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	return &shelf{d, int(d.Fd())}, nil
}

// add makes a file with exactly this mode. Its name is one step, and nothing may be
// there yet, be it a link.
func (s *shelf) add(name string, text []byte, mode uint32) error {
	if strings.ContainsRune(name, '/') {
		return &fs.PathError{Op: "create", Path: name, Err: ErrNotOurs}
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(s.fd, name, flags, 0o600)
	for err == unix.EINTR {
		fd, err = unix.Openat(s.fd, name, flags, 0o600)
	}
	if err == nil {
		err = errors.Join(writeAll(fd, text), unix.Fchmod(fd, mode&0o777), unix.Close(fd))
	}
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return nil
}

// remove takes a file, or an empty directory, away. Its name is one step.
func (s *shelf) remove(name string) error {
	if strings.ContainsRune(name, '/') {
		return &fs.PathError{Op: "remove", Path: name, Err: ErrNotOurs}
	}
	err := unix.Unlinkat(s.fd, name, 0)
	for err == unix.EINTR {
		err = unix.Unlinkat(s.fd, name, 0)
	}
	if err == unix.EISDIR || err == unix.EPERM {
		err = unix.Unlinkat(s.fd, name, unix.AT_REMOVEDIR)
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

func writeAll(fd int, text []byte) error {
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrShortWrite
		}
		text = text[n:]
	}
	return nil
}

func (s *shelf) close() error {
	if s == nil {
		return nil
	}
	return s.dir.Close()
}
