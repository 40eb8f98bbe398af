package label

import (
	"fmt"
	"slices"
	"strings"
)

const (
	separator     = "//"
	releasePrefix = "REL "
	nobody        = "NOBODY"

	// The longest text a scheme can produce: a rank and two full sets.
	maxText = maxName + 2*(len(separator)+maxInASet*(maxName+1)) + len(releasePrefix)
)

// axis is one of the three parts of a label, with what messages call it.
type axis struct {
	noun, field string
	unknown     Reason
	names       []string
}

func (s *Scheme) ranks() axis {
	return axis{"rank", "/rank", RankUnknown, s.data.Ranks}
}

func (s *Scheme) compartments() axis {
	return axis{"compartment", "/compartments", CompartmentUnknown, s.data.Compartments}
}

func (s *Scheme) releasable() axis {
	return axis{"principal", "/releasable", ReleasableUnknown, s.data.Releasable}
}

// New makes a label from names in any order; naming one twice is the same as
// naming it once. No releasable principals means nobody, not everybody: for a
// label that restricts, for a clearance it asks for no release. Errors are
// *[Error] with reason rank-unknown, compartment-unknown or releasable-unknown.
func (s *Scheme) New(rank string, compartments, releasable []string) (Label, error) {
	r, err := s.find(s.ranks(), rank)
	if err != nil {
		err.Field = "/rank"
		return Label{}, err
	}
	c, err := s.collect(s.compartments(), compartments)
	if err != nil {
		return Label{}, err
	}
	rel, err := s.collect(s.releasable(), releasable)
	if err != nil {
		return Label{}, err
	}
	return s.label(r+1, c, rel), nil
}

func (s *Scheme) collect(a axis, names []string) (set uint64, _ *Error) {
	for i, name := range names {
		bit, err := s.find(a, name)
		if err != nil {
			err.Field = fmt.Sprintf("%s/%d", a.field, i)
			return 0, err
		}
		set |= 1 << bit
	}
	return set, nil
}

// FromParts reads the structured form. Errors are those of [Scheme.New], and
// label-not-canonical if a set is not sorted bytewise or has duplicates.
func (s *Scheme) FromParts(p Parts) (Label, error) {
	l, err := s.New(p.Rank, p.Compartments, p.Releasable)
	if err != nil {
		return Label{}, err
	}
	if err := checkSorted("/compartments", p.Compartments); err != nil {
		return Label{}, err
	}
	if err := checkSorted("/releasable", p.Releasable); err != nil {
		return Label{}, err
	}
	return l, nil
}

func checkSorted(field string, names []string) error {
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			sorted := slices.Compact(slices.Sorted(slices.Values(names)))
			return &Error{Reason: LabelNotCanonical, Field: fmt.Sprintf("%s/%d", field, i), Offset: -1,
				Detail: fmt.Sprintf("%s after %s; sort bytewise, without duplicates: %s",
					quote(names[i]), quote(names[i-1]), strings.Join(sorted, ","))}
		}
	}
	return nil
}

// Parse reads the canonical text of a label, and no other spelling of it:
// if there is no error the label's String is text. Errors are *[Error] with
// Offset set and reason label-syntax, rank-unknown, compartment-unknown,
// releasable-unknown or label-not-canonical.
func (s *Scheme) Parse(text string) (Label, error) {
	l, err := s.read(text)
	if err != nil {
		return Label{}, err
	}
	if canonical := l.String(); canonical != text {
		at := 0
		for at < min(len(text), len(canonical)) && text[at] == canonical[at] {
			at++
		}
		return Label{}, &Error{Reason: LabelNotCanonical, Offset: at,
			Detail: fmt.Sprintf("%s has one spelling; write %s", quote(text), quote(canonical))}
	}
	return l, nil
}

// read also takes spaces around names, any order, duplicates and a REL part
// that names all of U: Parse then can say how to write what was meant.
func (s *Scheme) read(text string) (Label, error) {
	switch {
	case text == "":
		return Label{}, syntax(0, "empty; a label is mandatory, the lowest of this scheme is %s", quote(s.Bottom().String()))
	case len(text) > maxText:
		return Label{}, syntax(maxText, "%d bytes; no label is longer than %d", len(text), maxText)
	}
	rank, rest, more := strings.Cut(text, separator)
	name := strings.Trim(rank, " ")
	if name == "" {
		return Label{}, syntax(0, "the rank is missing; a label begins with one of %s", enumerate(s.data.Ranks))
	}
	r, err := s.find(s.ranks(), name)
	if err != nil {
		err.Offset = 0
		return Label{}, err
	}
	compartments, releasable := uint64(0), full(len(s.data.Releasable))
	at := len(rank) + len(separator)
	if more && !isRelease(rest) {
		var part string
		part, rest, more = strings.Cut(rest, separator)
		if compartments, err = s.readSet(s.compartments(), part, at); err != nil {
			return Label{}, err
		}
		at += len(part) + len(separator)
	}
	if more {
		if releasable, err = s.readRelease(rest, at); err != nil {
			return Label{}, err
		}
	}
	return s.label(r+1, compartments, releasable), nil
}

func isRelease(rest string) bool {
	return rest == "REL" || strings.HasPrefix(rest, "REL ") || strings.HasPrefix(rest, "REL"+separator)
}

// readRelease reads the last part of a text, which begins at byte at.
func (s *Scheme) readRelease(part string, at int) (uint64, *Error) {
	if !isRelease(part) {
		return 0, syntax(at, "%s stands where only a REL part can; write RANK//COMPARTMENT,...//REL PRINCIPAL,...", quote(part))
	}
	if extra := strings.Index(part, separator); extra >= 0 {
		return 0, syntax(at+extra, "text after the REL part; it is the last one")
	}
	list := part[min(len(part), len(releasePrefix)):]
	switch strings.Trim(list, " ") {
	case "":
		return 0, syntax(at+len(part), "the REL part names no principal; leave it out for all of them, or write //REL NOBODY for none")
	case nobody:
		return 0, nil
	}
	return s.readSet(s.releasable(), list, at+len(part)-len(list))
}

func (s *Scheme) readSet(a axis, list string, at int) (set uint64, _ *Error) {
	for item := range strings.SplitSeq(list, ",") {
		name := strings.Trim(item, " ")
		if name == "" {
			return 0, syntax(at, "a %s is missing here; leave out the comma or the whole part", a.noun)
		}
		bit, err := s.find(a, name)
		if err != nil {
			err.Offset = at
			return 0, err
		}
		set |= 1 << bit
		at += len(item) + 1
	}
	return set, nil
}

// find gives the position of name. The error has neither Field nor Offset.
func (s *Scheme) find(a axis, name string) (int, *Error) {
	if i := slices.Index(a.names, name); i >= 0 {
		return i, nil
	}
	return 0, &Error{Reason: a.unknown, Offset: -1, Detail: s.explainUnknown(a, name)}
}

func (s *Scheme) explainUnknown(a axis, name string) string {
	text := fmt.Sprintf("%s %s is not in scheme %s", a.noun, quote(name), s.data.Name)
	if len(a.names) == 0 {
		return text + "; it has no " + a.noun + "s"
	}
	for _, other := range []axis{s.ranks(), s.compartments(), s.releasable()} {
		if slices.Contains(other.names, name) {
			return text + ", where it is a " + other.noun + "; the " + a.noun + "s are " + enumerate(a.names)
		}
	}
	if match := nearest(name, a.names); match != "" {
		text += "; nearest is " + match
	}
	text += "; the " + a.noun + "s are " + enumerate(a.names)
	switch {
	case a.unknown != ReleasableUnknown:
	case strings.EqualFold(name, nobody):
		text += "; nobody is an empty list, and in text //REL NOBODY alone"
	default:
		text += "; a group is written as its members"
	}
	return text
}
