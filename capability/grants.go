package capability

import (
	"errors"
	"iter"
	"slices"
	"strings"
)

// Grants is a manifest's declared capability set: sorted by text, without
// duplicates. It does not change. The zero Grants is empty: it declares nothing
// and covers nothing.
type Grants struct {
	list []Grant
}

// ParseGrants reads a list as a manifest has it: each grant in its accepted
// spelling, sorted bytewise, no two alike, at most MaxGrants. The error is
// *Error with the grant's Item.
func ParseGrants(texts []string) (Grants, error) {
	if len(texts) > MaxGrants {
		return Grants{}, refuse(GrantsTooMany, -1, "%d grants, at most %d", len(texts), MaxGrants)
	}
	list := make([]Grant, 0, len(texts))
	for i, text := range texts {
		g, err := ParseGrant(text)
		if err == nil && i > 0 {
			err = checkOrder(list[i-1].text, text)
		}
		if err != nil {
			return Grants{}, inList(err, i+1, text)
		}
		list = append(list, g)
	}
	return Grants{list}, nil
}

func checkOrder(before, text string) error {
	switch strings.Compare(before, text) {
	case 0:
		return refuse(GrantDuplicate, -1, "the grant stands here twice; write it once")
	case 1:
		return refuse(GrantsUnsorted, -1, "it stands after %s; sort the grants by their bytes", quote(before))
	}
	return nil
}

// inList gives an error its place in the list and says which text is meant.
func inList(err error, item int, text string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	e.Item = item
	e.Detail = quote(text) + ": " + e.Detail
	return e
}

// NewGrants sorts grants and drops duplicates and zero grants. It does not
// bound their number; ParseGrants refuses a manifest with more than MaxGrants.
func NewGrants(gs ...Grant) Grants {
	list := slices.DeleteFunc(slices.Clone(gs), func(g Grant) bool { return g == Grant{} })
	slices.SortFunc(list, func(a, b Grant) int { return strings.Compare(a.text, b.text) })
	return Grants{slices.Compact(list)}
}

// Strings returns the texts, sorted; never nil, so that a manifest without
// grants has an empty list.
func (gs Grants) Strings() []string {
	texts := make([]string, len(gs.list))
	for i, g := range gs.list {
		texts[i] = g.text
	}
	return texts
}

// Declares reports whether some grant, bare or not, is of class c.
func (gs Grants) Declares(c Capability) bool {
	return c != 0 && slices.ContainsFunc(gs.list, func(g Grant) bool { return g.capability == c })
}

// Covers reports whether some grant covers t. It does not allocate.
func (gs Grants) Covers(t Target) bool {
	match := t.capability.Shape().form().match
	for i := range gs.list {
		if g := &gs.list[i]; g.sameClass(&t) && match(g.code, t.code) {
			return true
		}
	}
	return false
}

// Len returns the number of grants.
func (gs Grants) Len() int { return len(gs.list) }

// All yields the grants in order.
func (gs Grants) All() iter.Seq[Grant] { return slices.Values(gs.list) }
