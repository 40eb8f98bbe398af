package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

// ask puts the question and says how it was answered. A broker that does not
// come back in time is left alone.
func (l *live) ask(ctx context.Context) Event {
	l.say("")
	gr, slot := l.party()
	until := l.g.parts.Now().Add(l.g.limits.Ask)
	q := l.makeQuestion(until.Add(-gr.early))
	l.question, l.ruled = &q, make(chan struct{})
	m := gr.join(slot, q)
	l.putToSomebody()
	select {
	case a := <-m.out:
		if ctx.Err() == nil && l.g.parts.Now().Before(until) {
			return l.judge(a)
		}
		m.out <- a
	case <-ctx.Done():
	case <-l.pending.withdrawn:
	}
	gr.leave(m)
	l.tooLate(m)
	switch {
	case l.pending.isWithdrawn() && ctx.Err() == nil:
		return l.unanswered(record.CauseCancelled, Cancelled, "")
	case l.g.ctx.Err() != nil:
		return Answered{ID: l.facts.ID, Why: SessionEnded}
	case errors.Is(ctx.Err(), context.Canceled):
		return nil // it was decided without an answer
	}
	return l.unanswered(record.CauseTimeout, TimedOut, "")
}

// putToSomebody lets whoever waits know that the call waits for an answer.
func (l *live) putToSomebody() {
	select {
	case <-l.pending.asked: // it is asked about for the second time
	default:
		close(l.pending.asked)
	}
}

// party is what the call is asked about with, and its place there.
func (l *live) party() (*group, int) {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	gr := l.group
	if l.group = nil; gr == nil {
		return l.g.newGroup(1), 0
	}
	return gr, l.slot
}

// tooLate records an answer that comes when the request is decided.
func (l *live) tooLate(m *member) {
	id, ruled := l.facts.ID, l.ruled
	l.g.crew.run(func() {
		a := <-m.out
		<-ruled
		if a.ok {
			_ = l.g.Late(id, a.answer) // what cannot be recorded has no effect either
		}
	})
}

// late records an answer that somebody was faster than.
func (l *live) late() {
	if l.genuine {
		_ = l.g.Late(l.facts.ID, l.answer) // as above
	}
}

// unanswered is a denial that nobody gave.
func (l *live) unanswered(cause record.Cause, why Reason, message string) Event {
	l.answer, l.genuine = approval.Answer{Choice: record.Deny, Cause: cause}, false
	l.say(message)
	return Answered{ID: l.facts.ID, Why: why}
}

// judge holds an answer against the question.
func (l *live) judge(came answered) Event {
	if !came.ok {
		return l.unanswered(record.CauseBroker, BrokerFailed, "")
	}
	a := came.answer
	posed, err := calm(func() (*approval.Posed, error) { return l.question.Pose(), nil })
	if l.posed = posed; err == nil {
		err = l.counts(a)
	}
	if err != nil {
		return l.unanswered(record.CauseBroker, ApprovalVoid, "the answer does not count: "+err.Error())
	}
	l.answer, l.genuine = a, true
	if a.Choice == record.Approve {
		return Answered{ID: l.facts.ID, Approve: true}
	}
	return Answered{ID: l.facts.ID, Why: whyDenied(a)}
}

// whyDenied is the token of a broker's denial.
func whyDenied(a approval.Answer) Reason {
	switch {
	case a.Cause == record.CauseTimeout:
		return TimedOut
	case a.Cause == record.CauseBroker && a.Rule != "": // why its answer does not count
		return BrokerFailed
	case a.Cause == record.CauseBroker:
		return NoBroker
	}
	return DeniedByBroker
}

// counts says whether an answer counts for the question now; nil means that it
// does.
func (l *live) counts(a approval.Answer) error {
	_, err := calm(func() (struct{}, error) { return struct{}{}, l.g.parts.Check(l.posed, a) })
	if err != nil || a.Choice == record.Deny {
		return err
	}
	return l.entitled(a)
}

// entitled says whether an approval comes from somebody who may give this one
// (DESIGN section 2): humans and webhooks sign; a policy may not approve what is
// guarded, nor in profile strict what an unverified skill asks for.
func (l *live) entitled(a approval.Answer) error {
	switch {
	case a.Choice != record.Approve:
		return fmt.Errorf("%q is neither approve nor deny", a.Choice)
	case a.Cause == record.CauseHuman || a.Cause == record.CauseWebhook:
		if a.Signature == "" {
			return errors.New("an approval is signed with the approver's key")
		}
		return nil
	case a.Cause != record.CausePolicy:
		return fmt.Errorf("nothing is approved because of %q", a.Cause)
	case l.facts.Guarded:
		return errors.New("it reaches something guarded, which no policy approves; a person decides")
	case l.level == level.Unverified.String() && l.g.parts.Profile != "dev":
		return errors.New("the skill is unverified, and outside of profile dev no policy approves for one; a person decides")
	}
	return nil
}
