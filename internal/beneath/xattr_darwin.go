package beneath

import "golang.org/x/sys/unix"

const errNoAttr = unix.ENOATTR

func (n *node) childXattrs(string, xattrQuery) ([]Xattr, error) { return nil, nil }
