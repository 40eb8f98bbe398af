package corpus

import (
	"crypto/sha256"
	"unsafe"
)

// Copy is one object with all that its state is the digest of, so that it can be
// made again. The zero value is an object that is absent.
type Copy struct {
	Facts  Facts
	Data   string  // a file's bytes or a link's text
	Xattrs []Xattr // those that count
	Cut    bool    // Data and Xattrs were too large to keep: only Facts are here
}

// NewCopy is the copy of a file or link with these bytes, a directory or nothing.
// It sets the digests in facts.
func NewCopy(facts Facts, data string, xattrs []Xattr) Copy {
	if facts.Kind == File || facts.Kind == Link {
		// To digest is to read alone, so the bytes need be no copy of the string's.
		facts.Content = sha256.Sum256(unsafe.Slice(unsafe.StringData(data), len(data)))
	}
	facts.Xattrs = XattrDigest(xattrs)
	return Copy{Facts: facts, Data: data, Xattrs: xattrs}
}

// State is the state of the object, absent for the zero value.
func (c Copy) State() State {
	if c.Facts == (Facts{}) {
		return Absent
	}
	return c.Facts.State()
}

// Size is how much memory the copy keeps, in bytes.
func (c Copy) Size() int64 {
	n := len(c.Data)
	for _, a := range c.Xattrs {
		n += len(a.Name) + len(a.Value)
	}
	return int64(n)
}
