package skill

import (
	"fmt"
	"maps"
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/record"
)

// Draft is a manifest that nobody has signed, with the evidence it rests on.
type Draft struct {
	Inspection
	// Fields is the proposed manifest.
	Fields manifest.Fields
	// LeftOut counts grants that did not fit; their capabilities are declared
	// bare, so that such calls ask.
	LeftOut int
}

// NewDraft proposes a manifest for a package: the name from SKILL.md, the
// lowest label of the scheme, level unverified, every grant that was found,
// version 1. Errors are those of [Inspect].
func NewDraft(p *Package, scheme *label.Scheme, signer string) (Draft, error) {
	in, err := Inspect(p)
	if err != nil {
		return Draft{}, err
	}
	caps, left, err := collect(in.Proposals)
	if err != nil {
		return Draft{}, err
	}
	return Draft{Inspection: in, LeftOut: left, Fields: manifest.Fields{
		Schema: manifest.Schema, Name: in.Name, Version: 1, Label: scheme.Bottom().Parts(),
		Caps: caps.Strings(), Signer: signer, Verification: level.Unverified.String(),
	}}, nil
}

// collect turns proposals into grants, at most as many as a manifest holds:
// one place is kept for each bare token of the vocabulary, and what does not
// fit is declared bare.
func collect(proposals []Proposal) (capability.Grants, int, error) {
	room := capability.MaxGrants - len(capability.Vocabulary())
	grants := make(map[string]capability.Grant)
	left := 0
	for _, p := range proposals {
		g, err := capability.ParseGrant(p.Grant)
		if err != nil {
			return capability.Grants{}, 0, fmt.Errorf("proposal of %s:%d: %w", p.File, p.Line, err)
		}
		if _, known := grants[g.String()]; !known && !g.Bare() {
			if room == 0 {
				left++
				if g, err = capability.ParseGrant(g.Capability().String()); err != nil {
					return capability.Grants{}, 0, err
				}
			} else {
				room--
			}
		}
		grants[g.String()] = g
	}
	return capability.NewGrants(slices.Collect(maps.Values(grants))...), left, nil
}

// NextVersion freezes the fields under the version they should be signed as: the
// one that was seen if nothing differs, one more than that if something does,
// and what they say if the identity is new.
func NextVersion(f manifest.Fields, c *Content, scheme *label.Scheme, state *record.State) (manifest.Manifest, error) {
	seen, ok := state.Observed(record.Identity{Name: f.Name, Signer: f.Signer})
	if !ok {
		return f.Freeze(scheme)
	}
	f.Version = seen.Version
	m, err := f.Freeze(scheme)
	if err != nil || Subject(c, m).String() == seen.Subject {
		return m, err
	}
	f.Version++
	return f.Freeze(scheme)
}
