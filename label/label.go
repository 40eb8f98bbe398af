package label

import (
	"strings"
	"unique"
)

// Label is an element of a scheme's lattice: a rank, a set of compartments
// and the set of principals it is releasable to. It is a small value,
// comparable with ==, usable as a map key: equal means the same three parts in
// a scheme of the same content. The zero Label is absent and refused
// everywhere. Labels are made by a [Scheme] only.
type Label struct {
	// Interned content rather than *Scheme: the same scheme parsed twice
	// gives labels that are ==.
	scheme       unique.Handle[content]
	rank         uint8 // 1-based; 0 is absent
	compartments uint64
	releasable   uint64
}

// Parts is the structured form of a label, as a manifest carries it. Both
// sets are sorted bytewise, without duplicates; an empty Releasable means
// nobody. The zero Parts is the form of the absent label and is refused by
// [Scheme.FromParts].
type Parts struct {
	Rank         string   `json:"rank"`
	Compartments []string `json:"compartments"`
	Releasable   []string `json:"releasable"`
}

// IsAbsent says whether l is the zero Label.
func (l Label) IsAbsent() bool { return l.rank == 0 }

// LessEq is the lattice order: rank not above, compartments a subset,
// releasable a superset. It reads as "m admits l" when m is a clearance. It
// is false if either label is absent or their schemes differ.
func (l Label) LessEq(m Label) bool {
	return l.ordered(m) &&
		l.rank <= m.rank &&
		l.compartments&^m.compartments == 0 &&
		m.releasable&^l.releasable == 0
}

// Join is the least upper bound of both labels: the higher rank, all
// compartments of either, the principals of both. It is absent if either
// label is absent or their schemes differ.
func (l Label) Join(m Label) Label {
	if !l.ordered(m) {
		return Label{}
	}
	return Label{
		scheme:       l.scheme,
		rank:         max(l.rank, m.rank),
		compartments: l.compartments | m.compartments,
		releasable:   l.releasable & m.releasable,
	}
}

func (l Label) ordered(m Label) bool {
	return !l.IsAbsent() && !m.IsAbsent() && l.scheme == m.scheme
}

// Beyond says in words what of l exceeds the clearance m, for the error of
// whoever refuses l. It is empty exactly if l.LessEq(m).
func (l Label) Beyond(m Label) string {
	switch {
	case l.IsAbsent():
		return "the label is absent"
	case m.IsAbsent():
		return "the clearance is absent"
	case l.scheme != m.scheme:
		return "the label is of scheme " + l.scheme.Value().describe() +
			", the clearance of scheme " + m.scheme.Value().describe()
	}
	c := l.scheme.Value()
	var over []string
	if l.rank > m.rank {
		over = append(over, "rank "+l.Rank()+" is above "+m.Rank())
	}
	if extra := l.compartments &^ m.compartments; extra != 0 {
		over = append(over, "not cleared for "+strings.Join(pick(c.compartments, extra), ","))
	}
	if missing := m.releasable &^ l.releasable; missing != 0 {
		over = append(over, "not releasable to "+strings.Join(pick(c.releasable, missing), ","))
	}
	return strings.Join(over, "; ")
}

// String is the canonical text, see the package doc. The absent label gives
// "absent", which parses in no scheme.
func (l Label) String() string {
	if l.IsAbsent() {
		return "absent"
	}
	c := l.scheme.Value()
	var b strings.Builder
	b.Grow(64)
	b.WriteString(l.Rank())
	if l.compartments != 0 {
		b.WriteString(separator)
		writeNames(&b, c.compartments, l.compartments)
	}
	switch l.releasable {
	case c.universe():
	case 0:
		b.WriteString(separator + releasePrefix + nobody)
	default:
		b.WriteString(separator + releasePrefix)
		writeNames(&b, c.releasable, l.releasable)
	}
	return b.String()
}

func writeNames(b *strings.Builder, list string, set uint64) {
	comma := ""
	for name := range picked(list, set) {
		b.WriteString(comma)
		b.WriteString(name)
		comma = ","
	}
}

// MarshalText is the canonical text; the absent label is an *[Error] with
// reason label-absent. There is no UnmarshalText: reading a label needs its
// scheme, so decode a string and use [Scheme.Parse].
func (l Label) MarshalText() ([]byte, error) {
	if l.IsAbsent() {
		return nil, &Error{Reason: LabelAbsent, Offset: -1,
			Detail: "there is no label to write; every labelled thing needs one from the declared scheme"}
	}
	return []byte(l.String()), nil
}

// Rank is the name of the rank, "" if l is absent.
func (l Label) Rank() string {
	if l.IsAbsent() {
		return ""
	}
	for name := range picked(l.scheme.Value().ranks, 1<<(l.rank-1)) {
		return name
	}
	return ""
}

// Compartments are the names of the compartments, sorted bytewise: a new
// slice, empty for none, nil if l is absent.
func (l Label) Compartments() []string {
	if l.IsAbsent() {
		return nil
	}
	return pick(l.scheme.Value().compartments, l.compartments)
}

// Releasable are the names of the principals l is releasable to, sorted
// bytewise: a new slice, empty for nobody, nil if l is absent.
func (l Label) Releasable() []string {
	if l.IsAbsent() {
		return nil
	}
	return pick(l.scheme.Value().releasable, l.releasable)
}

// Parts is the structured form of l. Its sets are not nil unless l is absent,
// so that they become [] in JSON.
func (l Label) Parts() Parts {
	return Parts{Rank: l.Rank(), Compartments: l.Compartments(), Releasable: l.Releasable()}
}
