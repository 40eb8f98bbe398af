package durable

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sweep removes the temporary files that a killed writer left in a directory: regular files whose names begin with
// TempPrefix. Call it only while nobody else writes there.
func Sweep(fsys FS, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // who reads the directory next says why
	}
	var failed error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), TempPrefix) && e.Type().IsRegular() {
			if err := fsys.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
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
