package label

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// model is the definition written with sets of names instead of bits.
type model struct {
	rank int
	c, r map[string]bool
}

func modelOf(s *Scheme, l Label) model {
	set := func(names []string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	return model{slices.Index(s.Data().Ranks, l.Rank()), set(l.Compartments()), set(l.Releasable())}
}

func subset(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

func TestRandomSchemes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScheme(t)
		ls := []Label{drawLabel(t, s), drawLabel(t, s), drawLabel(t, s), s.Bottom(), s.Top()}
		for name, holds := range laws() {
			if bad := holds(real(s, ls)); bad != "" {
				t.Fatalf("%s does not hold at %s", name, bad)
			}
		}
		for _, a := range ls {
			checkRoundTrips(t, s, a)
			for _, b := range ls {
				checkModel(t, s, a, b)
			}
		}
	})
}

func checkModel(t *rapid.T, s *Scheme, a, b Label) {
	ma, mb, mj := modelOf(s, a), modelOf(s, b), modelOf(s, a.Join(b))
	if want := ma.rank <= mb.rank && subset(ma.c, mb.c) && subset(mb.r, ma.r); a.LessEq(b) != want {
		t.Fatalf("%s <= %s: %v, want %v", a, b, !want, want)
	}
	if mj.rank != max(ma.rank, mb.rank) {
		t.Fatalf("rank of %s joined with %s: %d", a, b, mj.rank)
	}
	for n := range mj.c {
		if !ma.c[n] && !mb.c[n] {
			t.Fatalf("compartment %s came from nowhere", n)
		}
	}
	if !subset(ma.c, mj.c) || !subset(mb.c, mj.c) || !subset(mj.r, ma.r) || !subset(mj.r, mb.r) {
		t.Fatalf("%s joined with %s: %v", a, b, mj)
	}
	for n := range ma.r {
		if mb.r[n] && !mj.r[n] {
			t.Fatalf("principal %s was lost", n)
		}
	}
	if (a.Beyond(b) == "") != a.LessEq(b) {
		t.Fatalf("%s beyond %s: %q", a, b, a.Beyond(b))
	}
}

func checkRoundTrips(t *rapid.T, s *Scheme, l Label) {
	if got, err := s.Parse(l.String()); err != nil || got != l {
		t.Fatalf("Parse(%q): %v, %v", l, got, err)
	}
	if len(l.String()) > maxText {
		t.Fatalf("text of %d bytes is longer than any may be", len(l.String()))
	}
	if got, err := s.FromParts(l.Parts()); err != nil || got != l {
		t.Fatalf("FromParts(%+v): %v, %v", l.Parts(), got, err)
	}
	reversed := l.Parts()
	slices.Reverse(reversed.Compartments)
	slices.Reverse(reversed.Releasable)
	if got, err := s.New(reversed.Rank, append(reversed.Compartments, l.Compartments()...), reversed.Releasable); err != nil || got != l {
		t.Fatalf("New(%+v): %v, %v", reversed, got, err)
	}
}

func drawScheme(t *rapid.T) *Scheme {
	name := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._+-]{0,20}( [A-Za-z0-9._+-]{1,20}){0,2}`).Draw(t, "name")
	}).Filter(func(n string) bool { return checkName("", n) == nil && !strings.EqualFold(n, everyone) })
	list := func(from, to int, label string) []string {
		return rapid.SliceOfNDistinct(name, from, to, strings.ToUpper).Draw(t, label)
	}
	s, err := NewScheme(SchemeData{
		Name: "random", Ranks: list(1, 6, "ranks"),
		Compartments: list(0, maxInASet, "compartments"), Releasable: list(1, maxInASet, "releasable"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawLabel(t *rapid.T, s *Scheme) Label {
	set := func(n int) uint64 {
		return rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, ^uint64(0)})).Draw(t, "set") & full(n)
	}
	return s.label(rapid.IntRange(1, len(s.data.Ranks)).Draw(t, "rank"), set(len(s.data.Compartments)), set(len(s.data.Releasable)))
}
