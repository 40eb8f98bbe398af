package runtime

import (
	"context"
	"fmt"

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
			return nil, fmt.Errorf("call %s is in doubt, and what it was to do cannot be read: %w", d.ID, err)
		}
		mended := r.mend(ctx, intent)
		readings, finding := r.found(ctx, intent.Plan)
		if finding == "" || mended != nil {
			for _, c := range intent.Plan {
				left[d.ID] = append(left[d.ID], c.Object)
			}
			continue
		}
		body := record.Resolved{By: "recovery", Evidence: "the objects, read when the runtime started", Finding: finding}
		if body.Readings = readings; !record.PlanFits(readings) {
			body.Readings = []corpus.Change{}
			if body.Rest, err = r.parts.Log.Keep(ctx, record.FormatChanges(readings)); err != nil {
				return nil, err
			}
		}
		if _, err := r.parts.Log.Append(ctx, record.Entry{Session: d.Session, Request: d.ID, Body: body}); err != nil {
			return nil, fmt.Errorf("record what became of %s: %w", d.ID, err)
		}
	}
	return left, nil
}

// intentOf is the newest intent of a call, with its whole plan.
func (r *Runtime) intentOf(ctx context.Context, d audit.InDoubt) (record.Intent, error) {
	var out record.Intent
	for _, rec := range d.Records {
		switch b := rec.Body.(type) {
		case record.Intent:
			out = b
		case record.CommitIntent:
			out = b.Intent
		case record.RollbackIntent:
			out = b.Intent
		}
	}
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
// if one of them cannot be read.
func (r *Runtime) found(ctx context.Context, plan []corpus.Change) ([]corpus.Change, record.Finding) {
	readings := make([]corpus.Change, len(plan))
	before, after := len(plan), len(plan)
	known := len(plan)
	for i, c := range plan {
		now := r.read(ctx, c.Object)
		if !now.Known() {
			return nil, ""
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

// Settle is an operator's word on a call that recovery could not find out about.
func (r *Runtime) Settle(ctx context.Context, request, operator, evidence string, finding record.Finding) error {
	objects, ok := r.gate.Doubts()[request]
	if !ok {
		return &gate.Refusal{Reason: gate.InDoubt, Detail: "no call " + request + " is in doubt"}
	}
	session := ""
	for _, c := range r.parts.Log.State().Calls() {
		if c.ID == request {
			session = c.Session
		}
	}
	body := record.Resolved{By: operator, Evidence: evidence, Finding: finding, Readings: []corpus.Change{}}
	for _, o := range objects {
		body.Readings = append(body.Readings, corpus.Change{Object: o, Before: corpus.Unreadable, After: r.read(ctx, o)})
	}
	return r.gate.Settle(session, request, body)
}

// keysOf reads the calls of a session that had an idempotency key, and how they
// ended.
func (r *Runtime) keysOf(ctx context.Context, s record.OpenSession) ([]gate.KnownKey, error) {
	view, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	first, err := view.Find(ctx, s.Opened)
	if err != nil {
		return nil, err
	}
	keys := make(map[string]*gate.KnownKey) // by request
	var order []string
	for stored, err := range audit.Records(ctx, r.parts.Log.Store(), first.At) {
		if err != nil {
			return nil, err
		}
		if stored.Seq >= view.Size() {
			break
		}
		if stored.Session != s.ID {
			continue
		}
		switch b := stored.Body.(type) {
		case record.Request:
			order = known(keys, order, stored.Record, b)
		case record.ReversibleRequest:
			order = known(keys, order, stored.Record, b.Request)
		default:
			if k := keys[stored.Request]; k != nil {
				k.Reply = ended(k.Reply, stored.Body)
			}
		}
	}
	var out []gate.KnownKey
	for _, id := range order {
		out = append(out, *keys[id])
	}
	return out, nil
}

// maxKeys bounds how many keys of a session are known again.
const maxKeys = 10_000

func known(keys map[string]*gate.KnownKey, order []string, r record.Record, b record.Request) []string {
	if b.Key == "" || len(order) >= maxKeys {
		return order
	}
	keys[r.Request] = &gate.KnownKey{
		Key: b.Key, Envelope: b.Envelope,
		Reply: gate.Reply{Request: r.Request, Status: gate.Refused, Reason: gate.SessionEnded, Message: "a crash came first, and nothing happened; use another key to ask again"},
	}
	return append(order, r.Request)
}

// ended is how a call is told to have ended by a record of it.
func ended(reply gate.Reply, b record.Body) gate.Reply {
	as := func(status gate.Status, why string) gate.Reply {
		return gate.Reply{Request: reply.Request, Status: status, Reason: gate.Reason(why)}
	}
	switch b := b.(type) {
	case record.Decision:
		if b.Choice != record.Approve {
			return as(gate.Denied, b.Reason)
		}
	case record.Intent, record.CommitIntent:
		return as(gate.Doubtful, string(gate.InDoubt))
	case record.Executed, record.Committed:
		return as(gate.Done, "")
	case record.Error:
		return as(gate.Failed, b.Reason)
	case record.RolledBack:
		return as(gate.Refused, string(gate.SessionEnded))
	case record.Resolved:
		switch b.Finding {
		case record.FoundExecuted:
			return as(gate.Done, "")
		case record.FoundNotExecuted:
			return as(gate.Failed, string(gate.HostFailed))
		}
		return as(gate.Failed, string(gate.Conflict))
	}
	return reply
}
