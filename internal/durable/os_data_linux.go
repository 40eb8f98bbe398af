package durable

import (
	"errors"
	"os"
	"syscall"
)

// syncFile leaves the file's times alone, which os.File.Sync would write each time.
func syncFile(f *os.File) error {
	return onDescriptor(f, "fdatasync", func(fd int) error {
		return uninterrupted(func() error { return syscall.Fdatasync(fd) })
	})
}

// uninterrupted repeats what a signal interrupted, as os.File.Sync does, and nothing else.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
