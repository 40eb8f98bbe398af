//go:build !windows

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// noWait does not wait for the other end of a FIFO; noFollow also refuses links.
const (
	noWait   = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW | noWait
)

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close() // nothing was written through it
	return err
}

// onDescriptor makes a system call on an open file and keeps it from being closed meanwhile.
func onDescriptor(f *os.File, op string, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err == nil {
		var failed error
		if raw.Control(func(fd uintptr) { failed = call(int(fd)) }) != nil {
			failed = fs.ErrClosed // the only reason that Control has
		}
		err = failed
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}

// uninterrupted repeats what a signal interrupted, as package os does, and nothing else.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
