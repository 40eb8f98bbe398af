package beneath

import (
	"io/fs"
	"strings"
)

// MaxLink is the longest text of a link that is read, in bytes: the longest path a system takes.
const MaxLink = 4096

// Facts are what the system says of one name without opening it. Two equal looks around a reading mean that nothing was
// written in between, as finely as the clock of [Stamp] ticks. Compare with ==. The zero value is no file's.
type Facts struct {
	Stamp    Stamp
	Kind     Kind
	Block    bool   // of a Device: a block device, else a character device; false where the system does not say
	Mode     uint32 // twelve permission bits: rwx three times, sticky 01000, setgid 02000, setuid 04000
	UID, GID uint32 // 0 where there are none
	Links    uint64 // names it has; 0 where the system does not say
	Size     int64  // in bytes
	Rdev     uint64 // which device a Device is, as stat(2) encodes it
	Mount    bool   // said of names: another file system or a bind mount starts here; false where the system does not say
}

func (i info) facts() Facts {
	f := Facts{
		Stamp: i.stamp, Kind: i.kind, Mode: i.mode & 0o7777, UID: i.uid, GID: i.gid,
		Links: i.links, Size: i.size, Rdev: i.rdev, Mount: i.mounted,
	}
	const typeBits, block = 0o170000, 0o060000
	f.Block = i.kind == Device && i.mode&typeBits == block
	return f
}

// Lstat looks at the child name, of whatever kind, without following or opening it.
// Reasons: file-name, not-found, no-access, read-failed.
func (d *Dir) Lstat(name string) (Facts, error) {
	if err := d.check(name); err != nil {
		return Facts{}, err
	}
	i, err := d.h.lstat(name)
	if err != nil {
		return Facts{}, refusal(d.below(name), err)
	}
	return i.facts(), nil
}

// Facts looks at the directory itself.
func (d *Dir) Facts() (Facts, error) {
	if d.h == nil {
		return Facts{}, refusal(d.where(), fs.ErrClosed)
	}
	i, err := d.h.stat()
	if err != nil {
		return Facts{}, refusal(d.where(), err)
	}
	return i.facts(), nil
}

// Readlink reads the text of the link name, at most [MaxLink] bytes. What is no link is read-failed.
// Reasons: file-name, not-found, no-access, read-failed.
func (d *Dir) Readlink(name string) (string, error) {
	if err := d.check(name); err != nil {
		return "", err
	}
	text, err := d.h.readlink(name, MaxLink)
	if err != nil {
		return "", refusal(d.below(name), err)
	}
	return text, nil
}

// Again opens the same directory a second time. The caller closes it.
func (d *Dir) Again() (*Dir, error) {
	if d.h == nil {
		return nil, refusal(d.where(), fs.ErrClosed)
	}
	h, err := d.h.dir(".")
	if err != nil {
		return nil, refusal(d.where(), err)
	}
	return &Dir{h, d.up, d.path}, nil
}

// Walk opens the directory at a path of one or more components below d; "." is d itself, opened again. On Linux it is one
// system call, elsewhere one for each component; no link on the way is followed and no mount entered. The caller closes it.
// Reasons: those of [Dir.Dir].
func (d *Dir) Walk(path string) (*Dir, error) {
	if path == "." {
		return d.Again()
	}
	if d.h == nil || !d.h.deep() || len(path) >= MaxLink || !plainComponents(path) {
		return d.walkSteps(path)
	}
	h, err := d.h.dir(path)
	if err != nil {
		return d.walkSteps(path) // which says where, and what is there
	}
	return &Dir{h, d, path}, nil
}

func plainComponents(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if notComponent(name) != "" {
			return false
		}
	}
	return true
}

func (d *Dir) walkSteps(path string) (*Dir, error) {
	at := d
	for name := range strings.SplitSeq(path, "/") {
		next, err := at.Dir(name)
		if at != d {
			_ = at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}
