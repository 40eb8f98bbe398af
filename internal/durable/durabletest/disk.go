package durabletest

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
)

// Disk is a durable.FS in memory. Relative paths start at its root, which exists. Make one with [New]; it may be used by several
// goroutines.
type Disk struct {
	mu      sync.Mutex
	root    *inode
	pending []change
	made    int // changes, ever
	calls   []Call
	reads   []Call
	faults  []Fault
	fired   []Fault
	crashed bool
	hanging []chan Mode
	hung    chan Call
	locks   map[*inode]*lock
	process int // the number of the process that uses it
}

// inode is a file or directory, with what the running kernel holds and what is on the platter.
type inode struct {
	mode    fs.FileMode // with fs.ModeDir for directories
	data    content
	names   map[string]*inode
	onDisk  content
	namesOn map[string]*inode
}

// content is the bytes of a file. They are copied before they are changed if somebody else may hold them.
type content struct {
	bytes  []byte
	shared bool
}

// change is one that has not been synced: to the content of file, or to names.
type change struct {
	file  *inode
	off   int64
	bytes []byte // nil for a truncation to off
	names []binding
	path  string
	nth   int // of all changes that were made
}

// binding gives name in dir to target, or to nothing.
type binding struct {
	dir    *inode
	name   string
	target *inode
}

// New is an empty disk.
func New() *Disk { return &Disk{root: newDirectory(0o755), locks: map[*inode]*lock{}, process: 1} }

func newDirectory(perm fs.FileMode) *inode {
	return &inode{mode: fs.ModeDir | perm.Perm(), names: map[string]*inode{}, namesOn: map[string]*inode{}}
}

// clean makes name an absolute slash path.
func clean(name string) string { return path.Clean("/" + filepath.ToSlash(name)) }

// find walks to name. It fails with ENOENT or ENOTDIR.
func (d *Disk) find(name string) (*inode, error) {
	at := d.root
	for rest := clean(name)[1:]; rest != ""; {
		var step string
		step, rest = cut(rest)
		if !at.mode.IsDir() {
			return nil, syscall.ENOTDIR
		}
		next, ok := at.names[step]
		if !ok {
			return nil, syscall.ENOENT
		}
		at = next
	}
	return at, nil
}

func cut(rest string) (step, tail string) {
	for i := range len(rest) {
		if rest[i] == '/' {
			return rest[:i], rest[i+1:]
		}
	}
	return rest, ""
}

// parent finds the directory of name.
func (d *Disk) parent(name string) (*inode, string, error) {
	dir, base := path.Split(clean(name))
	p, err := d.find(dir)
	if err == nil && !p.mode.IsDir() {
		err = syscall.ENOTDIR
	}
	return p, base, err
}

// bind changes names for the running kernel and leaves the change pending.
func (d *Disk) bind(name string, names ...binding) {
	for _, b := range names {
		b.apply(b.dir.names)
	}
	d.wait(change{names: names, path: clean(name)})
}

// wait adds a change to the pending ones.
func (d *Disk) wait(c change) {
	d.made++
	c.nth = d.made
	d.pending = append(d.pending, c)
}

func (b binding) apply(names map[string]*inode) {
	if b.target == nil {
		delete(names, b.name)
		return
	}
	names[b.name] = b.target
}

func (d *Disk) write(f *inode, name string, off int64, data []byte) {
	if len(data) == 0 {
		return
	}
	c := change{file: f, off: off, bytes: slices.Clone(data), path: name}
	c.apply(&f.data, 0, len(data))
	d.wait(c)
}

func (d *Disk) truncate(f *inode, name string, size int64) {
	c := change{file: f, off: size, path: name}
	c.apply(&f.data, 0, 0)
	d.wait(c)
}

// apply puts bytes [from, to) of the change into the content.
func (c *change) apply(file *content, from, to int) {
	if c.bytes == nil {
		file.resize(c.off)
		return
	}
	if from >= to {
		return
	}
	file.resize(max(c.off+int64(to), int64(len(file.bytes))))
	copy(file.bytes[c.off+int64(from):], c.bytes[from:to])
}

// resize also makes the content one's own.
func (c *content) resize(size int64) {
	if c.shared {
		c.bytes, c.shared = slices.Clone(c.bytes), false
	}
	if size <= int64(len(c.bytes)) {
		c.bytes = c.bytes[:size]
		return
	}
	c.bytes = append(c.bytes, make([]byte, size-int64(len(c.bytes)))...)
}

// share gives the content to a second holder.
func (c *content) share() content {
	c.shared = true
	return *c
}

// sync takes the pending changes up to one that are of file, or touch dir, off the list, and puts them on the platter unless
// dropped.
func (d *Disk) sync(file, dir *inode, upTo int, dropped bool) {
	d.pending = slices.DeleteFunc(d.pending, func(c change) bool {
		mine := file != nil && c.file == file ||
			slices.ContainsFunc(c.names, func(b binding) bool { return b.dir == dir })
		mine = mine && c.nth <= upTo
		if mine && !dropped {
			c.toDisk(0, len(c.bytes))
		}
		return mine
	})
}

func (c *change) toDisk(from, to int) {
	if c.file != nil {
		c.apply(&c.file.onDisk, from, to)
	}
	for _, b := range c.names {
		b.apply(b.dir.namesOn)
	}
}

// Settle syncs everything, outside the count of calls. Tests call it when the state they start from is made.
func (d *Disk) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.pending {
		c.toDisk(0, len(c.bytes))
	}
	d.pending = nil
}

// ReadFile is the content of a file as a running process reads it. It is not counted.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.regular(name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return slices.Clone(f.data.bytes), nil
}

// Mode is the type and permissions of a file or directory. It is not counted.
func (d *Disk) Mode(name string) (fs.FileMode, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.find(name)
	if err != nil {
		return 0, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return f.mode, nil
}

var _ durable.FS = (*Disk)(nil)
