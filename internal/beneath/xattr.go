package beneath

import "bytes"

// Xattr is one extended attribute.
type Xattr struct{ Name, Value string }

// xattrQuery is which attributes are asked for, and the bound on their names and values together.
type xattrQuery struct {
	wanted func(name string) bool
	max    int
}

// Xattrs reads the extended attributes of the child name, of whatever kind, without opening or following it: those whose names
// are wanted, in no order, at most max bytes of names and values, else read-failed. A file system without them has none. On
// Linux it needs /proc. Elsewhere none are told here; of an open file they are on macOS too, see [Stream.Xattrs].
// Reasons: file-name, file-changing, not-found, no-access, read-failed.
func (d *Dir) Xattrs(name string, wanted func(name string) bool, max int) ([]Xattr, error) {
	if err := d.check(name); err != nil {
		return nil, err
	}
	attrs, err := d.h.childXattrs(name, xattrQuery{wanted, max})
	if err != nil {
		return nil, refusal(d.below(name), err)
	}
	return attrs, nil
}

// read asks twice for the list and for each value, as the calls do: for the size of nil, then for the bytes.
func (q xattrQuery) read(list func([]byte) (int, error), get func(string, []byte) (int, error)) ([]Xattr, error) {
	names, err := q.bytes(list)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var attrs []Xattr
	total := 0
	for name := range bytes.SplitSeq(bytes.TrimSuffix(names, []byte{0}), []byte{0}) {
		if !q.wanted(string(name)) {
			continue
		}
		value, err := q.bytes(func(b []byte) (int, error) { return get(string(name), b) })
		if err != nil {
			return nil, err
		}
		if total += len(name) + len(value); total > q.max {
			return nil, errManyAttrs
		}
		attrs = append(attrs, Xattr{string(name), string(value)})
	}
	return attrs, nil
}

// bytes asks for a size and then for as many bytes; another number than was said is a change.
func (q xattrQuery) bytes(ask func([]byte) (int, error)) ([]byte, error) {
	size, err := ask(nil)
	if err != nil || size == 0 {
		return nil, err
	}
	if size > max(q.max, maxXattrList) {
		return nil, errManyAttrs
	}
	data := make([]byte, size)
	n, err := ask(data)
	if err != nil {
		return nil, err
	}
	if n != size {
		return nil, errChanged
	}
	return data, nil
}

// maxXattrList bounds the list of names, wanted or not: Linux allows no longer one.
const maxXattrList = 64 << 10
