package fs

import "github.com/iff-run/iff/corpus"

// sys is every way in which this package touches the world: system calls on
// descriptors. at is a directory and name one component in it; only dir takes
// more. Tests put faults between the two.
type sys interface {
	// root opens a directory by its path, links followed.
	root(path string) (int, error)
	// dir opens the directory at a path below at: no links, on the same mount.
	dir(at int, path string) (int, error)
	// open opens a file for reading, no link, on the same mount, without waiting.
	open(at int, name string) (int, error)
	// create makes a file for reading and writing that must not be there, mode 0600.
	create(at int, name string) (int, error)
	close(fd int)

	lstat(at int, name string) (stat, error)
	stat(fd int) (stat, error)
	// list lists a directory unsorted, failing with errTooMany beyond most.
	list(at int, most int) ([]dirent, error)
	readlink(at int, name string) (string, error)
	readAt(fd int, p []byte, off int64) (int, error)
	// xattrs are those that count.
	xattrs(fd int) ([]corpus.Xattr, error)
	// folds says that a directory takes two spellings for one name. It may not know.
	folds(at int) bool

	write(fd int, p []byte) (int, error)
	setXattr(fd int, a corpus.Xattr) error
	dropXattr(fd int, name string) error
	chown(fd int, uid, gid uint32) error
	chmod(fd int, mode uint32) error
	mkdir(at int, name string, mode uint32) error
	sync(fd int) error
	// move renames and fails with EEXIST if something is there.
	move(at int, name string, to int, as string) error
	// swap exchanges two names, both of which must be there.
	swap(at int, name string, to int, as string) error
	unlink(at int, name string) error
	rmdir(at int, name string) error
}

// dirent is a name in a directory, and what the directory says of its kind; empty
// where it does not.
type dirent struct {
	name string
	kind corpus.Kind
}

// stat is one look at an object. Two equal looks around a reading mean that
// nothing was written in between.
type stat struct {
	kind         corpus.Kind
	special      string // type of a special file
	mode         uint32 // twelve bits
	uid, gid     uint32
	links        uint64
	size         int64
	dev, ino     uint64
	rdev         uint64
	mtime, ctime [2]int64
}

// same says whether both are looks at the same object.
func (s stat) same(t stat) bool { return s.dev == t.dev && s.ino == t.ino && s.kind == t.kind }

// facts are those of the state but for the digests.
func (s stat) facts() corpus.Facts {
	if s.kind == corpus.Link {
		return corpus.Facts{Kind: corpus.Link}
	}
	return corpus.Facts{Kind: s.kind, Mode: s.mode, UID: s.uid, GID: s.gid}
}
