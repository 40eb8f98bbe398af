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
	p, err := b.find(id)
	if err == nil {
		if err := b.check(p.question, a); err != nil {
			return err
		}
		a.Broker = name
		err = b.take(p, a)
	}
	var e *Error
	if errors.As(err, &e) && e.Reason == AnswerLate && b.options.Late != nil {
		b.options.Late(id, a)
	}
	return err
}

// find is the question of an id, if it still waits.
func (b *Inbox) find(id string) (*post, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch p := b.waiting[id]; {
	case p != nil:
		return p, nil
	case b.ended[id]:
		return nil, b.late(id)
	}
	return nil, &Error{Reason: AnswerUnknown, Request: id, Detail: "no question of that id waits; list the inbox"}
}

// late counts an answer that came too late. It holds the lock.
func (b *Inbox) late(id string) error {
	b.counts.Late++
	b.changed()
	return &Error{Reason: AnswerLate, Request: id, Detail: "it was answered, timed out or was cancelled before; the answer has no effect"}
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

// take ends a question with its answer, if nothing ended it meanwhile.
func (b *Inbox) take(p *post, a approval.Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.options.Now()
	if p.ended || p.due(now) || p.group.ctx.Err() != nil {
		return b.late(p.question.Request)
	}
	state := Denied
	if a.Choice == record.Approve {
		state = Approved
	}
	b.settle(p, a, state, now)
	return nil
}
