package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

// answered is what a broker came back with.
type answered struct {
	answers []approval.Answer
	err     error
}

// one is the answer, if there is one and nothing else.
func (a answered) one() (approval.Answer, bool) {
	if a.err != nil || len(a.answers) != 1 {
		return approval.Answer{}, false
	}
	return a.answers[0], true
}

// ask puts the question and says how it was answered. A broker that does not
// come back in time is left alone.
func (l *live) ask(ctx context.Context) Event {
	l.say("")
	q := l.makeQuestion()
	l.question, l.ruled = &q, make(chan struct{})
	limited, cancel := context.WithTimeout(ctx, l.g.limits.Ask)
	defer cancel()
	qs := []approval.Question{q}
	done := beside(l.g, func() answered {
		answers, err := calm(func() ([]approval.Answer, error) { return l.g.parts.Broker.Ask(limited, qs) })
		return answered{answers, err}
	})
	select {
	case a := <-done:
		if limited.Err() == nil && l.g.parts.Now().Before(l.question.Deadline) {
			return l.judge(a)
		}
		l.tooLate(func() answered { return a })
	case <-limited.Done():
		l.tooLate(func() answered { return <-done })
	}
	switch {
	case l.g.ctx.Err() != nil:
		return Answered{ID: l.facts.ID, Why: SessionEnded}
	case ctx.Err() != nil:
		return nil // it was decided without an answer
	}
	return l.unanswered(record.CauseTimeout, TimedOut, "")
}

// tooLate records an answer that comes when the request is decided.
func (l *live) tooLate(answer func() answered) {
	id, ruled := l.facts.ID, l.ruled
	l.g.wg.Go(func() {
		a, ok := answer().one()
		<-ruled
		if ok {
			_ = l.g.Late(id, a) // what cannot be recorded has no effect either
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
	a, ok := came.one()
	if !ok {
		return l.unanswered(record.CauseBroker, BrokerFailed, "")
	}
	if err := l.counts(a); err != nil {
		return l.unanswered(record.CauseBroker, ApprovalVoid, "the answer does not count: "+err.Error())
	}
	l.answer, l.genuine = a, true
	if a.Choice == record.Approve {
		return Answered{ID: l.facts.ID, Approve: true}
	}
	return Answered{ID: l.facts.ID, Why: whyDenied(a.Cause)}
}

// whyDenied is the token of a broker's denial.
func whyDenied(c record.Cause) Reason {
	switch c {
	case record.CauseTimeout:
		return TimedOut
	case record.CauseBroker:
		return NoBroker
	}
	return DeniedByBroker
}

// counts says whether an answer counts for the question now; nil means that it
// does.
func (l *live) counts(a approval.Answer) error {
	_, err := calm(func() (struct{}, error) { return struct{}{}, l.g.parts.Check(*l.question, a) })
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
