package inbox

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// Answer answers questions by their request ids, each for itself, in the order
// of the ids. What is wrong with some does not keep the others from counting.
// The error joins an *[Error] for each that was not taken: answer-unknown,
// answer-late, or answer-void with what is wrong with it.
func (b *Inbox) Answer(ctx context.Context, answers map[string]approval.Answer) error {
	var all []error
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(all, err)...)
		}
		if err := b.answer(id, answers[id]); err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func (b *Inbox) answer(id string, a approval.Answer) error {
	p, q, err := b.find(id)
	if err != nil {
		return err
	}
	if err := b.check(q, a); err != nil {
		return err
	}
	a.Broker = name
	if ended := b.take(p, a); ended != Pending {
		return b.late(id, ended, a)
	}
	return nil
}

// find is the question of an id, if it is here.
func (b *Inbox) find(id string) (*post, approval.Question, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(b.options.Now())
	switch p := b.posts[id]; {
	case p == nil:
		return nil, approval.Question{}, &Error{Reason: AnswerUnknown, Request: id, Detail: "no question of that id waits or ended lately; list the inbox"}
	case p.question.Request == "":
		return nil, approval.Question{}, &Error{Reason: AnswerLate, Request: id, Detail: p.item.State.past() + ", too long ago for an answer to be recorded; see what came of it: iff audit show --call " + id}
	default:
		return p, p.question, nil
	}
}

// late has an answer recorded that came when its question had ended, and says so.
func (b *Inbox) late(id string, ended State, a approval.Answer) error {
	b.mu.Lock()
	b.counts.Late++
	b.changed()
	b.mu.Unlock()
	out := &Error{Reason: AnswerLate, Request: id, Detail: ended.past() + " before this answer, which has no effect"}
	if b.options.Late != nil {
		if out.Err = b.options.Late(id, a); out.Err != nil {
			out.Detail += " and could not be recorded"
		}
	}
	out.Detail += "; see what came of it: iff audit show --call " + id
	return out
}

// check holds an answer against the question. Only people answer here: an
// answer that says that a policy gave it would need no signature.
func (b *Inbox) check(q approval.Question, a approval.Answer) error {
	if a.Cause != record.CauseHuman && a.Cause != record.CauseWebhook {
		return &Error{Reason: AnswerVoid, Request: q.Request, Detail: "an answer to the inbox is a human's or a webhook's"}
	}
	if b.options.Check == nil {
		return &Error{Reason: Unattended, Request: q.Request, Detail: "nothing here can check an answer"}
	}
	if err := b.options.Check(q, a); err != nil {
		return &Error{Reason: AnswerVoid, Request: q.Request, Detail: err.Error(), Err: err}
	}
	return nil
}

// take ends a question with its answer, if nothing ended it meanwhile: then it
// says how it ended, else Pending.
func (b *Inbox) take(p *post, a approval.Answer) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.options.Now()
	switch {
	case p.ended():
		return p.item.State
	case p.due(now):
		return TimedOut
	case p.group.ctx.Err() != nil:
		return Cancelled
	}
	state := Denied
	if a.Choice == record.Approve {
		state = Approved
	}
	b.settle(p, a, state, now)
	return Pending
}
