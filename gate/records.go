package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// entries are the records of one step of a call.
func (l *live) entries(c Append) ([]record.Entry, error) {
	b := &batch{l: l, entries: make([]record.Entry, 0, mostEntries)}
	switch c.What {
	case Denial:
		b.bare = c.Bare
		b.request(Plan{})
		b.add(l.denial(c.Why))
		b.mutation()
	case AskedFor:
		b.request(l.approved)
	case Decided:
		d := l.decision(c.Why)
		l.consent = d.Choice == record.Approve
		b.add(d)
		if !l.consent {
			b.mutation()
		}
	case StagedFor:
		b.request(l.approved)
		b.staged(l.approved)
		l.wasStaged = true
	case IntendedByLevel:
		b.request(l.plan)
		b.add(l.byLevel())
		if l.reversible() {
			b.staged(l.plan)
		}
		b.intent(l.plan, false)
	case IntendedToAct:
		if l.reversible() && !l.wasStaged {
			b.staged(l.plan)
		}
		b.intent(l.plan, false)
	case IntendedToUndo:
		b.intent(l.plan, true)
	case ReadByLevel:
		b.request(Plan{})
		b.add(l.byLevel())
		b.outcome(false)
	case Came:
		b.outcome(c.Undo)
		b.mutation()
	case NotTried:
		b.add(record.Error{Outcome: record.Outcome{Envelope: l.env.Hash(), Reason: string(c.Why), Detail: l.words(), Readings: []corpus.Change{}}})
		b.mutation()
	case Dropped:
		b.add(record.RolledBack{Outcome: record.Outcome{Envelope: l.env.Hash(), Reason: string(c.Why), Readings: []corpus.Change{}}})
	default:
		return nil, fmt.Errorf("bug: nothing to record under %d", c.What)
	}
	return b.entries, b.err
}

// batch collects the entries of one append.
type batch struct {
	l       *live
	bare    bool // of what is asked for the hash alone
	entries []record.Entry
	err     error
}

// mostEntries is how many records a step has at most, those of IntendedByLevel.
const mostEntries = 4

func (b *batch) add(body record.Body) {
	b.entries = append(b.entries, record.Entry{Session: b.l.facts.Session, Request: b.l.facts.ID, Body: body})
}

// short says that a list fits in a line, without writing it: a byte of a name
// takes up to six, a state and what stands around at most 256.
func short(changes []corpus.Change) bool {
	n := 0
	for _, c := range changes {
		if n += 6*len(c.Object) + 256; n > record.MaxInlineChanges {
			return false
		}
	}
	return true
}

// list puts changes in the line if they fit, else beside the log.
func (b *batch) list(changes []corpus.Change) ([]corpus.Change, record.Payload) {
	if changes == nil {
		changes = []corpus.Change{}
	}
	if short(changes) || record.PlanFits(changes) {
		return changes, record.Payload{}
	}
	p, err := b.l.g.parts.Keep(b.l.g.base, record.FormatChanges(changes))
	if err != nil && b.err == nil {
		b.err = err
	}
	return []corpus.Change{}, p
}

// keep puts the envelope where its records find it, once it is known that it is to
// be there.
func (b *batch) keep() {
	l := b.l
	if b.bare || b.err != nil || l.env.IsZero() { // of what is no call there is nothing to keep
		return
	}
	l.payload, b.err = l.g.parts.Keep(l.g.base, l.env.Bytes())
}

func (b *batch) request(plan Plan) {
	l := b.l
	list, rest := b.list(plan.Approvable())
	b.keep() // behind the list: if that is too long, nothing is in the log and nobody counts what lies beside it
	r := record.Request{
		Agent: l.session.agent, Capability: text(l.call.Capability), Effect: l.facts.Target.Capability().Effect().String(),
		Envelope: l.env.Hash(), Guarded: l.guarded.Name, Key: l.ownKey(), Level: l.level, Mark: l.mark, Payload: l.payload,
		Sink: l.sink, Skill: l.skill, Target: text(l.call.Target), Plan: list, Rest: rest,
	}
	if l.reversible() {
		b.add(record.ReversibleRequest{Request: r})
		return
	}
	b.add(r)
}

func (b *batch) staged(plan Plan) {
	s := record.Staged{Envelope: b.l.env.Hash()}
	for _, c := range plan.After {
		s.Bytes += c.Size()
	}
	s.Plan, s.Rest = b.list(plan.Changes)
	b.add(s)
}

func (b *batch) intent(plan Plan, undo bool) {
	l := b.l
	i := record.Intent{Attempt: 1, Envelope: l.env.Hash(), Fence: l.g.parts.Fence, Key: l.key(undo), Staging: stagingName(l.facts.ID)}
	i.Plan, i.Rest = b.list(plan.Changes)
	switch {
	case undo:
		b.add(record.RollbackIntent{Intent: i})
	case l.reversible():
		b.add(record.CommitIntent{Intent: i})
	default:
		b.add(i)
	}
}

// stagingName is what a file is called until it takes its place.
func stagingName(request string) string { return ".iff-" + request }

// key is minted for the host: the same for the same agent and call, so that a
// host that keeps keys does nothing twice. Putting it back is another thing.
func (l *live) key(undo bool) string {
	of := l.facts.Key
	if of == "" {
		of = l.facts.ID
	}
	form := append(make([]byte, 0, 256), "iff/key/v1\n"...)
	if undo {
		form = append(form, "undo\n"...)
	}
	form = append(append(append(append(form, l.session.agent...), '\n'), of...), '\n')
	sum := sha256.Sum256(hex.AppendEncode(form, l.facts.Envelope[:]))
	return string(hex.AppendEncode(form[:0], sum[:16]))
}

func (b *batch) outcome(undo bool) {
	l := b.l
	o := record.Outcome{Envelope: l.env.Hash(), Detail: l.words(), Reason: string(l.came.failed)}
	o.Readings, o.Rest = b.list(l.came.readings)
	switch {
	case l.came.failed != "":
		b.add(record.Error{Outcome: o})
	case undo:
		b.add(record.RolledBack{Outcome: o})
	case l.reversible():
		b.add(record.Committed{Outcome: o})
	default:
		b.add(record.Executed{Outcome: o})
	}
}

// byLevel is the decision that grant and level make.
func (l *live) byLevel() record.Decision {
	d := l.decided(record.CauseLevel, record.Approve)
	d.Broker = "level"
	for g := range l.g.machine.rules.Skills[l.skill].Grants.All() {
		if g.Covers(l.facts.Target) {
			d.Rule = g.String()
			break
		}
	}
	return d
}

func (l *live) decided(cause record.Cause, choice record.Choice) record.Decision {
	return record.Decision{
		Broker: "gate", Cause: cause, Choice: choice, Envelope: l.env.Hash(), Profile: l.g.parts.Profile, SameUID: l.g.parts.SameUID,
	}
}

func (l *live) denial(why Reason) record.Decision {
	d := l.decided(causeOf(why), record.Deny)
	d.Reason = string(why)
	return d
}

// causeOf says what kind of thing denies.
func causeOf(why Reason) record.Cause {
	switch why {
	case Undeclared:
		return record.CauseUndeclared
	case Unlabelled, AboveClearance, SinkBelowMark:
		return record.CauseLabel
	case SkillRevoked:
		return record.CauseRevoked
	case SessionPaused, SessionEnded, SessionUnknown, TooManyCalls, TooMuchAsked, KeyReused, BufferFull, Busy, LevelLowered:
		return record.CauseSession
	case TimedOut:
		return record.CauseTimeout
	case NoBroker, BrokerFailed, ApprovalVoid, DeniedByBroker:
		return record.CauseBroker
	}
	return record.CauseHost
}

// decision is what was answered, or what made an answer unnecessary.
func (l *live) decision(why Reason) record.Decision {
	a := l.answer
	switch why {
	case "", DeniedByBroker, TimedOut, NoBroker, BrokerFailed, ApprovalVoid:
	case SkillRevoked:
		a = approval.Answer{Choice: record.Deny, Cause: record.CauseRevoked}
	default: // somebody was faster than whoever answers
		a = approval.Answer{Choice: record.Deny, Cause: record.CauseCancelled}
	}
	if why != "" || a.Choice != record.Approve {
		a.Choice = record.Deny
	}
	d := l.decided(a.Cause, a.Choice)
	d.Broker = l.g.parts.Broker.Name()
	if a.Broker != "" {
		d.Broker = a.Broker
	}
	d.Approver, d.Batch, d.Expires, d.Nonce, d.Rule = a.Approver, a.Batch, a.Expires, a.Nonce, a.Rule
	d.Signature, d.View, d.Reason, d.Passed = a.Signature, a.View, string(why), a.Passed
	d.SameUID = d.SameUID || a.SameUID
	return d
}

// mutation records what was tried on a guarded object (paper G12): what was
// there before, what was proposed, and what is there now.
func (b *batch) mutation() {
	l := b.l
	if !l.facts.Guarded {
		return
	}
	m := record.Mutation{
		Approved: l.consent, Object: string(l.guarded.Object), Route: l.guarded.Route, Skill: l.guarded.Name, Subject: l.guarded.Subject,
		After: string(l.now(l.guarded.Object)), Proposed: string(corpus.Unreadable),
	}
	m.Before = m.After // unless it was planned, it was not touched
	plan := l.plan
	if len(plan.Changes) == 0 {
		plan = l.approved
	}
	switch at := slices.IndexFunc(plan.Changes, func(c corpus.Change) bool { return c.Object == l.guarded.Object }); {
	case at >= 0:
		m.Before, m.Proposed = string(plan.Changes[at].Before), string(plan.Changes[at].After)
	case len(plan.Changes) > 0: // what it is reached through
		m.Proposed = string(plan.Changes[0].After)
	}
	b.add(m)
}

// now is the state of an object as the observer sees it. It is wanted in the
// middle of a step, which nobody else can go on with, so the observer is asked
// beside it.
func (l *live) now(o corpus.Object) corpus.State {
	t := l.g.term(0, nil)
	defer t.end()
	seen := make(chan corpus.State, 1)
	l.g.crew.run(func() {
		states, err := l.read(t, Plan{Changes: []corpus.Change{{Object: o}}})
		if err != nil {
			states = []corpus.State{corpus.Unreadable}
		}
		seen <- states[0]
	})
	select {
	case s := <-seen:
		return s
	case <-t.Done():
		return corpus.Unreadable
	}
}

// makeQuestion is all that an approver is shown.
func (l *live) makeQuestion(deadline time.Time) approval.Question {
	q := approval.Question{
		Log: l.g.parts.Origin, Fence: l.g.parts.Fence, Session: l.facts.Session, Request: l.facts.ID, Seq: l.seq,
		Agent: l.session.agent, Profile: l.g.parts.Profile, Envelope: l.env, Effect: l.facts.Target.Capability().Effect(),
		Op: l.touches.Op, Reach: string(l.approved.Reach), Plan: l.approved.Approvable(), Before: l.approved.Before, After: l.approved.After,
		Skill: l.g.parts.About[l.skill], Level: l.level, Mark: l.mark, Sink: l.sink, Guarded: l.guarded.Name,
		Asked: l.g.parts.Now(), Deadline: deadline,
	}
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	key := l.call.Capability + " " + l.call.Target
	q.Novel = !l.g.seen[key]
	if len(l.g.seen) < maxSeen {
		l.g.seen[key] = true
	}
	l.g.counts.Asked++
	l.g.questions.remember(l.facts.ID, questioned{l.facts.Session, l.env.Hash()})
	for _, c := range l.g.machine.callsOf(func(c *call) bool { return c.at == doubtful }) {
		for _, o := range c.Changes {
			if len(q.Doubts) < maxDoubts && near(o, l.touches.Changes) {
				q.Doubts = append(q.Doubts, string(o))
			}
		}
	}
	return q
}

const (
	maxSeen   = 100_000 // targets that are remembered as asked about
	maxDoubts = 20      // objects in doubt that an approver is told of
)

// near says whether an object is one of others or lies beside one.
func near(o corpus.Object, others []corpus.Object) bool {
	dir, _ := o.Parent()
	return slices.ContainsFunc(others, func(other corpus.Object) bool {
		beside, _ := other.Parent()
		return o == other || dir == beside
	})
}
