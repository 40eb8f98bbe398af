package corpus_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/corpus"
)

var (
	one = corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, "1", nil).State()
	two = corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, "2", nil).State()
)

func TestOp(t *testing.T) {
	for _, c := range []struct {
		before, after corpus.State
		want          corpus.Op
		nothing       bool
	}{
		{corpus.Absent, one, corpus.Create, false},
		{one, two, corpus.Modify, false},
		{one, corpus.Absent, corpus.Delete, false},
		{one, one, "", true},
		{corpus.Absent, corpus.Absent, "", true},
		{corpus.Any, one, "", false},
		{corpus.Any, corpus.Any, "", false},
		{corpus.Unreadable, corpus.Unreadable, "", false},
		{one, corpus.Unreadable, "", false},
		{"", "", "", false},
	} {
		change := corpus.Change{Object: "work/a", Before: c.before, After: c.after}
		if change.Op() != c.want || change.Nothing() != c.nothing {
			t.Errorf("%s to %s: %q, nothing %v", c.before, c.after, change.Op(), change.Nothing())
		}
	}
}

func TestAdmits(t *testing.T) {
	plan := func(before, after corpus.State) []corpus.Change {
		return []corpus.Change{{Object: "work/a", Before: before, After: after}}
	}
	for what, c := range map[string]struct {
		approved, now []corpus.Change
		want          bool
	}{
		"nothing":                 {nil, nil, true},
		"the same":                {plan(one, two), plan(one, two), true},
		"absent":                  {plan(corpus.Absent, two), plan(corpus.Absent, two), true},
		"other before":            {plan(one, two), plan(two, two), false},
		"other after":             {plan(one, two), plan(one, one), false},
		"any":                     {plan(corpus.Any, corpus.Any), plan(one, two), true},
		"any before only":         {plan(corpus.Any, two), plan(one, one), false},
		"any is planned now":      {plan(corpus.Any, corpus.Any), plan(corpus.Any, corpus.Any), false},
		"bounded":                 {plan(one, corpus.Any), plan(one, corpus.Any), true},
		"bounded, any before":     {plan(corpus.Any, corpus.Any), plan(one, corpus.Any), true},
		"bounded, other before":   {plan(one, corpus.Any), plan(two, corpus.Any), false},
		"bounded now":             {plan(one, two), plan(one, corpus.Any), false},
		"any was not approved":    {plan(one, two), plan(corpus.Any, two), false},
		"unreadable both times":   {plan(corpus.Unreadable, two), plan(corpus.Unreadable, two), false},
		"no state both times":     {plan("", two), plan("", two), false},
		"one more":                {plan(one, two), append(plan(one, two), plan(one, two)...), false},
		"one less":                {plan(one, two), nil, false},
		"other object":            {plan(one, two), []corpus.Change{{Object: "work/b", Before: one, After: two}}, false},
		"another object, any":     {plan(corpus.Any, corpus.Any), []corpus.Change{{Object: "work/b", Before: one, After: two}}, false},
		"other order, same multi": {append(plan(one, two), plan(two, one)...), append(plan(two, one), plan(one, two)...), false},
	} {
		if got := corpus.Admits(c.approved, c.now); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func state() *rapid.Generator[corpus.State] {
	return rapid.SampledFrom([]corpus.State{corpus.Absent, one, two})
}

func TestAdmitsLaws(t *testing.T) {
	change := rapid.Custom(func(t *rapid.T) corpus.Change {
		return corpus.Change{Object: corpus.Name("work", component().Draw(t, "name")), Before: state().Draw(t, "before"), After: state().Draw(t, "after")}
	})
	rapid.Check(t, func(t *rapid.T) {
		plan := rapid.SliceOfN(change, 1, 4).Draw(t, "plan")
		if !corpus.Admits(plan, plan) {
			t.Fatal("a plan of known states does not admit itself")
		}
		i := rapid.IntRange(0, len(plan)-1).Draw(t, "at")
		open, other := slices.Clone(plan), slices.Clone(plan)
		open[i].Before, open[i].After = corpus.Any, corpus.Any
		other[i].After = rapid.SampledFrom([]corpus.State{corpus.Unreadable, "", unlike(other[i].After)}).Draw(t, "other")
		if !corpus.Admits(open, plan) || corpus.Admits(plan, open) || corpus.Admits(plan, other) || corpus.Admits(other, plan) {
			t.Fatalf("%v, %v", plan, other)
		}
	})
}

// unlike is a state other than s.
func unlike(s corpus.State) corpus.State {
	if s == one {
		return two
	}
	return one
}
