package beneath

import (
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// list reads the directory from its beginning, in blocks, until its end or until there are more than max entries. The kind comes
// with the name; only where the file system does not say is the name looked at.
func (n *node) list(max int) ([]Entry, error) {
	if _, err := unix.Seek(n.fd, 0, 0); err != nil {
		return nil, err
	}
	var (
		entries []Entry
		block   [4096]byte // small, for the stack would grow for it
	)
	for {
		size, err := unix.Getdents(n.fd, block[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || size == 0 {
			return entries, err
		}
		if entries, err = n.appendEntries(entries, string(block[:size]), max); err != nil {
			return nil, err
		}
	}
}

// appendEntries takes the names of a block, which share its memory.
func (n *node) appendEntries(entries []Entry, block string, max int) ([]Entry, error) {
	entries = slices.Grow(entries, len(block)/direntSize)
	for len(block) > 0 {
		name, kind, rest, ok := NextEntry(block)
		if !ok {
			return nil, unix.EIO
		}
		block = rest
		if name == "." || name == ".." {
			continue
		}
		if len(entries) >= max {
			return nil, manyError(max)
		}
		if kind == Unknown {
			i, err := n.lstat(name)
			if err != nil {
				return nil, vanished(err)
			}
			kind = i.kind
		}
		entries = append(entries, Entry{name, kind})
	}
	return entries, nil
}

// direntSize is the length of an entry with a name of common length.
const direntSize = 40

// NextEntry takes one struct linux_dirent64 off a block of getdents64: inode (8 bytes), offset (8), length of this entry (2),
// type (1), name up to a NUL. The name shares the block's memory; "." and ".." are names too. An entry that does not fit, or
// whose name could lead elsewhere, is not ok.
func NextEntry(block string) (name string, kind Kind, rest string, ok bool) {
	const head = 19
	if len(block) < head {
		return "", 0, "", false
	}
	length := int(binary.NativeEndian.Uint16([]byte(block[16:18])))
	if length <= head || length > len(block) {
		return "", 0, "", false
	}
	name, _, ended := strings.Cut(block[head:length], "\x00")
	if name == "" || !ended || strings.IndexByte(name, '/') >= 0 {
		return "", 0, "", false
	}
	// A directory entry's type is the file type of a mode, without its lower 12 bits.
	return name, kindOf(uint32(block[18]) << 12), block[length:], true
}
