//go:build dragonfly || freebsd || netbsd || openbsd

package beneath

func (n *node) xattrs(xattrQuery) ([]Xattr, error) { return nil, nil }

func (n *node) childXattrs(string, xattrQuery) ([]Xattr, error) { return nil, nil }
