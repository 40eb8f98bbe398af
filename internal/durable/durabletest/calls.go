package durabletest

import (
	"io/fs"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
)

// Create is a call of durable.FS.
func (d *Disk) Create(name string, perm fs.FileMode) (durable.File, error) {
	var f *inode
	err := d.call(Create, name, func() error {
		dir, base, err := d.free(name)
		if err != nil {
			return err
		}
		f = &inode{mode: perm.Perm()}
		d.bind(name, binding{dir, base, f})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &file{disk: d, inode: f, name: clean(name)}, nil
}

// OpenAppend is a call of durable.FS.
func (d *Disk) OpenAppend(name string) (durable.File, error) {
	var f *inode
	err := d.call(OpenAppend, name, func() (err error) {
		f, err = d.regular(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{disk: d, inode: f, name: clean(name)}, nil
}

// Rename is a call of durable.FS. Directories cannot be renamed here.
func (d *Disk) Rename(old, new string) error {
	return d.call(Rename, new, func() error {
		if _, _, err := d.parent(old); err != nil {
			return err
		}
		to, newBase, err := d.parent(new)
		if err != nil {
			return err
		}
		from, oldBase, f, err := d.existing(old)
		if err != nil {
			return err
		}
		there := to.names[newBase]
		if there == f {
			return nil // POSIX: two names of one file stay
		}
		if newBase == "" || there != nil && there.mode.IsDir() {
			return syscall.EISDIR
		}
		d.bind(new, binding{to, newBase, f}, binding{from, oldBase, nil})
		return nil
	})
}

// Link is a call of durable.FS.
func (d *Disk) Link(old, new string) error {
	return d.call(Link, new, func() error {
		_, _, f, err := d.existing(old)
		if err != nil {
			return err
		}
		dir, base, err := d.free(new)
		if err != nil {
			return err
		}
		d.bind(new, binding{dir, base, f})
		return nil
	})
}

// Remove is a call of durable.FS.
func (d *Disk) Remove(name string) error {
	return d.call(Remove, name, func() error {
		dir, base, err := d.parent(name)
		if err != nil {
			return err
		}
		f, ok := dir.names[base]
		if !ok {
			return syscall.ENOENT
		}
		if len(f.names) > 0 {
			return syscall.ENOTEMPTY
		}
		d.bind(name, binding{dir, base, nil})
		return nil
	})
}

// Mkdir is a call of durable.FS.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	return d.call(Mkdir, name, func() error {
		dir, base, err := d.free(name)
		if err != nil {
			return err
		}
		d.bind(name, binding{dir, base, newDirectory(perm)})
		return nil
	})
}

// SyncDir is a call of durable.FS.
func (d *Disk) SyncDir(name string) error {
	return d.syncCall(SyncDir, name, func() (file, dir *inode, err error) {
		dir, err = d.find(name)
		if err == nil && !dir.mode.IsDir() {
			err = syscall.ENOTDIR
		}
		return nil, dir, err
	})
}

// syncCall is call for the two that sync: failing without effect, they drop what is pending. What is changed while one hangs
// is none of its business.
func (d *Disk) syncCall(op Op, name string, what func() (file, dir *inode, err error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	upTo := d.made
	mode, err := d.begin(op, name)
	if err != nil {
		return err
	}
	file, dir, err := what()
	if err == nil {
		d.sync(file, dir, upTo, mode == FailLost)
		if mode != 0 {
			err = syscall.EIO
		}
	}
	if err != nil {
		return &fs.PathError{Op: string(op), Path: name, Err: err}
	}
	return nil
}

// free finds the directory for a name that must not exist.
func (d *Disk) free(name string) (*inode, string, error) {
	dir, base, err := d.parent(name)
	if err != nil {
		return nil, "", err
	}
	if _, taken := dir.names[base]; taken || base == "" {
		return nil, "", syscall.EEXIST
	}
	return dir, base, nil
}

// regular finds a file by its path.
func (d *Disk) regular(name string) (*inode, error) {
	f, err := d.find(name)
	if err == nil && f.mode.IsDir() {
		err = syscall.EISDIR
	}
	return f, err
}

// existing finds a file that must exist, and its place.
func (d *Disk) existing(name string) (dir *inode, base string, f *inode, err error) {
	dir, base, err = d.parent(name)
	if err != nil {
		return nil, "", nil, err
	}
	f, ok := dir.names[base]
	if !ok {
		return nil, "", nil, syscall.ENOENT
	}
	if f.mode.IsDir() {
		return nil, "", nil, syscall.EISDIR
	}
	return dir, base, f, nil
}

// file is an open file.
type file struct {
	disk   *Disk
	inode  *inode
	name   string
	closed bool
}

func (f *file) check() error {
	if f.closed {
		return fs.ErrClosed
	}
	return nil
}

// Write appends p.
func (f *file) Write(p []byte) (int, error) { return f.write(Write, p, -1) }

// Size is the length of the file.
func (f *file) Size() (size int64, err error) {
	err = f.disk.call(Size, f.name, func() error {
		size = int64(len(f.inode.data.bytes))
		return f.check()
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

// Truncate cuts the file, or lengthens it by zeros.
func (f *file) Truncate(size int64) error {
	return f.disk.call(Truncate, f.name, func() error {
		if err := f.check(); err != nil {
			return err
		}
		if size < 0 {
			return syscall.EINVAL
		}
		f.disk.truncate(f.inode, f.name, size)
		return nil
	})
}

// Sync puts the content on the platter.
func (f *file) Sync() error {
	return f.disk.syncCall(Sync, f.name, func() (*inode, *inode, error) { return f.inode, nil, f.check() })
}

// Close ends the use of the file; it syncs nothing.
func (f *file) Close() error {
	return f.disk.call(Close, f.name, func() error {
		if err := f.check(); err != nil {
			return err
		}
		f.closed = true
		return nil
	})
}
