package durable

import (
	"os"
	"syscall"
)

// syncFile leaves the file's times alone, which os.File.Sync would write each time.
func syncFile(f *os.File) error {
	return onDescriptor(f, "fdatasync", func(fd int) error {
		return uninterrupted(func() error { return syscall.Fdatasync(fd) })
	})
}
