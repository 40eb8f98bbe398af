//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package durable

import (
	"errors"
	"fmt"
)

// Lock refuses: without a lock that the system releases when a process dies, two writers could not be kept apart.
func (osFS) Lock(path string) (Lock, error) {
	return nil, fmt.Errorf("%q: no file lock on this system; use Linux, macOS or a BSD: %w", path, errors.ErrUnsupported)
}
