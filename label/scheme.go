package label

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unique"
)

const (
	maxRanks  = 32
	maxInASet = 64 // one bit each in a uint64
)

// SchemeData is a scheme as it is written down: the vocabulary labels are made
// of. Ranks are lowest first. Releasable is U, all principals. The order of
// Compartments and Releasable means nothing. The zero SchemeData is refused by
// [NewScheme].
type SchemeData struct {
	Name         string   `json:"name"`
	Ranks        []string `json:"ranks"`
	Compartments []string `json:"compartments"`
	Releasable   []string `json:"releasable"`
}

// Scheme is a validated, frozen scheme; it is safe for concurrent use. It is
// made by [NewScheme] or [Builtin]. The zero Scheme knows no rank, so it makes
// and parses no label, and its Bottom and Top are absent.
type Scheme struct {
	data    SchemeData // sets sorted, never handed out uncopied
	content unique.Handle[content]
}

// content is a scheme as a comparable value. The lists are joined by newlines,
// which no name contains.
type content struct{ name, ranks, compartments, releasable string }

// NewScheme validates d and freezes a copy of it. Errors are *[Error] with
// reason scheme-invalid (a bound, or a name the package doc does not allow),
// scheme-duplicate (also names that differ only in case) or scheme-reserved (a
// reserved word, or the name of a built-in scheme on other content).
func NewScheme(d SchemeData) (*Scheme, error) {
	if err := validate(d); err != nil {
		return nil, err
	}
	s := freeze(d)
	for _, b := range builtins() {
		if strings.EqualFold(b.Name, d.Name) && s.content != freeze(b).content {
			return nil, schemeError(SchemeReserved, "/name",
				"%s is the name of the built-in scheme %s, whose content differs; choose another name", quote(d.Name), b.Name)
		}
	}
	return s, nil
}

// freeze copies valid data.
func freeze(d SchemeData) *Scheme {
	d = copyData(d)
	slices.Sort(d.Compartments)
	slices.Sort(d.Releasable)
	return &Scheme{data: d, content: unique.Make(content{
		name:         d.Name,
		ranks:        strings.Join(d.Ranks, "\n"),
		compartments: strings.Join(d.Compartments, "\n"),
		releasable:   strings.Join(d.Releasable, "\n"),
	})}
}

func copyData(d SchemeData) SchemeData {
	// Appending to an empty slice, not Clone: nil would be null in JSON.
	d.Ranks = append([]string{}, d.Ranks...)
	d.Compartments = append([]string{}, d.Compartments...)
	d.Releasable = append([]string{}, d.Releasable...)
	return d
}

func validate(d SchemeData) error {
	if err := checkName("/name", d.Name); err != nil {
		return err
	}
	for _, list := range []struct {
		field    string
		names    []string
		min, max int
	}{
		{"/ranks", d.Ranks, 1, maxRanks},
		{"/compartments", d.Compartments, 0, maxInASet},
		{"/releasable", d.Releasable, 1, maxInASet},
	} {
		if n := len(list.names); n < list.min || n > list.max {
			return schemeError(SchemeInvalid, list.field,
				"%d names; a scheme has %d to %d here", n, list.min, list.max)
		}
		if err := checkList(list.field, list.names); err != nil {
			return err
		}
	}
	for i, name := range d.Releasable {
		if len(d.Releasable) > 1 && strings.EqualFold(name, everyone) {
			return schemeError(SchemeReserved, fmt.Sprintf("/releasable/%d", i),
				"%s beside others would read as all of them; remove it, a label without a REL part is releasable to all", quote(name))
		}
	}
	return nil
}

func checkList(field string, names []string) error {
	seen := make(map[string]string, len(names))
	for i, name := range names {
		at := fmt.Sprintf("%s/%d", field, i)
		if err := checkName(at, name); err != nil {
			return err
		}
		folded := strings.ToUpper(name)
		if other, dup := seen[folded]; dup && other == name {
			return schemeError(SchemeDuplicate, at, "%s is already in the list; remove one", quote(name))
		} else if dup {
			return schemeError(SchemeDuplicate, at, "%s differs from %s only in case; rename one", quote(name), quote(other))
		}
		seen[folded] = name
	}
	return nil
}

// Name is the scheme's name, "" for the zero Scheme.
func (s *Scheme) Name() string { return s.data.Name }

// Data is a copy of the scheme's data, the sets sorted bytewise and never nil:
// NewScheme(s.Data()) is the same scheme.
func (s *Scheme) Data() SchemeData { return copyData(s.data) }

// Digest is the SHA-256 of the RFC 8785 form of Data.
func (s *Scheme) Digest() [sha256.Size]byte {
	// Names hold nothing that JSON escapes, and the keys are in order.
	list := func(names []string) string {
		if len(names) == 0 {
			return "[]"
		}
		return `["` + strings.Join(names, `","`) + `"]`
	}
	d := s.data
	return sha256.Sum256([]byte(`{"compartments":` + list(d.Compartments) + `,"name":"` + d.Name +
		`","ranks":` + list(d.Ranks) + `,"releasable":` + list(d.Releasable) + `}`))
}

// Has says whether l is a label of this scheme; false if l is absent.
func (s *Scheme) Has(l Label) bool { return !l.IsAbsent() && l.scheme == s.content }

// Bottom is the label below all others: lowest rank, no compartments,
// releasable to all principals.
func (s *Scheme) Bottom() Label {
	return s.label(min(1, len(s.data.Ranks)), 0, full(len(s.data.Releasable)))
}

// Top is the label above all others: highest rank, all compartments,
// releasable to nobody. As a clearance it admits every label of the scheme.
func (s *Scheme) Top() Label {
	return s.label(len(s.data.Ranks), full(len(s.data.Compartments)), 0)
}

// label is absent for rank 0.
func (s *Scheme) label(rank int, compartments, releasable uint64) Label {
	if rank == 0 {
		return Label{}
	}
	return Label{scheme: s.content, rank: uint8(rank), compartments: compartments, releasable: releasable}
}

// describe is the name with enough of the digest to tell namesakes apart.
func (c content) describe() string {
	s := freeze(SchemeData{c.name, names(c.ranks), names(c.compartments), names(c.releasable)})
	digest := s.Digest()
	return c.name + " (" + hex.EncodeToString(digest[:4]) + ")"
}

// universe is U as a set.
func (c content) universe() uint64 { return full(strings.Count(c.releasable, "\n") + 1) }

// full is the set of the first n elements.
func full(n int) uint64 { return uint64(1)<<n - 1 }

func names(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, "\n")
}

// picked are the names of list that are in set, in order.
func picked(list string, set uint64) iter.Seq[string] {
	return func(yield func(string) bool) {
		for set != 0 {
			name, rest, _ := strings.Cut(list, "\n")
			if set&1 != 0 && !yield(name) {
				return
			}
			list, set = rest, set>>1
		}
	}
}

// pick is picked as a new slice, not nil.
func pick(list string, set uint64) []string {
	return slices.AppendSeq(make([]string, 0, bits.OnesCount64(set)), picked(list, set))
}
