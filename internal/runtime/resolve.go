package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// resolve finds out what became of the calls that a crash left in doubt, by
// reading what they were to change. What cannot be read stays in doubt, and what
// it may have changed blocked. Nothing is done again.
func (r *Runtime) resolve(ctx context.Context) (map[string][]corpus.Object, error) {
	left := make(map[string][]corpus.Object)
	for _, d := range r.parts.Recovered.InDoubt {
		intent, err := r.intentOf(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("call %s of session %s is in doubt, and the list of what it was to change cannot be read, so nothing can be let at that: %w", d.ID, d.Session, err)
		}
		mended := r.mend(ctx, intent)
		readings, finding := r.found(ctx, intent.Plan)
		if finding == "" || mended != nil {
			left[d.ID] = objectsOf(intent.Plan)
			continue
		}
		body := record.Resolved{By: "recovery", Evidence: "the objects, read when the runtime started", Finding: finding}
		if err := r.put(ctx, &body, readings); err != nil {
			return nil, err
		}
		if _, err := r.parts.Log.Append(ctx, record.Entry{Session: d.Session, Request: d.ID, Body: body}); err != nil {
			return nil, fmt.Errorf("record what became of %s: %w", d.ID, err)
		}
	}
	return left, nil
}

func objectsOf(plan []corpus.Change) []corpus.Object {
	out := make([]corpus.Object, len(plan))
	for i, c := range plan {
		out[i] = c.Object
	}
	return out
}

// put lists readings in the line if they fit, else beside the log.
func (r *Runtime) put(ctx context.Context, body *record.Resolved, readings []corpus.Change) (err error) {
	if body.Readings = readings; !record.PlanFits(readings) {
		body.Readings = []corpus.Change{}
		body.Rest, err = r.parts.Log.Keep(ctx, record.FormatChanges(readings))
	}
	return err
}

// intentOf is the newest intent of a call, with its whole plan.
func (r *Runtime) intentOf(ctx context.Context, d audit.InDoubt) (record.Intent, error) {
	var out record.Intent
	for _, rec := range d.Records {
		if i, ok := intentIn(rec.Body); ok {
			out = i
		}
	}
	return r.whole(ctx, out)
}

func intentIn(b record.Body) (record.Intent, bool) {
	switch b := b.(type) {
	case record.Intent:
		return b, true
	case record.CommitIntent:
		return b.Intent, true
	case record.RollbackIntent:
		return b.Intent, true
	}
	return record.Intent{}, false
}

// whole reads the part of a plan that did not fit in the line.
func (r *Runtime) whole(ctx context.Context, out record.Intent) (record.Intent, error) {
	if out.Rest == (record.Payload{}) {
		return out, nil
	}
	data, err := audit.Fetch(ctx, r.parts.Log.Store(), out.Rest)
	if err != nil {
		return out, err
	}
	out.Plan, err = record.ParseChanges(data)
	return out, err
}

// mend has the hosts clear away what the call left behind.
func (r *Runtime) mend(ctx context.Context, intent record.Intent) error {
	if len(intent.Plan) == 0 || intent.Staging == "" {
		return nil
	}
	done := make(map[Mender]bool)
	for _, h := range r.parts.Hosts {
		if m, ok := h.(Mender); ok && !done[m] {
			done[m] = true
			if err := m.Recover(ctx, intent.Plan, intent.Staging); err != nil {
				return err
			}
		}
	}
	return nil
}

// found reads the planned objects and says what became of the call; no finding
// if they do not tell.
func (r *Runtime) found(ctx context.Context, plan []corpus.Change) ([]corpus.Change, record.Finding) {
	readings := make([]corpus.Change, len(plan))
	before, after := len(plan), len(plan)
	known := len(plan)
	for i, c := range plan {
		now := r.read(ctx, c.Object)
		if !now.Known() || !c.After.Known() {
			return nil, "" // it cannot be read, or nobody knows what it was to become
		}
		readings[i] = corpus.Change{Object: c.Object, Before: c.Before, After: now}
		if !now.Is(c.Before) {
			before--
		}
		if !now.Is(c.After) {
			after--
		}
		if !now.Is(c.Before) && !now.Is(c.After) {
			known--
		}
	}
	switch {
	case len(plan) == 0:
		return nil, "" // nothing that is observed tells
	case after == len(plan):
		return readings, record.FoundExecuted
	case before == len(plan):
		return readings, record.FoundNotExecuted
	case known == len(plan):
		return readings, record.FoundPartial
	}
	return readings, record.FoundConflict
}

func (r *Runtime) read(ctx context.Context, o corpus.Object) corpus.State {
	for _, c := range r.parts.Corpora {
		if c.Name != o.Corpus() {
			continue
		}
		if states, err := c.Observer.Read(ctx, []corpus.Object{o}); err == nil && len(states) == 1 {
			return states[0]
		}
	}
	return corpus.Unreadable
}

// Settle is an operator's word, with evidence, on a call that recovery could not
// find out about. What it left behind is cleared away if that can be explained.
func (r *Runtime) Settle(ctx context.Context, request, operator, evidence string, finding record.Finding) error {
	if err := r.ready(); err != nil {
		return err
	}
	if _, ok := r.gate.Doubts()[request]; !ok {
		return &gate.Refusal{Reason: gate.InDoubt, Detail: "no call " + request + " is in doubt"}
	}
	if operator == "" || evidence == "" {
		return errors.New("whoever says what became of a call gives a name and the evidence")
	}
	calls := r.parts.Log.State().Calls()
	i := slices.IndexFunc(calls, func(c record.Call) bool { return c.ID == request })
	if i < 0 {
		return fmt.Errorf("call %s is in doubt, and the log does not say so; see iff audit verify", request)
	}
	intent, err := r.recorded(ctx, calls[i].Intent)
	if err != nil {
		return fmt.Errorf("what call %s was to do: %w", request, err)
	}
	_ = r.mend(ctx, intent) // what it cannot explain stays for the operator
	readings := make([]corpus.Change, len(intent.Plan))
	for i, c := range intent.Plan {
		readings[i] = corpus.Change{Object: c.Object, Before: c.Before, After: r.read(ctx, c.Object)}
	}
	body := record.Resolved{By: operator, Evidence: evidence, Finding: finding}
	if err := r.put(ctx, &body, readings); err != nil {
		return err
	}
	return r.gate.Settle(calls[i].Session, request, body)
}

// recorded reads the intent that stands at a place in the log.
func (r *Runtime) recorded(ctx context.Context, seq int64) (record.Intent, error) {
	view, err := r.view(ctx)
	if err != nil {
		return record.Intent{}, err
	}
	stored, err := view.Find(ctx, seq)
	if err != nil {
		return record.Intent{}, err
	}
	intent, ok := intentIn(stored.Body)
	if !ok {
		return intent, fmt.Errorf("record %d is no intent", seq)
	}
	return r.whole(ctx, intent)
}
