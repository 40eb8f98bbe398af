package beneath

import "testing"

func childXattrs(*testing.T, *Dir, func(string) bool, []Xattr, func([]Xattr) []Xattr) {}
