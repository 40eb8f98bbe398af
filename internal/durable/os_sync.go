//go:build !windows

package durable

import (
	"os"
	"syscall"
)

// noFollow refuses links and does not wait for a reader of a FIFO.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close() // nothing was written through it
	return err
}
