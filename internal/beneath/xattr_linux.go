package beneath

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const errNoAttr = unix.ENODATA

// childXattrs goes through /proc, whose name for this directory leads to its descriptor whatever became of its path, so that
// the child need not be opened. The calls do not follow the last component.
func (n *node) childXattrs(name string, q xattrQuery) ([]Xattr, error) {
	path := "/proc/self/fd/" + strconv.Itoa(n.fd) + "/" + name
	attrs, err := q.read(
		func(b []byte) (int, error) { return unix.Llistxattr(path, b) },
		func(name string, b []byte) (int, error) { return unix.Lgetxattr(path, name, b) })
	return attrs, plainXattr(err)
}
