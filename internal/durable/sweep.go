package durable

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// Sweep removes the temporary files that a killed writer left in a directory: regular files that can be read and whose names
// begin with TempPrefix. Call it only while nobody else writes there.
func Sweep(fsys FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return nil // who reads the directory next says why
	}
	var failed error
	for _, name := range names {
		path := filepath.Join(dir, name)
		if !strings.HasPrefix(name, TempPrefix) || !isRegular(fsys, path) {
			continue
		}
		if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func isRegular(fsys FS, path string) bool {
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close() // nothing was written through it
	return true
}

// Probe says whether a file can be made in a directory, by making one and removing it.
func Probe(fsys FS, dir string) error {
	path := filepath.Join(dir, TempPrefix+rand.Text())
	f, err := fsys.Create(path, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), fsys.Remove(path))
}
