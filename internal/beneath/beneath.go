package beneath

import (
	"io"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"time"
)

// Kind is the type of a directory entry. The zero value, Unknown, is refused everywhere.
type Kind uint8

// The kinds. Anything else a system may have (doors, whiteouts, reparse points) is Unknown.
const (
	Unknown Kind = iota
	Regular
	Directory
	Link
	Device
	FIFO
	Socket
)

var kindNames = [...]string{"special file", "regular file", "directory", "symbolic link", "device", "FIFO", "socket"}

// String is the kind in plain words.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		k = Unknown
	}
	return kindNames[k]
}

// Entry is one name in a directory. Name is raw, as the file system has it: see [CheckName]. Kind is what the
// directory said and may be out of date by the time the name is opened; opening decides again.
type Entry struct {
	Name string
	Kind Kind
}

// File is the content of a regular file at one instant.
type File struct {
	Data       []byte // exactly Size bytes
	Size       int64  // in bytes
	Executable bool   // any of the three x bits is set; never on Windows
	Links      uint64 // names this file has, 1 unless there are hard links; 0 where the system does not say
}

// Stamp tells one state of a directory from another: device, inode, modification and change time. Two equal stamps
// around a walk mean that no entry was added, removed or renamed in between, as finely as the kernel's clock ticks
// (below a microsecond since Linux 6.13, 10 ms before). Compare with ==. The zero Stamp is no directory's.
type Stamp struct {
	dev, ino     uint64
	mtime, ctime moment
}

// Changed is when the system last saw a change of any kind: the change time, the modification time where there is none. It
// is the zero Time for the zero Stamp.
func (s Stamp) Changed() time.Time {
	if s == (Stamp{}) {
		return time.Time{}
	}
	return time.Unix(s.ctime.sec, s.ctime.nsec)
}

type moment struct{ sec, nsec int64 }

// info is one look at a file. Two equal looks around a reading mean that nothing was written in between.
type info struct {
	stamp    Stamp
	kind     Kind
	mode     uint32
	uid, gid uint32
	links    uint64
	size     int64
	rdev     uint64
	mounted  bool // by lstat: the root of a mount; false where the system does not say
}

// object is an open file.
type object interface {
	io.ReaderAt
	stat() (info, error)
	xattrs(q xattrQuery) ([]Xattr, error)
	Close() error
}

// handle is an open directory: the few primitives that differ between systems. Names are checked before.
type handle interface {
	lstat(name string) (info, error)
	file(name string) (object, error)
	dir(name string) (handle, error)
	deep() bool // whether dir takes several components at once and follows nothing in any of them
	readlink(name string, max int) (string, error)
	childXattrs(name string, q xattrQuery) ([]Xattr, error)
	list(max int) ([]Entry, error)
	stat() (info, error)
	Close() error
}

// Dir is an open directory. The zero value is closed: every method refuses.
//
// Its methods may be called by several goroutines at once, with two exceptions: Entries moves the handle's position and may
// not run beside another Entries on the same Dir ([Dir.Again] gives a second one), and Close may not run beside anything.
type Dir struct {
	h    handle
	up   *Dir // from which it was opened, of which only the path counts; nil for what Open gives
	path string
}

// Open opens the directory at path, following links in path itself. The caller closes it.
// Reasons: not-found, no-access, not-a-directory, file-name, read-failed.
func Open(path string) (*Dir, error) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return nil, &Error{Reason: FileName, Path: path, Detail: "the path is empty or holds a NUL byte"}
	}
	h, err := open(path)
	if err != nil {
		return nil, refusal(path, err)
	}
	return &Dir{h: h, path: path}, nil
}

// Close releases the directory. Directories opened from it stay open. A second Close does nothing.
func (d *Dir) Close() error {
	if d.h == nil {
		return nil
	}
	err := d.h.Close()
	d.h = nil
	if err != nil {
		return refusal(d.where(), err)
	}
	return nil
}

// Entries lists the directory without "." and "..", sorted bytewise. More than max entries are too-many-entries, found
// before the rest is read; a name seen twice is file-changing. Names come as they are: see [CheckName].
func (d *Dir) Entries(max int) ([]Entry, error) {
	if d.h == nil {
		return nil, refusal(d.where(), fs.ErrClosed)
	}
	entries, err := d.h.list(max)
	if err == nil {
		err = sortEntries(entries)
	}
	if err != nil {
		return nil, refusal(d.where(), err)
	}
	return entries, nil
}

// Dir opens the child directory name. The caller closes it.
// Reasons: file-name, file-link, file-special, file-mount, file-changing, not-a-directory, not-found, no-access, read-failed.
func (d *Dir) Dir(name string) (*Dir, error) {
	if err := d.check(name); err != nil {
		return nil, err
	}
	h, err := d.h.dir(name)
	if err != nil {
		return nil, d.refuseOpen(d.below(name), name, Directory, err)
	}
	return &Dir{h, d, name}, nil
}

// ReadFile reads the child file name whole, at most max bytes; a larger one is file-too-large before a byte of it is read
// or memory taken. It is opened once. Data is the caller's own.
// Reasons: file-name, file-link, file-special, file-mount, file-changing, file-too-large, not-a-file, not-found,
// no-access, read-failed.
func (d *Dir) ReadFile(name string, max int64) (File, error) {
	if err := d.check(name); err != nil {
		return File{}, err
	}
	before, err := d.h.lstat(name)
	if err != nil {
		return File{}, refusal(d.below(name), err)
	}
	if before.kind != Regular {
		return File{}, refuseKind(d.below(name), before.kind, Regular)
	}
	if before.mounted {
		return File{}, refusal(d.below(name), errMount)
	}
	if before.size > min(max, math.MaxInt) {
		return File{}, tooLarge(d.below(name), before.size, max)
	}
	f, err := d.h.file(name)
	if err != nil {
		return File{}, d.refuseOpen(d.below(name), name, Regular, err)
	}
	defer f.Close()
	data, err := readUnchanged(f, before)
	if err != nil {
		return File{}, refusal(d.below(name), err)
	}
	return File{Data: data, Size: before.size, Executable: before.mode&0o111 != 0, Links: before.links}, nil
}

// Stamp looks at the directory itself.
func (d *Dir) Stamp() (Stamp, error) {
	if d.h == nil {
		return Stamp{}, refusal(d.where(), fs.ErrClosed)
	}
	i, err := d.h.stat()
	if err != nil {
		return Stamp{}, refusal(d.where(), err)
	}
	return i.stamp, nil
}

// check refuses what is not one component.
func (d *Dir) check(name string) error {
	if d.h == nil {
		return refusal(d.where(), fs.ErrClosed)
	}
	if detail := notComponent(name); detail != "" {
		return &Error{Reason: FileName, Path: d.where() + "/" + name, Detail: detail}
	}
	return nil
}

// where is the path to show in errors.
func (d *Dir) where() string {
	if d.up == nil {
		return d.path
	}
	return d.up.below(d.path)
}

// below is where a name is.
func (d *Dir) below(name string) string {
	dir := d.where()
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// refuseOpen says why an open did not succeed. Systems answer with different codes for a link or a special file, so the
// name is looked at again; it is only asked what it is, never opened.
func (d *Dir) refuseOpen(path, name string, want Kind, err error) error {
	first := refusal(path, err)
	switch first.Reason {
	case FileMount, FileChanging, NoAccess:
		return first
	}
	now, statErr := d.h.lstat(name)
	switch {
	case statErr == nil && now.kind != want:
		return refuseKind(path, now.kind, want)
	case want == Regular && first.Reason == NotFound:
		return refusal(path, errChanged) // it was there a moment ago
	case first.Reason == FileLink || first.Reason == NotADirectory || first.Reason == FileSpecial:
		return refusal(path, errChanged) // it was a link or special a moment ago
	}
	return first
}

func refuseKind(path string, got, want Kind) *Error {
	switch {
	case got == Link:
		return &Error{Reason: FileLink, Path: path, Detail: "a symbolic link", Err: syscall.ELOOP}
	case got == Directory:
		return &Error{Reason: NotAFile, Path: path, Detail: "a directory, not a file", Err: syscall.EISDIR}
	case got == Regular:
		return &Error{Reason: NotADirectory, Path: path, Detail: "a file, not a directory", Err: syscall.ENOTDIR}
	}
	return &Error{Reason: FileSpecial, Path: path, Detail: "a " + got.String() + ", not a " + want.String()}
}
