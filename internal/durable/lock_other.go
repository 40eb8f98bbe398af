//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package durable

import (
	"errors"
	"fmt"
	"io"
)

// Lock refuses: without a lock that the system releases when a process dies, two writers could not be kept apart.
func (osFS) Lock(path string) (io.Closer, error) {
	return nil, fmt.Errorf("%q: no file lock on this system; use Linux, macOS or a BSD: %w", path, errors.ErrUnsupported)
}
