package gate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// live is what doing a call needs and deciding it does not. Its fields belong to
// the goroutine that drives it, but for those that say g.mu.
type live struct {
	g         *Gate
	session   *Session
	facts     Facts
	call      Call
	env       capability.Envelope
	host      Host
	touches   Touches
	guarded   Guarded
	payload   record.Payload
	sink      string
	level     string // as it was when the call was asked for
	mark      string
	skill     string
	approved  Plan               // what was asked for
	plan      Plan               // under the lease
	seq       int64              // of the request record
	question  *approval.Question // of a call that was asked about
	posed     *approval.Posed    // of one that was answered
	answer    approval.Answer
	genuine   bool          // somebody gave it
	ruled     chan struct{} // of a call that was asked about; closed when that has ended
	pending   *Pending      // of who asked for it
	waited    bool          // for a lease
	wasStaged bool          // that it is staged is in the log
	consent   bool          // the decision is an approval that somebody gave
	came      came          // of what the host did last
	detail    string        // the host's or the gate's words, for the record

	group   *group             // g.mu; that it is to be asked about with; nil is alone
	slot    int                // g.mu; its place there
	queue   []Command          // g.mu
	running bool               // g.mu
	cancel  context.CancelFunc // g.mu; ends what it waits for
	waiters []waiter           // g.mu
	asker   [1]waiter          // g.mu; room for them, of whom most calls have one
	room    [1]Command         // g.mu; and for what is queued
	reply   Reply              // g.mu; the last that was told
	message string             // g.mu; for the agent
}

// add queues a command, ends what the call waits for, and drives it if nobody
// does. g.mu is held.
func (l *live) add(c Command) {
	l.queue = append(l.queue, c)
	if l.cancel != nil {
		l.cancel()
	}
	if !l.running {
		l.running = true
		l.g.crew.run(l.drive)
	}
}

// drive does the commands of the call, one after the other, until there are none
// or another goroutine has gone on with them.
func (l *live) drive() {
	for {
		l.g.mu.Lock()
		if len(l.queue) == 0 {
			l.running = false
			l.g.mu.Unlock()
			return
		}
		c := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		l.g.mu.Unlock()
		event, inTime := l.do(c)
		if !inTime {
			return
		}
		if event != nil {
			l.g.dispatch(event)
		}
	}
}

// do does one command and says what came of it; nil if nothing did. It was not in
// time if another goroutine drives the call now.
func (l *live) do(c Command) (event Event, inTime bool) {
	switch c := c.(type) {
	case Preview:
		return l.preview()
	case PlanIt:
		return l.planIt(c)
	case DoIt:
		return l.act(c)
	case Wait:
		event = l.idly(l.g.limits.Lease, l.wait)
	case Append:
		event = l.append(c)
	case Ask:
		event = l.idly(l.g.limits.Ask, l.ask)
	case Late:
		l.late()
	}
	return event, true
}

// idly waits for somebody, until its time is over or the context is cancelled: by
// the next command, which says that there is nothing to wait for.
func (l *live) idly(limit time.Duration, f func(context.Context) Event) Event {
	ctx, cancel := context.WithTimeout(l.g.ctx, limit)
	defer cancel()
	l.g.mu.Lock()
	l.cancel = cancel
	if len(l.queue) > 0 {
		cancel()
	}
	l.g.mu.Unlock()
	event := f(ctx)
	l.g.mu.Lock()
	l.cancel = nil
	l.g.mu.Unlock()
	return event
}

// tell gives whoever waits for a call its reply. g.mu is held.
func (g *Gate) tell(c Tell) {
	l := g.lives[c.ID]
	if l == nil {
		return
	}
	l.reply = l.makeReply(c)
	g.count(c.Status)
	l.answerWith(l.reply)
	if l.facts.Key != "" {
		g.replies.put(c.ID, l.reply)
	}
	if c.Last {
		delete(g.lives, c.ID)
	} else if c.Status == Done {
		l.slim()
	}
}

// makeReply is what the agent is told. g.mu is held.
func (l *live) makeReply(c Tell) Reply {
	r := Reply{Request: c.ID, Status: c.Status, Reason: c.Reason}
	switch {
	case c.Status == Done:
		r.Message, r.Result = l.came.message, l.came.data
		return r
	case c.Status == Denied:
		r.Allowed = l.g.machine.rules.Skills[l.skill].Grants.Strings()
	}
	if r.Message = l.message; r.Message == "" {
		r.Message = l.advice(c.Reason)
	}
	return r
}

// slim lets go of what is not needed to put a committed call back. g.mu is held.
func (l *live) slim() {
	l.approved, l.question, l.posed, l.call.Arguments, l.payload = Plan{}, nil, nil, nil, record.Payload{}
	after := make([]corpus.Copy, len(l.plan.After))
	for i, c := range l.plan.After {
		after[i] = corpus.Copy{Facts: c.Facts, Cut: c.Cut || c.Size() > 0}
	}
	l.plan.After = after
}

func (g *Gate) count(s Status) {
	switch s {
	case Done:
		g.counts.Done++
	case Denied:
		g.counts.Denied++
	case Refused:
		g.counts.Refused++
	case Failed:
		g.counts.Failed++
	case Doubtful:
		g.counts.InDoubt++
	}
}

// repeat gives the reply of an earlier call with the same key. g.mu is held.
func (g *Gate) repeat(c Repeat) {
	l := g.lives[c.ID]
	if l == nil {
		return
	}
	delete(g.lives, c.ID)
	if first := g.lives[c.Of]; first != nil && first.reply.Status == "" {
		first.waiters = append(first.waiters, l.waiters...)
		return
	}
	r, ok := g.replies.get(c.Of)
	if !ok {
		r = Reply{Request: c.Of, Status: Doubtful, Reason: InDoubt, Message: "an earlier call had this key, and what became of it is not known here; look before asking with another key"}
	}
	l.answerWith(r)
}

// waiter wants to know how a call ended.
type waiter interface{ end(r Reply) }

// answerWith is for all who wait. g.mu is held.
func (l *live) answerWith(r Reply) {
	for _, w := range l.waiters {
		w.end(r)
	}
	l.waiters = nil
}

// append makes the records of a step durable.
func (l *live) append(c Append) Event {
	entries, err := l.entries(c)
	broken := false
	if err == nil {
		var marks []record.Mark
		if marks, err = l.record(entries); err == nil {
			l.appended(c, marks)
		}
		broken = fatal(err)
	}
	if err != nil {
		l.say("what cannot be recorded is not done: " + err.Error())
	}
	if c.What == Decided && l.ruled != nil {
		close(l.ruled)
		l.ruled = nil
	}
	return Appended{ID: l.facts.ID, Failed: err != nil, Fatal: broken}
}

// record appends. Room is kept for an outcome alone: where there is none for
// what stands beside it, the outcome is recorded all the same.
func (l *live) record(entries []record.Entry) ([]record.Mark, error) {
	marks, err := l.g.append(entries...)
	if len(entries) > 1 && entries[0].Body.Kind().Closes() && errors.Is(err, audit.ErrFull) {
		marks, err = l.g.append(entries[0])
	}
	return marks, err
}

// appended notes what is durable now.
func (l *live) appended(c Append, marks []record.Mark) {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	switch {
	case c.What == AskedFor || c.What == StagedFor:
		l.seq = marks[0].Seq
	case c.What == IntendedByLevel || c.What == ReadByLevel:
		l.g.counts.ByLevel++
	case c.What == Decided && l.consent:
		l.g.counts.Approved++
	}
}

// fatal says whether the log takes nothing more.
func fatal(err error) bool {
	return err != nil && !errors.Is(err, audit.ErrFull) && !errors.Is(err, record.ErrTooLong) && !errors.Is(err, record.ErrLine)
}
