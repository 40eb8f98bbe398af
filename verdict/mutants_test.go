package verdict_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
	"github.com/iff-run/iff/verdict/verdicttest"
)

// mutants are verdicts with one rule missing: each is made by taking out of the
// input what the rule looks at. The cases have to notice every one.
var mutants = map[string]func(*verdict.Options, []event) []event{
	"no signature is checked": func(o *verdict.Options, e []event) []event {
		o.Check = func(verdict.Signed) error { return nil }
		return e
	},
	"nothing is guarded":        func(o *verdict.Options, e []event) []event { o.Guarded = nil; return e },
	"no barrier is looked at":   func(_ *verdict.Options, e []event) []event { return without(e, isLook) },
	"approvals never expire":    eachDecision(func(d *record.Decision) { d.Expires = time.Time{} }),
	"every cause approves":      eachDecision(func(d *record.Decision) { d.Cause = record.CausePolicy }),
	"envelopes are not held up": eachDecision(func(d *record.Decision) { d.Envelope = [32]byte{'c', '1'} }),
	"a denial is an approval":   eachDecision(func(d *record.Decision) { d.Choice = record.Approve }),
	"the plan may be another":   alter(ownPlan),
	"a failure counts as done": alter(func(b record.Body, _ []event) record.Body {
		if x, ok := b.(record.Error); ok && len(x.Readings) > 0 {
			return record.Executed(x)
		}
		return b
	}),
	"a failure's readings are ignored": alter(func(b record.Body, _ []event) record.Body {
		if x, ok := b.(record.Error); ok {
			x.Readings = nil
			return x
		}
		return b
	}),
	"unreadable is as planned": alter(mapReadings(func(c corpus.Change) corpus.Change {
		if c.After == corpus.Unreadable {
			c.After = verdicttest.State("2")
		}
		return c
	})),
	"only the targets count": alter(mapReadings(func(c corpus.Change) corpus.Change {
		if c.After == verdicttest.State("3") {
			c.After = verdicttest.State("2")
		}
		return c
	})),
	"what is in doubt is dropped":      func(_ *verdict.Options, e []event) []event { return without(e, inDoubt(e)) },
	"recovery closes nothing":          func(_ *verdict.Options, e []event) []event { return without(e, isKind(record.KindRecovery)) },
	"a rollback is no change":          func(_ *verdict.Options, e []event) []event { return without(e, rollback) },
	"a commit is no change":            func(_ *verdict.Options, e []event) []event { return without(e, isKind(record.KindCommitted)) },
	"a second request is ignored":      func(_ *verdict.Options, e []event) []event { return once(e, record.KindRequest) },
	"a second decision is ignored":     func(_ *verdict.Options, e []event) []event { return once(e, record.KindDecision) },
	"a second outcome is ignored":      func(_ *verdict.Options, e []event) []event { return once(e, record.KindExecuted) },
	"resolutions are believed blindly": alter(believe),
	"an outcome needs no intent": func(_ *verdict.Options, e []event) []event {
		return without(e, func(x event) bool {
			return len(e) == 1 && x.Record.Body != nil && x.Record.Body.Kind() == record.KindExecuted
		})
	},
}

// TestMutants has every missing rule noticed.
func TestMutants(t *testing.T) {
	for name, mutate := range mutants {
		noticed := 0
		for _, c := range verdicttest.Cases() {
			opt := standard(c.Start)
			events := mutate(&opt, parse(t, c.Log))
			if brief(judge(opt, events, c.End)) != c.Want {
				noticed++
			}
		}
		if noticed == 0 {
			t.Errorf("nobody notices: %s", name)
		}
	}
	if len(mutants) < 12 {
		t.Error("too few mutants")
	}
}

// TestPaperIsWeaker keeps the reason for the rest: over operation and target alone
// faults pass that fail here.
func TestPaperIsWeaker(t *testing.T) {
	blind := map[string]bool{}
	for _, c := range verdicttest.Cases() {
		if r := judge(standard(c.Start), parse(t, c.Log), c.End); r.Paper.Equal && r.Result == record.Fail {
			blind[c.Name] = true
		}
	}
	for _, name := range []string{"wrong content", "swap", "no decision", "unsigned", "put back otherwise"} {
		if !blind[name] {
			t.Errorf("%s: the paper's check was to pass", name)
		}
	}
	t.Log("passed by the paper's check:", slices.Sorted(maps.Keys(blind)))
}

func isLook(e event) bool { return e.Snapshot != nil }

func isKind(k record.Kind) func(event) bool {
	return func(e event) bool { return e.Snapshot == nil && e.Record.Body.Kind() == k }
}

func rollback(e event) bool {
	return isKind(record.KindRollbackIntent)(e) || isKind(record.KindRolledBack)(e)
}

func without(events []event, drop func(event) bool) []event {
	return slices.DeleteFunc(slices.Clone(events), drop)
}

// inDoubt finds intents of calls without an outcome behind them.
func inDoubt(events []event) func(event) bool {
	closed := map[string]bool{}
	for _, e := range events {
		if e.Snapshot == nil && e.Record.Body.Kind().Closes() {
			closed[e.Record.Request] = true
		}
	}
	return func(e event) bool {
		return e.Snapshot == nil && e.Record.Body.Kind().Intends() && !closed[e.Record.Request]
	}
}

// once drops the second record of a kind of each call.
func once(events []event, k record.Kind) []event {
	seen := map[string]bool{}
	return without(events, func(e event) bool {
		if !isKind(k)(e) {
			return false
		}
		again := seen[e.Record.Request]
		seen[e.Record.Request] = true
		return again
	})
}

func alter(change func(record.Body, []event) record.Body) func(*verdict.Options, []event) []event {
	return func(_ *verdict.Options, events []event) []event {
		out := slices.Clone(events)
		for i := range out {
			if out[i].Snapshot == nil {
				out[i].Record.Body = change(out[i].Record.Body, events)
			}
		}
		return out
	}
}

func eachDecision(change func(*record.Decision)) func(*verdict.Options, []event) []event {
	return alter(func(b record.Body, _ []event) record.Body {
		if d, ok := b.(record.Decision); ok {
			change(&d)
			return d
		}
		return b
	})
}

// ownPlan has the request approve what the first intent will do.
func ownPlan(b record.Body, events []event) record.Body {
	q, ok := b.(record.Request)
	if !ok {
		return b
	}
	for _, e := range events {
		if in, ok := e.Record.Body.(record.Intent); ok && in.Envelope == q.Envelope {
			q.Plan = in.Plan
		}
	}
	return q
}

func mapReadings(change func(corpus.Change) corpus.Change) func(record.Body, []event) record.Body {
	return func(b record.Body, _ []event) record.Body {
		x, ok := b.(record.Executed)
		if !ok {
			return b
		}
		x.Readings = slices.Clone(x.Readings)
		for i := range x.Readings {
			x.Readings[i] = change(x.Readings[i])
		}
		return x
	}
}

// believe has a resolution read what its finding says.
func believe(b record.Body, _ []event) record.Body {
	x, ok := b.(record.Resolved)
	if !ok {
		return b
	}
	x.Readings = slices.Clone(x.Readings)
	for i := range x.Readings {
		if x.Finding == record.FoundExecuted {
			x.Readings[i].After = verdicttest.State("2")
		}
	}
	return x
}
