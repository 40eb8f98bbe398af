package scratch

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

// Kind is what directories are made for. All three are needed.
type Kind struct {
	Prefix string // of their names
	Marker string // name of the file that says what they are
	Text   string // in it
}

// Dir is a directory that was made. It is locked for as long as it is open. The
// zero value was not made.
type Dir struct {
	kind   Kind
	parent *os.Root
	name   string
	dir    *os.File
}

// Make makes a directory below dir, and removes those that killed processes left
// there. Close it.
func (k Kind) Make(dir string) (*Dir, error) {
	if k.Prefix == "" || k.Marker == "" || k.Text == "" {
		return nil, errors.New("scratch: the kind is not complete")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := k.removeLeft(parent); err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	made, err := os.MkdirTemp(dir, k.Prefix)
	if err != nil {
		return nil, errors.Join(err, parent.Close())
	}
	d := &Dir{kind: k, parent: parent, name: filepath.Base(made)}
	if err := d.mark(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// mark locks the directory and then says what it is, in this order: one that says
// it is locked while its process lives. Where the system has no lock it does not
// say it, and stays if the process is killed.
func (d *Dir) mark() (err error) {
	if d.dir, err = d.parent.Open(d.name); err != nil {
		return err
	}
	locked, err := lockDir(d.dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err == nil && !locked:
		err = fmt.Errorf("somebody else holds %q", d.Path())
	}
	if err != nil {
		return err
	}
	return d.parent.WriteFile(filepath.Join(d.name, d.kind.Marker), []byte(d.kind.Text), 0o600)
}

// Path is where the directory is; empty if there is none.
func (d *Dir) Path() string {
	if d == nil || d.parent == nil {
		return ""
	}
	return filepath.Join(d.parent.Name(), d.name)
}

// Close removes the directory, unless another one stands there by now.
func (d *Dir) Close() error {
	err := d.standing()
	if err == nil {
		err = d.kind.remove(d.parent, d.name)
	}
	return errors.Join(err, d.release())
}

// Keep takes the mark away and leaves the directory to whoever wants it.
func (d *Dir) Keep() error {
	err := d.standing()
	if err == nil {
		err = d.parent.Remove(filepath.Join(d.name, d.kind.Marker))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was never marked
	}
	return errors.Join(err, d.release())
}

// standing says whether what was made is what stands there.
func (d *Dir) standing() error {
	if d == nil || d.parent == nil {
		return errors.New("scratch: there is no directory")
	}
	if d.dir == nil {
		return nil
	}
	made, err := d.dir.Stat()
	now, e := d.parent.Lstat(d.name)
	if err := errors.Join(err, e); err != nil {
		return err
	}
	if !os.SameFile(made, now) {
		return fmt.Errorf("%q is not the directory that was made, and stays", d.Path())
	}
	return nil
}

func (d *Dir) release() (err error) {
	if d == nil || d.parent == nil {
		return nil
	}
	if d.dir != nil {
		err = d.dir.Close()
	}
	err = errors.Join(err, d.parent.Close())
	d.dir, d.parent = nil, nil
	return err
}

// remove takes the marker away last: what is left if it is stopped is known for
// what it is.
func (k Kind) remove(parent *os.Root, name string) error {
	there, err := fs.ReadDir(parent.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range there {
		if e.Name() != k.Marker {
			err = errors.Join(err, removeAll(parent, filepath.Join(name, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return parent.RemoveAll(name)
}

// removeAll removes a tree, also one with directories that cannot be written to.
func removeAll(parent *os.Root, name string) error {
	err := parent.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	loosen(parent, name)
	return parent.RemoveAll(name)
}

// loosen lets the owner into every directory of a tree. Links are left alone, and
// what cannot be loosened cannot be removed.
func loosen(parent *os.Root, name string) {
	info, err := parent.Lstat(name)
	if err != nil || !info.IsDir() || parent.Chmod(name, 0o700) != nil {
		return
	}
	there, _ := fs.ReadDir(parent.FS(), name)
	for _, e := range there {
		if e.IsDir() {
			loosen(parent, filepath.Join(name, e.Name()))
		}
	}
}

// removeLeft removes what killed processes of this user left in a directory. What
// is in doubt stays.
func (k Kind) removeLeft(parent *os.Root) error {
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
		if !strings.HasPrefix(name, k.Prefix) {
			continue
		}
		if err := k.removeOne(parent, name); err != nil {
			return fmt.Errorf("%q is left of a run that was killed, and cannot be removed: %w", filepath.Join(parent.Name(), name), err)
		}
	}
	return nil
}

// removeOne holds the lock while it looks and removes.
func (k Kind) removeOne(parent *os.Root, name string) error {
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
		return nil // its process is at work
	}
	if !k.marked(parent, name) {
		return nil
	}
	return k.remove(parent, name)
}

func (k Kind) marked(parent *os.Root, name string) bool {
	path := filepath.Join(name, k.Marker)
	info, err := parent.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(k.Text)) {
		return false
	}
	f, err := parent.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(len(k.Text))+1))
	return err == nil && string(text) == k.Text
}
