//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func (osFS) Lock(path string) (Lock, error) {
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return take(f)
}

// take locks an open file. It may have been removed since it was opened.
func take(f *os.File) (Lock, error) {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = &BusyError{f.Name(), holder(f)}
	}
	h := &held{f: f}
	if err == nil {
		err = onDescriptor(f, "stat", func(fd int) error {
			return uninterrupted(func() error { return syscall.Fstat(fd, &h.locked) })
		})
	}
	if err == nil {
		err = h.Held()
	}
	if err != nil {
		_ = f.Close() // nothing was written through it
		return nil, err
	}
	signIn(f)
	return h, nil
}

// held is a lock file while the lock is held.
type held struct {
	f      *os.File
	locked syscall.Stat_t // an open file stays the one that it is
}

// Held compares the open file with what its path names now.
func (h *held) Held() error {
	if err := onDescriptor(h.f, "lock", func(int) error { return nil }); err != nil { // it is closed
		return &LostError{h.f.Name(), err}
	}
	var there syscall.Stat_t
	err := uninterrupted(func() error { return syscall.Lstat(h.f.Name(), &there) })
	switch {
	case err == nil && there.Dev == h.locked.Dev && there.Ino == h.locked.Ino:
		return nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return &LostError{h.f.Name(), nil}
	}
	return &LostError{h.f.Name(), &fs.PathError{Op: "lstat", Path: h.f.Name(), Err: err}}
}

// Close unlocks and does not leave that to the closing: a process that is just being started has the file open too.
func (h *held) Close() error {
	if _, err := h.f.Stat(); err != nil {
		return err // it is closed
	}
	signOut(h.f)
	return errors.Join(flock(h.f, syscall.LOCK_UN), h.f.Close())
}

func flock(f *os.File, how int) error {
	return onDescriptor(f, "flock", func(fd int) error { return syscall.Flock(fd, how) })
}
