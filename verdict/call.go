package verdict

import (
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

// phase is what of a call is being done.
type phase uint8

const (
	nothing phase = iota
	executing
	committing
	rollingBack
)

// The effects as requests have them.
const (
	effectNone         = "none"
	effectReversible   = "reversible"
	effectIrreversible = "irreversible"
)

// expirySlack is what may lie between the last look at an approval and the time
// that the intent's record gets.
const expirySlack = time.Minute

// call is what is known of a call: where in its life it is, and what it is about
// to do.

type call struct {
	id, session string
	request     record.Body // while it can be approved
	approved    []corpus.Change
	asked       instant
	seq, fence  int64
	envelope    record.Hash
	expires     time.Time

	reversible bool
	effect     string
	choice     record.Choice // empty: not decided
	staged     bool
	used       bool // there was an intent to execute or commit
	cut        bool // a recovery closed it
	committed  bool
	ended      bool

	phase  phase
	since  instant // of the open intent
	plan   []step  // of the open intent
	undone []step  // of what was committed

	fault  string // the first, in words
	fell   instant
	inside bool // a record of it is in the interval
	kept   bool // a finding names it
}

// step is an object with two states: planned, or read.
type step struct {
	object        *object
	before, after value
}

// find is the call of a record.
func (j *Judge) find(r *record.Record) *call {
	if c := j.recent; c != nil && c.id == r.Request {
		c.inside = c.inside || j.inside
		return c
	}
	c, known := j.calls[r.Request]
	if c == nil {
		c = j.begin(r)
		if known {
			j.breaks(c, "a record after its end")
		} else {
			j.breaks(c, "no request")
		}
	}
	c.inside = c.inside || j.inside
	j.recent = c
	return c
}

func (j *Judge) begin(r *record.Record) *call {
	var c *call
	if n := len(j.spare); n > 0 {
		c, j.spare = j.spare[n-1], j.spare[:n-1]
	} else {
		c = new(call)
	}
	*c = call{id: strings.Clone(r.Request), session: j.intern(r.Session), inside: j.inside}
	j.calls[c.id], j.recent = c, c
	if c.id == "" {
		j.breaks(c, "a record of a call without an id")
	}
	return c
}

// retire forgets a call that has ended, save for its id.
func (j *Judge) retire(c *call) {
	if c.ended && c.fault == "" && !c.kept {
		j.calls[c.id], j.recent = nil, nil
		j.spare = append(j.spare, c)
	}
}

// breaks notes the first fault of a call.
func (j *Judge) breaks(c *call, fault string) {
	if fault != "" && c.fault == "" {
		c.fault, c.fell = fault, j.now
		j.broken = append(j.broken, c)
	}
}

func (j *Judge) request(r *record.Record, b *record.Request, rest []corpus.Change, reversible bool) {
	if _, known := j.calls[r.Request]; known {
		j.breaks(j.find(r), "two requests with one id")
		return
	}
	c := j.begin(r)
	c.request, c.reversible, c.envelope = r.Body, reversible, b.Envelope
	c.asked, c.seq, c.fence = j.now, r.Seq, j.fence
	switch b.Effect {
	case effectNone:
		c.effect = effectNone
	case effectReversible:
		c.effect = effectReversible
	case effectIrreversible:
		c.effect = effectIrreversible
	default:
		j.breaks(c, "an effect that there is not")
	}
	var fault string
	c.approved, fault = whole(b.Plan, b.Rest, rest)
	j.breaks(c, fault)
	if j.counted(c.session) {
		j.counts.Calls++
	}
}

// whole is a list of changes wherever it stands.
func whole(inline []corpus.Change, payload record.Payload, rest []corpus.Change) ([]corpus.Change, string) {
	switch {
	case payload == record.Payload{}:
		return inline, ""
	case len(inline) > 0:
		return inline, "a list both in the line and in a payload"
	case len(rest) == 0:
		return nil, "unverifiable: a list is in a payload that is not there"
	}
	return rest, ""
}

// same says what is wrong with the envelope or the session of a record.
func (c *call) same(r *record.Record, envelope record.Hash) string {
	switch {
	case c.envelope != envelope:
		return "another envelope than was asked for"
	case c.session != r.Session:
		return "a record of another session"
	}
	return ""
}

func (j *Judge) decision(r *record.Record, b *record.Decision) {
	c := j.find(r)
	if c.fault == "" {
		j.breaks(c, j.mayDecide(c, r, b))
	}
	if c.fault != "" {
		return
	}
	c.choice = record.Deny
	if b.Choice == record.Approve {
		c.choice, c.expires = record.Approve, b.Expires
	}
	c.ended = c.choice == record.Deny && !c.staged
	j.countDecision(c, b)
	c.request = nil
	j.retire(c)
}

func (j *Judge) mayDecide(c *call, r *record.Record, b *record.Decision) string {
	switch {
	case c.ended:
		return "a decision after its end"
	case c.choice != "":
		return "two decisions"
	}
	if fault := c.same(r, b.Envelope); fault != "" || b.Choice != record.Approve {
		return fault
	}
	if c.cut {
		return "approved after a recovery closed it"
	}
	return j.mayApprove(c, r, b)
}

func (j *Judge) mayApprove(c *call, r *record.Record, b *record.Decision) string {
	q := requestOf(c.request)
	changes := c.effect != effectNone
	switch b.Cause {
	case record.CauseHuman, record.CauseWebhook:
		return j.checkSignature(c, r, b, q)
	case record.CausePolicy:
	case record.CauseLevel:
		if changes && q.Level == level.Unverified.String() {
			return "a change of an unverified session, approved by its level"
		}
	default:
		return "approved for a reason that approves nothing"
	}
	if changes && q.Guarded != "" {
		return "a change of something guarded that nobody signed for"
	}
	return ""
}

func (j *Judge) checkSignature(c *call, r *record.Record, b *record.Decision, q record.Request) string {
	if j.opt.Check == nil {
		if j.counted(c.session) {
			j.counts.Unchecked++
		}
		return "unverifiable: nobody could check who approved"
	}
	err := j.opt.Check(Signed{
		Session: c.session, ID: c.id, Seq: c.seq, Fence: c.fence, Asked: c.asked.time, Decided: r.Time, Request: q, Decision: *b,
	})
	if err != nil {
		return "the approval does not hold: " + err.Error()
	}
	return ""
}

func requestOf(b record.Body) record.Request {
	switch b := b.(type) {
	case record.Request:
		return b
	case record.ReversibleRequest:
		return b.Request
	}
	return record.Request{}
}

func (j *Judge) staged(r *record.Record, b *record.Staged) {
	c := j.find(r)
	if c.fault != "" {
		return
	}
	fault := c.same(r, b.Envelope)
	if !c.reversible || c.staged || c.ended || c.cut || c.choice == record.Deny {
		fault = "staged where it could not be"
	}
	j.breaks(c, fault)
	c.staged = true
}

// recovered takes what a recovery closed.
func (j *Judge) recovered(b *record.Recovery) {
	for _, ids := range [][]string{b.Denied, b.Expired, b.RolledBack} {
		for _, id := range ids {
			if c := j.calls[id]; c != nil {
				c.cut = true
			}
		}
	}
}

func (j *Judge) intent(r *record.Record, b *record.Intent, rest []corpus.Change, p phase) {
	c := j.find(r)
	plan, fault := whole(b.Plan, b.Rest, rest)
	j.breaks(c, fault)
	if c.fault == "" {
		j.breaks(c, j.mayIntend(c, r, b, plan, p))
	}
	j.release(c)
	c.plan = j.planned(c, plan)
	if c.fault == "" && p == rollingBack && !undoes(c.plan, c.undone) {
		j.breaks(c, "a rollback that is not of what was committed")
	}
	c.phase, c.since, c.used, c.approved = p, j.now, true, nil
	j.lease(c)
}

func (j *Judge) mayIntend(c *call, r *record.Record, b *record.Intent, plan []corpus.Change, p phase) string {
	switch {
	case c.phase != nothing:
		return "an intent before the outcome of the one before"
	case b.Fence != j.fence:
		return "an intent of another runtime"
	case c.ended, c.cut:
		return "an intent after its end"
	case p == rollingBack && !c.committed:
		return "a rollback of what was not committed"
	case p == rollingBack && c.envelope != b.Envelope:
		return "another envelope than was asked for"
	case p == rollingBack:
		return ""
	case c.choice != record.Approve:
		return "an intent without an approval"
	case c.used:
		return "an approval used twice"
	case p == executing && (c.reversible || c.effect != effectIrreversible),
		p == committing && (!c.reversible || c.effect != effectReversible || !c.staged):
		return "an intent of another kind than was asked for"
	case !c.expires.IsZero() && r.Time.After(c.expires.Add(expirySlack)):
		return "an intent after the approval had expired"
	case !admits(c.approved, plan):
		return "an intent to do something else than was approved"
	}
	return c.same(r, b.Envelope)
}

// admits is corpus.Admits, and lets the state after of a bounded call be any
// where that was approved.
func admits(approved, now []corpus.Change) bool {
	if len(approved) != len(now) {
		return false
	}
	for i, a := range approved {
		n := now[i]
		if a.Object != n.Object || a.Before != corpus.Any && a.Before != n.Before || a.After != corpus.Any && a.After != n.After {
			return false
		}
	}
	return true
}

// undoes says whether a plan is another one backwards.
func undoes(plan, done []step) bool {
	if len(plan) != len(done) {
		return false
	}
	for i, s := range plan {
		d := done[len(done)-1-i]
		if s.object != d.object || s.before != d.after || s.after != d.before {
			return false
		}
	}
	return true
}
