package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// preview plans a call that somebody is to be asked about.
func (l *live) preview(ctx context.Context) Event {
	ctx, cancel := context.WithTimeout(ctx, l.g.limits.Call)
	defer cancel()
	plan, err := l.host.Plan(ctx, l.env, l.session.overlay())
	if err == nil {
		err = l.within(plan)
	}
	if err != nil {
		return Planned{ID: l.facts.ID, Refused: l.refusal(err)}
	}
	l.approved = plan
	size := plan.Size()
	for _, c := range plan.After {
		size += c.Size()
	}
	return Planned{ID: l.facts.ID, Size: size}
}

// within holds a plan against what the call said that it touches: what is not
// leased is not changed.
func (l *live) within(plan Plan) error {
	for i, c := range plan.Changes {
		covered := false
		for _, o := range l.touches.Changes {
			covered = covered || c.Object == o || c.Object.Below(o)
		}
		if !covered || len(plan.Before) != len(plan.Changes) || len(plan.After) != len(plan.Changes) {
			return fmt.Errorf("the host planned %q (%d), which the call does not name", c.Object, i)
		}
	}
	return nil
}

// refusal notes why a host will not, and gives the token.
func (l *live) refusal(err error) Reason {
	l.say(err.Error())
	l.detail = err.Error()
	var r *Refusal
	if errors.As(err, &r) && r.Reason != "" {
		return r.Reason
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return HostOverdue
	}
	return HostFailed
}

// planIt plans a call under its lease. The observer has to see what the host
// planned from, and what was approved has to be what is planned.
func (l *live) planIt(ctx context.Context, c PlanIt) Event {
	ctx, cancel := context.WithTimeout(ctx, l.g.limits.Call)
	defer cancel()
	plan, err := l.planUnderLease(ctx, c)
	if err != nil {
		return Planned{ID: l.facts.ID, Refused: l.refusal(err)}
	}
	l.plan = plan
	size := int64(0)
	if l.env.Target().Capability().Effect() == capability.Reversible && !c.Undo {
		if size = plan.Size(); !plan.Whole() {
			return Planned{ID: l.facts.ID, Refused: l.refusal(&Refusal{Reason: BufferFull, Detail: "what is there now is too large to be kept, so it could not be put back; ask for it as an irreversible call"})}
		}
	}
	return Planned{ID: l.facts.ID, Size: size}
}

// attempts is how often a plan is made anew while the objects change under it.
const attempts = 3

func (l *live) planUnderLease(ctx context.Context, c PlanIt) (Plan, error) {
	for range attempts {
		plan := l.plan.Undo()
		if !c.Undo {
			var err error
			if plan, err = l.host.Plan(ctx, l.env, nil); err != nil {
				return Plan{}, err
			}
		}
		if err := l.within(plan); err != nil {
			return Plan{}, err
		}
		if c.Approved && !c.Undo {
			if err := l.stillApproved(plan); err != nil {
				return Plan{}, err
			}
		}
		before, err := l.read(ctx, plan)
		if err != nil {
			return Plan{}, err
		}
		if seen(plan, before) {
			return plan, nil
		}
	}
	return Plan{}, &Refusal{Reason: Conflict, Detail: "the object is not what the plan was made from; look at it again, then ask again"}
}

// stillApproved says whether what was approved is what would be done, and the
// approval still counts.
func (l *live) stillApproved(plan Plan) error {
	if !corpus.Admits(l.approved.Approvable(), plan.Changes) {
		return &Refusal{Reason: Conflict, Detail: "the world changed since this was asked for; look at it again, then ask again"}
	}
	if !l.asked {
		return nil
	}
	if err := l.g.parts.Check(l.question, l.answer); err != nil {
		return &Refusal{Reason: ApprovalVoid, Detail: err.Error(), Err: err}
	}
	return nil
}

// read asks the observers for the states of the planned objects, in their order.
func (l *live) read(ctx context.Context, plan Plan) ([]corpus.State, error) {
	out := make([]corpus.State, 0, len(plan.Changes))
	for i := 0; i < len(plan.Changes); {
		name := plan.Changes[i].Object.Corpus()
		var objects []corpus.Object
		for ; i < len(plan.Changes) && plan.Changes[i].Object.Corpus() == name; i++ {
			objects = append(objects, plan.Changes[i].Object)
		}
		o := l.g.parts.Observers[name]
		if o == nil {
			return nil, &Refusal{Reason: NoCorpus, Object: objects[0], Detail: "nobody observes this corpus"}
		}
		states, err := o.Read(ctx, objects)
		if err == nil && len(states) != len(objects) {
			err = errors.New("the observer answered for another number of objects")
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", objects[0], err)
		}
		out = append(out, states...)
	}
	return out, nil
}

// seen says whether the observer sees what the host planned from.
func seen(plan Plan, states []corpus.State) bool {
	for i, c := range plan.Changes {
		if !c.Before.Is(states[i]) {
			return false
		}
	}
	return true
}

// wait lasts until the call gets its lease, or has waited long enough.
func (l *live) wait(ctx context.Context) Event {
	t := time.NewTimer(l.g.limits.Lease)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-t.C:
		l.say("other calls work on the same object; ask again later")
		return WaitedEnough{ID: l.facts.ID}
	}
}

// act has the host do it, under a permit that is made here and nowhere else.
func (l *live) act(c DoIt) Event {
	o := Order{
		Phase: c.Phase, Session: l.facts.Session, Request: l.facts.ID, Envelope: l.env, Plan: l.plan,
		Staging: stagingName(l.facts.ID), Key: l.key(),
	}
	if c.Phase == Read {
		o.Plan, o.Staging, o.Key, o.Staged = Plan{}, "", "", l.session.overlay()
	}
	p := mint(o)
	done := make(chan Event, 1)
	// What a host has begun is not cancelled when the gate closes, only when its
	// time is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.g.ctx), l.g.limits.Call)
	l.g.wg.Go(func() {
		defer cancel()
		done <- l.finish(p, ctx, c.Phase)
	})
	t := time.NewTimer(l.g.limits.Call + grace)
	defer t.Stop()
	select {
	case e := <-done:
		return e
	case <-t.C:
	}
	l.say("the host did not come back in time; what became of the call is not known yet")
	l.g.wg.Go(func() { l.g.dispatch(<-done) })
	return Overdue{ID: l.facts.ID}
}

// grace is how long a host has to come back after its context has ended.
const grace = 5 * time.Second

// finish calls the host, then reads what became of the objects.
func (l *live) finish(p *Permit, ctx context.Context, phase Phase) Event {
	result, err := callHost(ctx, l.host, p)
	l.result, l.detail, l.failed = result, result.Detail, ""
	if err != nil {
		l.failed = l.refusal(err)
	}
	if phase == Read {
		return Finished{ID: l.facts.ID, Failed: l.failed}
	}
	// A reading has a time of its own: the host may have used up the call's.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.g.limits.Call)
	defer cancel()
	states, err := l.read(ctx, l.plan)
	l.readings = make([]corpus.Change, len(l.plan.Changes))
	for i, c := range l.plan.Changes {
		l.readings[i] = corpus.Change{Object: c.Object, Before: c.Before, After: corpus.Unreadable}
		if err == nil {
			l.readings[i].After = states[i]
		}
	}
	return Finished{ID: l.facts.ID, Failed: l.failed}
}

// callHost turns a panic of a host into an error: the readings say what it did.
func callHost(ctx context.Context, h Host, p *Permit) (r Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = Result{}, fmt.Errorf("the host broke: %v", v)
		}
	}()
	return h.Do(ctx, p)
}

// ask puts the question and says how it was answered.
func (l *live) ask(ctx context.Context) Event {
	l.asked = true
	l.question = l.makeQuestion()
	limited, cancel := context.WithTimeout(ctx, l.g.limits.Ask)
	defer cancel()
	answers, err := l.g.parts.Broker.Ask(limited, []approval.Question{l.question})
	switch {
	case ctx.Err() != nil && l.g.ctx.Err() == nil:
		return nil // it was decided without an answer
	case limited.Err() != nil:
		l.answer = approval.Answer{Choice: record.Deny, Cause: record.CauseTimeout}
		l.say("nobody answered in time")
		return Answered{ID: l.facts.ID, Why: TimedOut}
	case err != nil || len(answers) != 1:
		l.answer = approval.Answer{Choice: record.Deny, Cause: record.CauseBroker}
		l.say("who was asked gave no answer")
		return Answered{ID: l.facts.ID, Why: BrokerFailed}
	}
	return l.judge(answers[0])
}

// judge holds an answer against the question.
func (l *live) judge(a approval.Answer) Event {
	l.answer = a
	if err := l.g.parts.Check(l.question, a); err != nil {
		l.answer = approval.Answer{Choice: record.Deny, Cause: record.CauseBroker}
		l.say("the answer does not count: " + err.Error())
		return Answered{ID: l.facts.ID, Why: ApprovalVoid}
	}
	if a.Choice != record.Approve {
		if a.Cause == "" {
			l.answer.Cause = record.CauseBroker
		}
		return Answered{ID: l.facts.ID, Why: DeniedByBroker}
	}
	return Answered{ID: l.facts.ID, Approve: true}
}
