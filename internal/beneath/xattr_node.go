//go:build linux || darwin

package beneath

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (n *node) xattrs(q xattrQuery) ([]Xattr, error) {
	attrs, err := q.read(
		func(b []byte) (int, error) { return unix.Flistxattr(n.fd, b) },
		func(name string, b []byte) (int, error) { return unix.Fgetxattr(n.fd, name, b) })
	return attrs, plainXattr(err)
}

// plainXattr says what the calls mean: a file system without attributes has none, one that went away or grew is a change.
func plainXattr(err error) error {
	switch {
	case errors.Is(err, unix.ENOTSUP):
		return nil
	case errors.Is(err, errNoAttr), errors.Is(err, unix.ERANGE):
		return errChanged
	}
	return err
}
