package durabletest

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/iff-run/iff/internal/durable"
)

// Lock is a call of durable.FS. The lock belongs to the process that d stands for: Restart and Reopen give a disk on which
// nothing is locked. FailKept leaves the file and no lock.
func (d *Disk) Lock(name string) (durable.Lock, error) {
	l := &lock{disk: d, name: clean(name)}
	err := d.call(Lock, name, func() (err error) {
		if l.inode, err = d.lockFile(name); err != nil {
			return err
		}
		if d.locks[l.inode] != nil {
			return &durable.BusyError{Path: name, Holder: fmt.Sprintf("process %d", d.process)}
		}
		d.locks[l.inode] = l
		d.truncate(l.inode, l.name, 0)
		d.write(l.inode, l.name, 0, fmt.Appendf(nil, "%d\n", d.process))
		return nil
	})
	if err != nil {
		d.unlock(l)
		return nil, err
	}
	return l, nil
}

// lockFile finds or makes the file.
func (d *Disk) lockFile(name string) (*inode, error) {
	dir, base, err := d.free(name)
	if err != nil {
		return d.regular(name)
	}
	f := &inode{mode: 0o600}
	d.bind(name, binding{dir, base, f})
	return f, nil
}

// unlock does nothing if somebody else holds the lock.
func (d *Disk) unlock(l *lock) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[l.inode] == l {
		delete(d.locks, l.inode)
	}
}

// lock is held until it is closed.
type lock struct {
	disk   *Disk
	inode  *inode
	name   string
	closed bool
}

// Held is a read. It looks at the names that a running process sees.
func (l *lock) Held() error {
	lost := false
	err := l.disk.read(Held, l.name, func() error {
		if l.closed {
			return fs.ErrClosed
		}
		f, err := l.disk.find(l.name)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		lost = f != l.inode
		return err
	})
	if err != nil || lost {
		return &durable.LostError{Path: l.name, Err: err}
	}
	return nil
}

// Close gives up the lock, even where a fault strikes.
func (l *lock) Close() error {
	err := l.disk.call(Close, l.name, func() error {
		if l.closed {
			return fs.ErrClosed
		}
		l.closed = true
		return nil
	})
	l.disk.unlock(l)
	return err
}
