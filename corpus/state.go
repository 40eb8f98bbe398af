package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// State is the state of an object: a digest in hex or one of the words below.
// The zero value is no state. Compare with [State.Is].
type State string

// The words.
const (
	Absent     State = "absent"
	Any        State = "any"        // asked for, never observed
	Unreadable State = "unreadable" // observed, never planned
)

// Is says whether both are the same known state.
func (s State) Is(t State) bool {
	return s == t && s.Known()
}

// Known says whether s is a digest or absent.
func (s State) Known() bool { return s == Absent || s.digest() }

// digest asks of eight bytes at once, each below 0x80 by its upper bit: adding
// 0x80-c sets that of every byte from c on, and carries into no other.
func (s State) digest() bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	const each, upper = 0x0101010101010101, 0x8080808080808080
	text, good := [2 * sha256.Size]byte([]byte(s)), uint64(upper)
	for i := 0; i < len(text); i += 8 {
		b := binary.LittleEndian.Uint64(text[i:])
		low := b &^ upper
		digit := (low + (0x80-'0')*each) &^ (low + (0x80-'9'-1)*each)
		letter := (low + (0x80-'a')*each) &^ (low + (0x80-'f'-1)*each)
		good &= (digit | letter) &^ b
	}
	return good == upper
}

// Kind is the type of an object. The zero value is none.
type Kind string

// The kinds.
const (
	File      Kind = "file"
	Directory Kind = "directory"
	Link      Kind = "link"
	Special   Kind = "special"
)

// Digest is a SHA-256.
type Digest = [sha256.Size]byte

// Facts are what a state is the digest of. The zero value is no object.
type Facts struct {
	Kind     Kind
	Mode     uint32 // twelve permission bits
	UID, GID uint32
	Xattrs   Digest // see [XattrDigest]; zero for none
	Content  Digest // of a file's bytes, a link's text, [SpecialContent]; zero for a directory
}

// State is the digest of what counts for the kind. The zero value, a kind that
// there is not, and anything but a directory without content are Unreadable.
func (f Facts) State() State {
	switch f.Kind {
	case File, Special:
	case Directory:
		f = Facts{Kind: Directory, Mode: f.Mode}
	case Link:
		f = Facts{Kind: Link, Content: f.Content}
	default:
		return Unreadable
	}
	if f.Kind != Directory && f.Content == (Digest{}) {
		return Unreadable
	}
	return f.digest()
}

func (f Facts) digest() State {
	b := make([]byte, 0, 192)
	b = append(b, "iff/object/v1 "...)
	b = append(append(b, f.Kind...), ' ')
	m := f.Mode
	b = append(b, '0'+byte(m>>9&7), '0'+byte(m>>6&7), '0'+byte(m>>3&7), '0'+byte(m&7), ' ')
	b = append(strconv.AppendUint(b, uint64(f.UID), 10), ' ')
	b = append(strconv.AppendUint(b, uint64(f.GID), 10), ' ')
	b = append(appendDigest(b, f.Xattrs), ' ')
	b = append(appendDigest(b, f.Content), '\n')
	sum := sha256.Sum256(b)
	var out [2 * sha256.Size]byte
	hex.Encode(out[:], sum[:])
	return State(out[:])
}

func appendDigest(b []byte, d Digest) []byte {
	if d == (Digest{}) {
		return append(b, '-')
	}
	return hex.AppendEncode(b, d[:])
}

// SpecialContent is the content of a special file: kind is block, char, fifo or
// socket, rdev the device's number as stat(2) gives it, 0 for the last two.
func SpecialContent(kind string, rdev uint64) Digest {
	return sha256.Sum256([]byte(kind + " " + strconv.FormatUint(rdev, 10)))
}

// Xattr is one extended attribute.
type Xattr struct{ Name, Value string }

// Counts says whether an extended attribute is part of a state.
func Counts(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "security.capability" ||
		name == "system.posix_acl_access" || name == "system.posix_acl_default"
}

// XattrDigest is the digest of the attributes that count, zero if none does.
func XattrDigest(attrs []Xattr) Digest {
	var counted []Xattr
	for _, a := range attrs {
		if Counts(a.Name) {
			counted = append(counted, a)
		}
	}
	if len(counted) == 0 {
		return Digest{}
	}
	slices.SortFunc(counted, func(a, b Xattr) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, a := range counted {
		h.Write([]byte(a.Name + "\x00" + strconv.Itoa(len(a.Value)) + "\x00" + a.Value))
	}
	return Digest(h.Sum(nil))
}
