package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What the directory of a sweep's corpora is called, and what says that it is one.
const (
	placePrefix = "iff-sweep-"
	placeMarker = "made-by-iff-sweep"
	placeText   = "All that is here is removed when the sweep ends, or when the next one begins.\n"
)

// place is a directory in which a sweep makes corpora. It is locked for as long as
// the process lives.
type place struct {
	parent *os.Root
	name   string
	dir    *os.File
}

// newPlace makes a directory below dir, memory if that is empty, and removes those
// that killed sweeps left there.
func newPlace(dir string) (*place, error) {
	dir, err := filepath.Abs(room(dir))
	if err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := removeLeft(parent); err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	made, err := os.MkdirTemp(dir, placePrefix)
	if err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	p := &place{parent: parent, name: filepath.Base(made)}
	if err := p.mark(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// mark locks the directory and then says what it is, in this order: one that says
// it is locked while its sweep lives. Where the system has no lock it does not say
// it, and stays if the sweep is killed.
func (p *place) mark() (err error) {
	if p.dir, err = p.parent.Open(p.name); err != nil {
		return err
	}
	locked, err := lockDir(p.dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err == nil && !locked:
		err = fmt.Errorf("somebody else holds %q", p.path())
	}
	if err != nil {
		return err
	}
	return p.parent.WriteFile(filepath.Join(p.name, placeMarker), []byte(placeText), 0o600)
}

func (p *place) path() string { return filepath.Join(p.parent.Name(), p.name) }

// Close removes the directory, unless another one stands there by now.
func (p *place) Close() error {
	var err error
	if p.dir != nil {
		made, e := p.dir.Stat()
		now, e2 := p.parent.Lstat(p.name)
		if err = errors.Join(e, e2); err == nil && !os.SameFile(made, now) {
			err = fmt.Errorf("%q is not the directory that was made, and stays", p.path())
		}
	}
	if err == nil {
		err = removePlace(p.parent, p.name)
	}
	if p.dir != nil {
		err = errors.Join(err, p.dir.Close())
	}
	return errors.Join(err, p.parent.Close())
}

// removePlace takes the marker away last: what is left if it is stopped is known
// for what it is.
func removePlace(parent *os.Root, name string) error {
	there, err := fs.ReadDir(parent.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range there {
		if e.Name() != placeMarker {
			err = errors.Join(err, parent.RemoveAll(filepath.Join(name, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return parent.RemoveAll(name)
}

// room is dir, or memory where there is any.
func room(dir string) string {
	if dir != "" {
		return dir
	}
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return os.TempDir()
}

// removeLeft removes what killed sweeps of this user left in a directory. What is
// in doubt stays.
func removeLeft(parent *os.Root) error {
	dir, err := parent.Open(".")
	if err != nil {
		return err
	}
	there, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	slices.Sort(there)
	for _, name := range there {
		if !strings.HasPrefix(name, placePrefix) {
			continue
		}
		if err := removeOne(parent, name); err != nil {
			return fmt.Errorf("%q is left of a sweep that was killed, and cannot be removed: %w", filepath.Join(parent.Name(), name), err)
		}
	}
	return nil
}

// removeOne holds the lock while it looks and removes.
func removeOne(parent *os.Root, name string) error {
	before, err := parent.Lstat(name)
	if err != nil || !before.IsDir() || !ours(before) {
		return nil
	}
	dir, err := parent.Open(name)
	if err != nil {
		return nil
	}
	defer dir.Close()
	opened, err := dir.Stat()
	if err != nil || !os.SameFile(before, opened) {
		return nil
	}
	if locked, err := lockDir(dir); err != nil || !locked {
		return nil // its sweep is at work
	}
	if !marked(parent, name) {
		return nil
	}
	return removePlace(parent, name)
}

func marked(parent *os.Root, name string) bool {
	path := filepath.Join(name, placeMarker)
	info, err := parent.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(placeText)) {
		return false
	}
	f, err := parent.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(len(placeText))+1))
	return err == nil && string(text) == placeText
}
