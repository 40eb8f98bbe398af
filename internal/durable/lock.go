package durable

import (
	"bytes"
	"io"
	"os"
	"strconv"
)

const (
	unknownHolder = "unknown"
	longestPID    = 20 // digits
)

// holder is who the lock file says holds the lock. Anybody may have written there: only digits are believed.
func holder(f io.ReaderAt) string {
	text := make([]byte, longestPID+1)
	n, _ := f.ReadAt(text, 0) // what could not be read is not known
	pid, _, ended := bytes.Cut(text[:n], []byte("\n"))
	if !ended || len(pid) == 0 {
		return unknownHolder
	}
	for _, c := range pid {
		if c < '0' || c > '9' {
			return unknownHolder
		}
	}
	return "process " + string(pid)
}

// signIn names this process in the lock file. That it cannot, on a full disk perhaps, is no reason to do without the lock; but
// then nobody else must be named.
func signIn(f *os.File) {
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(pid), 0); err != nil {
		_ = f.Truncate(0)
	}
}

// signOut leaves a first line that names nobody, and keeps the block on the disk for the next one.
func signOut(f *os.File) { _, _ = f.WriteAt([]byte("\n"), 0) }
