package durabletest

import (
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/iff-run/iff/internal/durable"
)

// OpenAt is a call of durable.FS.
func (d *Disk) OpenAt(name string) (durable.FileAt, error) {
	var f *inode
	err := d.call(OpenAt, name, func() (err error) {
		f, err = d.regular(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{disk: d, inode: f, name: clean(name)}, nil
}

// WriteAt puts p at off.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "writeat", Path: f.name, Err: syscall.EINVAL}
	}
	n, err := f.write(WriteAt, p, off)
	if err == nil && n < len(p) {
		err = &fs.PathError{Op: "writeat", Path: f.name, Err: io.ErrShortWrite}
	}
	return n, err
}

// write writes under the faults that strike, at the end of the file if off is negative.
func (f *file) write(op Op, p []byte, off int64) (int, error) {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	mode, err := d.begin(op, f.name)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return 0, err
	}
	p = slices.Clone(p)
	n, told, failure := len(p), len(p), error(nil)
	switch mode {
	case FailLost:
		n, told, failure = 0, 0, syscall.EIO
	case FailKept:
		told, failure = 0, syscall.EIO
	case Short:
		n, told = n/2, n/2
	case ShortFull:
		n, told, failure = n/2, n/2, syscall.ENOSPC
	}
	if off < 0 {
		off = int64(len(f.inode.data.bytes))
	}
	d.write(f.inode, f.name, off, p[:n])
	if failure != nil {
		failure = &fs.PathError{Op: string(op), Path: f.name, Err: failure}
	}
	return told, failure
}
