package durabletest

import (
	"io"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
)

// Open is a read of durable.FS.
func (d *Disk) Open(name string) (durable.Reader, error) {
	var f *inode
	err := d.read(Open, name, func() (err error) {
		if f, err = d.find(name); err == nil && f.mode.IsDir() {
			err = durable.ErrNotRegular
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &reader{disk: d, inode: f, name: clean(name)}, nil
}

// List is a read of durable.FS.
func (d *Disk) List(name string) (names []string, err error) {
	err = d.read(List, name, func() error {
		f, err := d.find(name)
		if err == nil && !f.mode.IsDir() {
			err = syscall.ENOTDIR
		}
		if err == nil {
			names = slices.Sorted(maps.Keys(f.names))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// reader is a file open for reading.
type reader struct {
	disk   *Disk
	inode  *inode
	name   string
	closed bool
}

// ReadAt is a read; like those of files it gives io.EOF behind the last byte.
func (r *reader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "readat", Path: r.name, Err: syscall.EINVAL}
	}
	ended := false
	err = r.disk.read(ReadAt, r.name, func() error {
		if r.closed {
			return fs.ErrClosed
		}
		n = copy(p, r.inode.data.bytes[min(off, int64(len(r.inode.data.bytes))):])
		ended = n < len(p)
		return nil
	})
	if err != nil {
		return 0, err
	}
	if ended {
		err = io.EOF
	}
	return n, err
}

// Size is a read.
func (r *reader) Size() (size int64, err error) {
	err = r.disk.read(Size, r.name, func() error {
		size = int64(len(r.inode.data.bytes))
		if r.closed {
			return fs.ErrClosed
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

// Close ends the use of the file. It is neither a read nor a call.
func (r *reader) Close() error {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	if r.closed {
		return &fs.PathError{Op: "close", Path: r.name, Err: fs.ErrClosed}
	}
	r.closed = true
	return nil
}
