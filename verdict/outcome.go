package verdict

import (
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// result is an outcome of any kind.
type result struct {
	kind     record.Kind
	closes   phase       // what it is the outcome of; nothing: of whatever is open
	done     bool        // what was planned happened
	envelope record.Hash // none of a resolution
	readings []corpus.Change
	rest     record.Payload
}

// resultOf reads a body; false if it is no outcome.
func resultOf(body record.Body) (result, bool) {
	of := func(o *record.Outcome, kind record.Kind, closes phase, done bool) (result, bool) {
		return result{kind, closes, done, o.Envelope, o.Readings, o.Rest}, true
	}
	switch b := body.(type) {
	case record.Executed:
		return of(&b.Outcome, record.KindExecuted, executing, true)
	case record.Committed:
		return of(&b.Outcome, record.KindCommitted, committing, true)
	case record.RolledBack:
		return of(&b.Outcome, record.KindRolledBack, rollingBack, true)
	case record.Error:
		return of(&b.Outcome, record.KindError, nothing, false)
	case record.Resolved:
		return result{record.KindResolved, nothing, b.Finding == record.FoundExecuted, record.Hash{}, b.Readings, b.Rest}, true
	}
	return result{}, false
}

// outcome takes an outcome, and nothing else.
func (j *Judge) outcome(r *record.Record, rest []corpus.Change) {
	o, ok := resultOf(r.Body)
	if !ok {
		return
	}
	c := j.find(r)
	var fault string
	o.readings, fault = whole(o.readings, o.rest, rest)
	j.breaks(c, fault)
	if c.fault == "" {
		j.breaks(c, c.mayEnd(r, &o))
	}
	was := c.phase
	j.settle(c, &o)
	if c.fault == "" {
		j.count(c, was, &o)
		c.end(was, &o)
		j.retire(c)
	}
	c.phase, c.plan = nothing, nil
}

// mayEnd says what is wrong with an outcome.
func (c *call) mayEnd(r *record.Record, o *result) string {
	if fault := c.mayClose(o); fault != "" {
		return fault
	}
	switch {
	case o.kind == record.KindResolved:
		return ""
	case c.committed || o.kind == record.KindRolledBack:
		if c.envelope != o.envelope {
			return "another envelope than was asked for"
		}
		return ""
	}
	return c.same(r, o.envelope)
}

func (c *call) mayClose(o *result) string {
	switch {
	case c.phase != nothing && (o.closes == nothing || o.closes == c.phase):
		return ""
	case c.phase != nothing:
		return "an outcome of another kind than the intent"
	case len(o.readings) > 0:
		return "readings without an intent"
	case c.ended:
		return "an outcome after its end"
	case o.kind == record.KindExecuted && c.choice == record.Approve && !c.reversible && c.effect == effectNone && !c.cut,
		o.kind == record.KindError && c.choice == record.Approve && (!c.used || c.committed),
		o.kind == record.KindRolledBack && c.staged && !c.used:
		return ""
	}
	return "an outcome without an intent"
}

// end moves a call on, whose phase before the outcome is given.
func (c *call) end(was phase, o *result) {
	switch {
	case was == committing && o.done:
		c.committed, c.undone = true, c.plan
	case c.committed:
		c.ended = was == rollingBack && o.done
	default:
		c.ended = true
	}
}

func (j *Judge) count(c *call, was phase, o *result) {
	if !j.counted(c.session) {
		return
	}
	n := &j.counts
	switch {
	case o.kind == record.KindError && was == nothing:
		n.NotTried++
	case o.kind == record.KindError:
		n.Failed++
	case o.kind == record.KindRolledBack && was == nothing:
		n.Dropped++
	case o.kind == record.KindExecuted && was == nothing:
		n.Reads++
	case o.done && was == executing:
		n.Irreversible++
	case o.done && was == committing:
		n.Reversible++
	case o.done && was == rollingBack:
		n.RolledBack++
	}
	if o.kind == record.KindResolved {
		n.Resolved++
	}
	if o.done && was != nothing {
		n.reach(c.plan)
	}
}

// reach counts a call of which not all is known.
func (n *Counts) reach(plan []step) {
	if len(plan) == 0 {
		n.Opaque++
	}
	for _, s := range plan {
		if s.after.word == anything {
			n.Bounded++
			return
		}
	}
}

func (j *Judge) countDecision(c *call, b *record.Decision) {
	if !j.counted(c.session) {
		return
	}
	switch b.Cause {
	case record.CauseHuman, record.CauseWebhook, record.CausePolicy, record.CauseTimeout:
		j.counts.Asked++
	case record.CauseLevel:
		if c.choice == record.Approve && c.effect != effectNone {
			j.counts.ByGrant++
		}
	}
	if c.choice == record.Deny {
		j.counts.Denied++
	}
}
