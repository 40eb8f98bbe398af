package fs

import (
	"encoding/binary"
	"slices"

	"github.com/iff-run/iff/corpus"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// Tags of the entries of a POSIX ACL as the attribute has it: a version, 2, in
// four bytes, then entries of tag (2), permissions (2) and id (4), little-endian
// (linux/posix_acl_xattr.h).
const (
	aclUserObj  = 0x01
	aclGroupObj = 0x04
	aclMask     = 0x10
	aclOther    = 0x20
	aclHead     = 4
	aclEntry    = 8
)

// withMode is an ACL after its object got a mode: what posix_acl_chmod does, and
// what a new file gets from its directory's default ACL and then a mode. more
// says that it has entries that a mode alone does not express; without them
// nothing is stored. ok is false for bytes that are no ACL.
func withMode(acl string, mode uint32) (out string, more, ok bool) {
	b := []byte(acl)
	if len(b) < aclHead || (len(b)-aclHead)%aclEntry != 0 || binary.LittleEndian.Uint32(b) != 2 {
		return "", false, false
	}
	masked := false
	for at := aclHead; at < len(b); at += aclEntry {
		masked = masked || binary.LittleEndian.Uint16(b[at:]) == aclMask
	}
	for at := aclHead; at < len(b); at += aclEntry {
		perm := func(bits uint32) { binary.LittleEndian.PutUint16(b[at+2:], uint16(bits&7)) }
		switch tag := binary.LittleEndian.Uint16(b[at:]); {
		case tag == aclUserObj:
			perm(mode >> 6)
		case tag == aclMask, tag == aclGroupObj && !masked:
			perm(mode >> 3)
		case tag == aclOther:
			perm(mode)
		}
	}
	return string(b), masked || len(b) != aclHead+3*aclEntry, true
}

// chmodded are attributes after their file got a mode.
func chmodded(attrs []corpus.Xattr, mode uint32) []corpus.Xattr {
	out := slices.Clone(attrs)
	for i, a := range out {
		if a.Name != accessACL {
			continue
		}
		if acl, more, ok := withMode(a.Value, mode); ok && more {
			out[i].Value = acl
		}
	}
	return out
}

// inherited are the attributes of a new file with a mode in a directory with
// these.
func inherited(dir []corpus.Xattr, mode uint32) []corpus.Xattr {
	for _, a := range dir {
		if a.Name == defaultACL {
			if acl, more, ok := withMode(a.Value, mode); ok && more {
				return []corpus.Xattr{{Name: accessACL, Value: acl}}
			}
		}
	}
	return nil
}
