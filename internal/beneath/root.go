package beneath

import (
	"cmp"
	"io/fs"
	"os"
	"syscall"
)

// rootDir is a directory by os.Root, for systems without the Unix calls. It is built everywhere so that the tests of every
// system run it.
type rootDir struct{ root *os.Root }

func openRoot(path string) (handle, error) {
	if i, err := os.Stat(path); err != nil || !i.IsDir() {
		return nil, cmp.Or(err, error(syscall.ENOTDIR))
	}
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &rootDir{r}, nil
}

func (d *rootDir) lstat(name string) (info, error) {
	i, err := d.root.Lstat(name)
	if err != nil {
		return info{}, err
	}
	return infoOfFile(i), nil
}

func (d *rootDir) deep() bool { return false }

func (d *rootDir) readlink(name string, max int) (string, error) {
	text, err := d.root.Readlink(name)
	if err == nil && len(text) > max {
		return "", errLongLink
	}
	return text, err
}

// childXattrs knows none here.
func (d *rootDir) childXattrs(string, xattrQuery) ([]Xattr, error) { return nil, nil }

func (d *rootDir) stat() (info, error) { return d.lstat(".") }

func (d *rootDir) Close() error { return d.root.Close() }

// file opens name. os.Root follows a link that stays beneath, so what was opened must be what lies there.
func (d *rootDir) file(name string) (object, error) {
	want, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	got, err := f.Stat()
	if err != nil || !os.SameFile(want, got) {
		_ = f.Close()
		return nil, cmp.Or(err, errChanged)
	}
	return rootFile{f}, nil
}

func (d *rootDir) dir(name string) (handle, error) {
	want, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !want.IsDir() {
		return nil, syscall.ENOTDIR
	}
	r, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := r.Stat(".")
	if err != nil || !os.SameFile(want, got) {
		_ = r.Close()
		return nil, cmp.Or(err, errChanged)
	}
	return &rootDir{r}, nil
}

func (d *rootDir) list(max int) ([]Entry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return listFile(f, max, d.lstat)
}

type rootFile struct{ *os.File }

func (f rootFile) stat() (info, error) {
	i, err := f.Stat()
	if err != nil {
		return info{}, err
	}
	return infoOfFile(i), nil
}

func (f rootFile) xattrs(xattrQuery) ([]Xattr, error) { return nil, nil }

// infoOfFile has no device, inode or change time: identity is os.SameFile's.
func infoOfFile(i fs.FileInfo) info {
	at := i.ModTime()
	when := moment{at.Unix(), int64(at.Nanosecond())}
	return info{
		stamp: Stamp{mtime: when, ctime: when},
		kind:  kindOfFile(i.Mode()),
		mode:  uint32(i.Mode().Perm()) | highBits(i.Mode()),
		size:  i.Size(),
	}
}

func highBits(m fs.FileMode) (bits uint32) {
	for i, bit := range [...]fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if m&bit != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

func kindOfFile(m fs.FileMode) Kind {
	switch m.Type() {
	case 0:
		return Regular
	case fs.ModeDir:
		return Directory
	case fs.ModeSymlink:
		return Link
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		return Device
	case fs.ModeNamedPipe:
		return FIFO
	case fs.ModeSocket:
		return Socket
	}
	return Unknown
}
