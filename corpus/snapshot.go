package corpus

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ErrSnapshot says that a text is not a snapshot as this package writes it.
var ErrSnapshot = errors.New("snapshot-invalid")

// Entry is one object and its state.
type Entry struct {
	Object Object
	State  State
}

// Snapshot is the states of all objects of a corpus. The zero value is an empty
// corpus. It does not change.
type Snapshot struct {
	entries []Entry // sorted by object; none absent
	rooted  sync.Once
	root    Digest
}

// NewSnapshot sorts entries and drops those that are absent. Of two with the
// same object the later one counts. What is no state that can be observed is
// Unreadable.
func NewSnapshot(entries []Entry) *Snapshot { return newSnapshot(slices.Clone(entries)) }

// newSnapshot keeps the slice.
func newSnapshot(sorted []Entry) *Snapshot {
	byObject := func(a, b Entry) int { return strings.Compare(string(a.Object), string(b.Object)) }
	if !slices.IsSortedFunc(sorted, byObject) {
		slices.SortStableFunc(sorted, byObject)
	}
	s := &Snapshot{entries: sorted[:0]}
	for i, e := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Object == e.Object || e.State == Absent {
			continue
		}
		if !e.State.Known() {
			e.State = Unreadable
		}
		s.entries = append(s.entries, e)
	}
	return s
}

// Len is the number of objects.
func (s *Snapshot) Len() int { return len(s.entries) }

// Entries lists the objects in order. The slice is not the caller's to change.
func (s *Snapshot) Entries() []Entry { return s.entries }

// Unread is the number of objects that could not be read.
func (s *Snapshot) Unread() int {
	n := 0
	for _, e := range s.entries {
		if e.State == Unreadable {
			n++
		}
	}
	return n
}

// State is the state of an object. One that is not in the snapshot is absent, or
// unreadable below a directory that is: nobody saw what that holds.
func (s *Snapshot) State(o Object) State {
	state, ok := s.find(o)
	for at := o; !ok; {
		if at, ok = at.Parent(); !ok {
			return Absent
		}
		if state, ok = s.find(at); ok && state != Unreadable {
			return Absent
		}
	}
	return state
}

func (s *Snapshot) find(o Object) (State, bool) {
	i, ok := slices.BinarySearchFunc(s.entries, o, func(e Entry, o Object) int { return cmp.Compare(e.Object, o) })
	if !ok {
		return "", false
	}
	return s.entries[i].State, true
}

// Text is the canonical form.
func (s *Snapshot) Text() []byte { return Format(s.entries) }

// Root is the SHA-256 of the text.
func (s *Snapshot) Root() Digest {
	s.rooted.Do(func() { s.root = rootOf(s.entries) })
	return s.root
}

// rootOf is the digest of what Format writes, of which it has a piece at a time.
func rootOf(entries []Entry) Digest {
	const piece = 4 << 10
	h, b := sha256.New(), make([]byte, 0, piece)
	for _, e := range entries {
		if len(b)+e.size() > piece {
			h.Write(b)
			b = b[:0]
		}
		b = e.append(b)
	}
	h.Write(b)
	return Digest(h.Sum(b[:0]))
}

// Format writes entries in their order, a line each.
func Format(entries []Entry) []byte {
	size := 0
	for _, e := range entries {
		size += e.size()
	}
	b := make([]byte, 0, size)
	for _, e := range entries {
		b = e.append(b)
	}
	return b
}

// size is the length of the entry's line, and append writes it.
func (e Entry) size() int { return len(e.State) + len(e.Object) + 2 }

func (e Entry) append(b []byte) []byte {
	return append(append(append(append(b, e.State...), ' '), e.Object...), '\n')
}

// Parse reads what Format wrote of entries sorted by object, no two alike, with
// valid names; absent is a state here, as of what is gone since another
// snapshot. Its error is [ErrSnapshot] with the line. The entries share memory
// with one copy of the text.
func Parse(text []byte) ([]Entry, error) {
	const shortest = len("absent x/a\n")
	out := make([]Entry, 0, min(bytes.Count(text, []byte{'\n'}), len(text)/shortest))
	rest := string(text)
	for n := 1; rest != ""; n++ {
		line, more, ended := strings.Cut(rest, "\n")
		state, object, ok := strings.Cut(line, " ")
		s := State(state)
		switch {
		case !ended || !ok || !Object(object).Valid():
			return nil, fmt.Errorf("line %d of a snapshot is not a state and a name: %w", n, ErrSnapshot)
		case !s.Known() && s != Unreadable:
			return nil, fmt.Errorf("line %d of a snapshot has no state: %w", n, ErrSnapshot)
		case len(out) > 0 && out[len(out)-1].Object >= Object(object):
			return nil, fmt.Errorf("line %d of a snapshot is not in order: %w", n, ErrSnapshot)
		}
		out, rest = append(out, Entry{Object(object), s}), more
	}
	return out, nil
}

// Diff lists the objects whose lines differ, sorted by object, so that before
// with them applied is after. An object that was unreadable on either side
// differs. One that is in neither text is not in the list, also where
// [Snapshot.State] calls it unreadable.
func Diff(before, after *Snapshot) []Change {
	var out []Change
	a, b := before.entries, after.entries
	for len(a) > 0 || len(b) > 0 {
		c := Change{Before: Absent, After: Absent}
		order := len(b) - len(a) // of one that has ended the other's are next
		if len(a) > 0 && len(b) > 0 {
			order = strings.Compare(string(a[0].Object), string(b[0].Object))
		}
		if order <= 0 {
			c.Object, c.Before, a = a[0].Object, a[0].State, a[1:]
		}
		if order >= 0 {
			c.Object, c.After, b = b[0].Object, b[0].State, b[1:]
		}
		if c.Before != c.After || c.Before == Unreadable { // a snapshot has no other state that is unknown
			out = append(out, c)
		}
	}
	return out
}

// Apply is the snapshot that s becomes with entries, in which absent removes.
func (s *Snapshot) Apply(entries []Entry) *Snapshot {
	return newSnapshot(slices.Concat(s.entries, entries))
}
