//go:build !unix

package home

import "context"

type lock struct{}

// takeLock refuses: without a lock that the system releases when a process
// dies, two writers could not be kept apart.
func takeLock(_ context.Context, path string) (*lock, error) {
	return nil, &Error{Reason: Busy, Path: path, Detail: "this system has no file lock that iff can use; run iff on Linux, macOS or BSD"}
}

func (l *lock) release() error { return nil }
