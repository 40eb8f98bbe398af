package label

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// algebra is what the laws are about, so that they can be put to mutants too.
type algebra struct {
	lessEq      func(a, b Label) bool
	join        func(a, b Label) Label
	bottom, top Label
	universe    []Label
}

func real(s *Scheme, universe []Label) algebra {
	return algebra{Label.LessEq, Label.Join, s.Bottom(), s.Top(), universe}
}

// A law gives its first counterexample, "" if it holds.
type law func(algebra) string

func laws() map[string]law {
	return map[string]law{
		"reflexive": each(func(g algebra, a Label) bool { return g.lessEq(a, a) }),
		"antisymmetric": pairs(func(g algebra, a, b Label) bool {
			return !(g.lessEq(a, b) && g.lessEq(b, a)) || a == b
		}),
		"transitive": triples(func(g algebra, a, b, c Label) bool {
			return !(g.lessEq(a, b) && g.lessEq(b, c)) || g.lessEq(a, c)
		}),
		"upper bound": pairs(isUpperBound),
		"least":       triples(isLeast),
		"idempotent":  each(func(g algebra, a Label) bool { return g.join(a, a) == a }),
		"commutative": pairs(func(g algebra, a, b Label) bool { return g.join(a, b) == g.join(b, a) }),
		"associative": triples(func(g algebra, a, b, c Label) bool {
			return g.join(g.join(a, b), c) == g.join(a, g.join(b, c))
		}),
		"bottom": each(func(g algebra, a Label) bool {
			return g.lessEq(g.bottom, a) && g.join(g.bottom, a) == a
		}),
		"top": each(func(g algebra, a Label) bool {
			return g.lessEq(a, g.top) && g.join(g.top, a) == g.top
		}),
		"present": pairs(func(g algebra, a, b Label) bool { return !g.join(a, b).IsAbsent() }),
	}
}

func isUpperBound(g algebra, a, b Label) bool {
	j := g.join(a, b)
	return g.lessEq(a, j) && g.lessEq(b, j)
}

func isLeast(g algebra, a, b, c Label) bool {
	return !(g.lessEq(a, c) && g.lessEq(b, c)) || g.lessEq(g.join(a, b), c)
}

func each(ok func(algebra, Label) bool) law {
	return func(g algebra) string {
		for _, a := range g.universe {
			if !ok(g, a) {
				return a.String()
			}
		}
		return ""
	}
}

func pairs(ok func(algebra, Label, Label) bool) law {
	return func(g algebra) string {
		return each(func(g algebra, a Label) bool {
			return each(func(g algebra, b Label) bool { return ok(g, a, b) })(g) == ""
		})(g)
	}
}

func triples(ok func(algebra, Label, Label, Label) bool) law {
	return func(g algebra) string {
		return pairs(func(g algebra, a, b Label) bool {
			return each(func(g algebra, c Label) bool { return ok(g, a, b, c) })(g) == ""
		})(g)
	}
}

func mustScheme(t testing.TB, d SchemeData) *Scheme {
	t.Helper()
	s, err := NewScheme(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustBuiltin(t testing.TB, name string) *Scheme {
	t.Helper()
	s, ok := Builtin(name)
	if !ok {
		t.Fatalf("no built-in scheme %s", name)
	}
	return s
}

func small(t testing.TB) (*Scheme, []Label) {
	s := mustScheme(t, SchemeData{
		Name: "small", Ranks: []string{"R1", "R2", "R3", "R4"},
		Compartments: []string{"A", "B"}, Releasable: []string{"P", "Q"},
	})
	return s, all(s)
}

// all are the labels of a small scheme.
func all(s *Scheme) []Label {
	var ls []Label
	for r := range s.data.Ranks {
		for c := range full(len(s.data.Compartments)) + 1 {
			for p := range full(len(s.data.Releasable)) + 1 {
				ls = append(ls, s.label(r+1, c, p))
			}
		}
	}
	return ls
}

func TestLatticeLawsExhaustively(t *testing.T) {
	s, universe := small(t)
	if len(universe) != 64 {
		t.Fatalf("%d labels, want 64", len(universe))
	}
	for name, holds := range laws() {
		if bad := holds(real(s, universe)); bad != "" {
			t.Errorf("%s does not hold at %s", name, bad)
		}
	}
}

// Mutants are plausible wrong readings of the definition. Each names the laws
// that must catch it, all of them; every law must catch at least one.
var mutants = map[string]struct {
	mutate func(*algebra)
	caught string
}{
	"R ordered by subset": {func(g *algebra) {
		g.lessEq = func(a, b Label) bool {
			a.releasable, b.releasable = ^a.releasable, ^b.releasable
			return a.LessEq(b)
		}
	}, "bottom, top, upper bound"},
	"join with the union of R": {func(g *algebra) {
		g.join = func(a, b Label) Label {
			j := a.Join(b)
			j.releasable = a.releasable | b.releasable
			return j
		}
	}, "bottom, top, upper bound"},
	"empty R means everyone": {func(g *algebra) {
		g.lessEq = func(a, b Label) bool {
			for _, l := range []*Label{&a, &b} {
				if l.releasable == 0 {
					l.releasable = g.bottom.releasable
				}
			}
			return a.LessEq(b)
		}
	}, "antisymmetric, top, upper bound"},
	"compartments ignored": {func(g *algebra) {
		g.lessEq = func(a, b Label) bool { a.compartments = b.compartments; return a.LessEq(b) }
	}, "antisymmetric"},
	"R ignored": {func(g *algebra) {
		g.lessEq = func(a, b Label) bool { a.releasable = b.releasable; return a.LessEq(b) }
	}, "antisymmetric"},
	"rank strictly below": {func(g *algebra) {
		g.lessEq = func(a, b Label) bool { return a.rank < b.rank && a.LessEq(b) }
	}, "bottom, reflexive, top, upper bound"},
	"one rank up is still within": {func(g *algebra) {
		g.lessEq = func(a, b Label) bool {
			if a.rank == b.rank+1 {
				a.rank--
			}
			return a.LessEq(b)
		}
	}, "antisymmetric, transitive"},
	"join with the lower rank": {func(g *algebra) {
		g.join = func(a, b Label) Label { j := a.Join(b); j.rank = min(a.rank, b.rank); return j }
	}, "bottom, top, upper bound"},
	"join keeps the left rank": {func(g *algebra) {
		g.join = func(a, b Label) Label { j := a.Join(b); j.rank = a.rank; return j }
	}, "bottom, commutative, upper bound"},
	"join adds the ranks": {func(g *algebra) {
		g.join = func(a, b Label) Label { j := a.Join(b); j.rank = min(a.rank+b.rank, 4); return j }
	}, "bottom, idempotent, least"},
	"join averages the ranks upward": {func(g *algebra) {
		g.join = func(a, b Label) Label { j := a.Join(b); j.rank = (a.rank + b.rank + 1) / 2; return j }
	}, "associative, bottom, top, upper bound"},
	"join always top": {func(g *algebra) {
		g.join = func(a, b Label) Label { return g.top }
	}, "bottom, idempotent, least"},
	"join absent when compartments are disjoint": {func(g *algebra) {
		g.join = func(a, b Label) Label {
			if a.compartments&b.compartments == 0 && a.compartments|b.compartments != 0 {
				return Label{}
			}
			return a.Join(b)
		}
	}, "associative, bottom, least, present, top, upper bound"},
	"bottom releasable to nobody": {func(g *algebra) { g.bottom.releasable = 0 }, "bottom"},
	"top releasable to all":       {func(g *algebra) { g.top.releasable = 3 }, "top"},
}

func TestEveryMutantIsCaughtAndEveryLawCatchesOne(t *testing.T) {
	s, universe := small(t)
	idle := laws()
	for name, m := range mutants {
		g := real(s, universe)
		m.mutate(&g)
		caught := map[string]bool{}
		for law, holds := range laws() {
			if holds(g) != "" {
				caught[law] = true
				delete(idle, law)
			}
		}
		if got := strings.Join(slices.Sorted(maps.Keys(caught)), ", "); got != m.caught {
			t.Errorf("%s: caught by %q, want %q", name, got, m.caught)
		}
	}
	for law := range idle {
		t.Errorf("the law %q catches no mutant", law)
	}
}

// Of the 4,096 pairs of a universe of 64 labels, how many have a join that is
// not their least upper bound: none, and under the wrong readings very many.
func TestJoinIsLeastUpperBoundOfEveryPair(t *testing.T) {
	s := mustScheme(t, SchemeData{
		Name: "three principals", Ranks: []string{"R1", "R2"},
		Compartments: []string{"A", "B"}, Releasable: []string{"P", "Q", "R"},
	})
	universe := all(s)
	for name, want := range map[string]int{
		"":                         0,
		"R ordered by subset":      3584,
		"join with the union of R": 3584,
		"empty R means everyone":   1536,
	} {
		g := real(s, universe)
		if name != "" {
			mutants[name].mutate(&g)
		}
		got := 0
		for _, a := range universe {
			for _, b := range universe {
				least := each(func(g algebra, c Label) bool { return isLeast(g, a, b, c) })(g) == ""
				if !least || !isUpperBound(g, a, b) {
					got++
				}
			}
		}
		if got != want {
			t.Errorf("%q: %d pairs fail, want %d", name, got, want)
		}
	}
}
