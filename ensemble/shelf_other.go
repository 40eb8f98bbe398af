//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package ensemble

import (
	"errors"
	"io/fs"
	"os"
)

// shelf is a directory of a corpus in which many files are made at once. It stays
// open, and files are made by their names in it.
type shelf struct{ dir *os.Root }

func openShelf(root *os.Root, name string) (*shelf, error) {
	d, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &shelf{d}, nil
}

// add makes a file with exactly this mode. Nothing may be there yet.
func (s *shelf) add(name string, text []byte, mode uint32) error {
	f, err := s.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Chmod(fs.FileMode(mode&0o777)), f.Close())
}

// remove takes a file, or an empty directory, away.
func (s *shelf) remove(name string) error { return s.dir.Remove(name) }

func (s *shelf) close() error {
	if s == nil {
		return nil
	}
	return s.dir.Close()
}
