package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
)

// calm turns a panic of a part into an error.
func calm[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it broke: %v", p)
		}
	}()
	return f()
}

// watch runs f here, on the goroutine that drives the call: to have another one
// do it costs two wake-ups, more than most hosts take. If f is not back a grace
// after its time, a second goroutine tells the machine of that and drives the call
// on; then the answer is false, and this goroutine drives no more. What a host has
// begun is not cancelled when the gate closes, only when its time is over.
func (l *live) watch(grace time.Duration, f func(context.Context), overdue func() Event) bool {
	t := l.g.term(grace, func(begun chan<- struct{}) {
		l.g.crew.run(func() {
			l.g.dispatch(overdue())
			close(begun) // Close is not to see the other goroutine end before
			l.drive()
		})
	})
	f(t)
	return t.end()
}

// planned has a host plan, and says whether it was in time. One that was not may
// still be reading from the call.
func planned(l *live, f func(context.Context) (Plan, error)) (plan Plan, err error, inTime bool) {
	inTime = l.watch(0, func(ctx context.Context) {
		plan, err = calm(func() (Plan, error) { return f(ctx) })
	}, func() Event {
		return l.noPlan(&Refusal{Reason: HostOverdue, Detail: "the host did not come back in time; nothing was done; ask again later"})
	})
	return plan, err, inTime
}

// noPlan is the event of a call that cannot be planned.
func (l *live) noPlan(err error) Event { return Planned{ID: l.facts.ID, Refused: l.refusal(err)} }

// preview plans a call that somebody is to be asked about.
func (l *live) preview() (event Event, inTime bool) {
	staged := l.session.overlay()
	plan, err, inTime := planned(l, func(ctx context.Context) (Plan, error) { return l.host.Plan(ctx, l.env, staged) })
	if !inTime {
		return nil, false
	}
	if err == nil {
		err = l.within(plan)
	}
	if err != nil {
		return l.noPlan(err), true
	}
	l.approved = plan
	size := plan.Size() + l.weight()
	for _, c := range plan.After {
		size += c.Size()
	}
	return Planned{ID: l.facts.ID, Size: size, Listed: listed(plan), Wider: l.wider(plan)}, true
}

// listed is about what a plan takes in the log.
func listed(plan Plan) int64 {
	n := 0
	for _, c := range plan.Changes {
		n += len(c.Object) + perChange
	}
	return int64(n)
}

// perChange is about what stands around the name of an object in a plan.
const perChange = 192

// wider says whether a plan changes something that no grant of the active
// manifest covers.
func (l *live) wider(plan Plan) bool {
	target := l.facts.Target
	name, path, ok := target.Path()
	if !ok {
		return false
	}
	grants := l.g.machine.rules.Skills[l.skill].Grants
	for _, c := range plan.Changes {
		t, err := target, error(nil)
		if !isAt(c.Object, name, path) {
			t, err = capability.Path(target.Capability(), c.Object.Corpus(), c.Object.Path())
		}
		if err != nil || !grants.Covers(t) {
			return true
		}
	}
	return false
}

// flows says whether what a plan moves may be where it is moved to: what is read
// at one object must not come to lie at one with a lower label.
func (l *live) flows(plan Plan) error {
	if len(plan.Changes) < 2 {
		return nil
	}
	moved := l.g.parts.Scheme.Bottom()
	for _, c := range plan.Changes {
		if c.Before != corpus.Absent {
			moved = moved.Join(l.g.parts.Label(c.Object))
		}
	}
	for _, c := range plan.Changes {
		if c.After != corpus.Absent && !moved.LessEq(l.g.parts.Label(c.Object)) {
			return &Refusal{Reason: SinkBelowMark, Object: c.Object, Detail: "what would be moved there has a higher label"}
		}
	}
	return nil
}

// weight is what is kept of the call's own words while it can be put back.
func (l *live) weight() int64 { return int64(len(l.env.Arguments())) + overhead }

// overhead is about what a committed call takes besides.
const overhead = 4 << 10

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
	if err := l.fits(plan); err != nil {
		return err
	}
	return l.flows(plan)
}

// fits says whether the corpus has room for what a plan makes: one that grows
// beyond what its observer reads could not be judged any more.
func (l *live) fits(plan Plan) error {
	if l.g.parts.Room == nil {
		return nil
	}
	for _, c := range plan.Changes {
		if c.Before == corpus.Absent && c.After != corpus.Absent && !l.g.parts.Room(c.Object.Corpus()) {
			return &Refusal{Reason: TooMany, Object: c.Object, Detail: "the corpus has as many objects as are observed; take some away, or have what needs no account made volatile"}
		}
	}
	return nil
}

// refusal notes why a host will not, and gives the token.
func (l *live) refusal(err error) Reason {
	l.say(err.Error())
	l.detail = err.Error()
	return tokenOf(err)
}

// tokenOf is the token of a host's error.
func tokenOf(err error) Reason {
	var r *Refusal
	switch {
	case errors.As(err, &r) && r.Reason != "":
		return r.Reason
	case errors.Is(err, context.DeadlineExceeded):
		return HostOverdue
	}
	return HostFailed
}

// planIt plans a call under its lease. The observer has to see what the host
// planned from, and what was approved has to be what is planned.
func (l *live) planIt(c PlanIt) (event Event, inTime bool) {
	plan, err, inTime := planned(l, func(ctx context.Context) (Plan, error) { return l.planUnderLease(ctx, c) })
	switch {
	case !inTime:
		return nil, false
	case err != nil:
		return l.noPlan(err), true
	}
	l.plan = plan
	size := int64(0)
	if l.reversible() && !c.Undo {
		if size = plan.Size() + l.weight(); !plan.Whole() {
			return l.noPlan(&Refusal{Reason: BufferFull, Detail: "what is there now is too large to be kept, so it could not be put back; ask for it as an irreversible call"}), true
		}
	}
	return Planned{ID: l.facts.ID, Size: size, Wider: !c.Undo && l.wider(plan)}, true
}

// attempts is how often a plan is made anew while the objects change under it.
const attempts = 3

// planUnderLease only reads from the call: who waits for it may have gone.
func (l *live) planUnderLease(ctx context.Context, c PlanIt) (Plan, error) {
	if err := l.stillUnguarded(c); err != nil {
		return Plan{}, err
	}
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
		if c.Approved && !c.Undo && !corpus.Admits(l.approved.Approvable(), plan.Changes) {
			return Plan{}, &Refusal{Reason: Conflict, Detail: "the world changed since this was asked for; look at it again, then ask again"}
		}
		before, err := l.read(ctx, plan)
		if err != nil {
			return Plan{}, err
		}
		if !seen(plan, before) {
			continue
		}
		if c.Approved && !c.Undo {
			err = l.stillApproved() // last, for reading takes time
		}
		return plan, err
	}
	return Plan{}, &Refusal{Reason: Conflict, Detail: "the object is not what the plan was made from; look at it again, then ask again"}
}

// stillUnguarded looks again whether the call reaches something guarded, where
// time has passed since it was asked for.
func (l *live) stillUnguarded(c PlanIt) error {
	if l.facts.Guarded || !c.Approved && !c.Undo && !l.waited {
		return nil
	}
	found, ok := l.g.parts.Guard.Find(l.touches.Changes)
	if !ok {
		return nil
	}
	return &Refusal{Reason: Conflict, Object: found.Object, Detail: "since this was asked for it has come to reach something guarded; ask again"}
}

// stillApproved says whether the approval still counts.
func (l *live) stillApproved() error {
	if err := l.counts(l.answer); err != nil {
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
		states, err := calm(func() ([]corpus.State, error) { return o.Read(ctx, objects) })
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
	l.waited = true
	<-ctx.Done()
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return WaitedEnough{ID: l.facts.ID}
}

// came is what came of an order.
type came struct {
	data     []byte // for the agent
	message  string // for the agent, of what was done
	detail   string // for the record
	failed   Reason
	readings []corpus.Change
}

// grace is how long a host has to come back after its context has ended.
const grace = 5 * time.Second

// act has the host do it, under a permit that is made here and nowhere else.
func (l *live) act(c DoIt) (event Event, inTime bool) {
	p := mint(l.order(c.Phase))
	var cm came
	inTime = l.watch(grace, func(ctx context.Context) { cm = l.perform(ctx, p, c.Phase) }, func() Event {
		if c.Phase == Read { // what it says later is for nobody
			return l.take(came{failed: HostOverdue, detail: "the host did not come back in time; ask again later"})
		}
		return Overdue{ID: l.facts.ID}
	})
	switch {
	case inTime:
		return l.take(cm), true
	case c.Phase != Read:
		l.g.dispatch(l.take(cm))
	}
	return nil, false
}

// order is what a permit allows in a phase.
func (l *live) order(phase Phase) Order {
	o := Order{Phase: phase, Session: l.facts.Session, Request: l.facts.ID, Envelope: l.env}
	if phase == Read {
		o.Staged = l.session.overlay()
		return o
	}
	o.Plan, o.Staging, o.Key = l.plan, stagingName(l.facts.ID), l.key(phase == Rollback)
	return o
}

// take notes what came of an order.
func (l *live) take(c came) Event {
	l.came, l.detail = c, c.detail
	message := ""
	if c.failed != "" {
		message = c.detail
	}
	l.say(message)
	return Finished{ID: l.facts.ID, Failed: c.failed}
}

// maxResult bounds what an agent is told of one call, in bytes.
const maxResult = 16 << 20

// perform calls the host, then reads what became of the objects. It only reads
// from the call: who waits for it may have gone.
func (l *live) perform(ctx context.Context, p *Permit, phase Phase) came {
	result, err := calm(func() (Result, error) { return l.host.Do(ctx, p) })
	out := came{data: result.Data, detail: result.Detail}
	switch {
	case err != nil:
		out = came{detail: err.Error(), failed: tokenOf(err)}
	case len(result.Data) > maxResult:
		out.data, out.message = nil, "the result is too large to be told; ask for less of it"
	case phase == Rollback:
		out.message = "it was put back as it was before"
	}
	if phase != Read {
		out.readings = l.readings()
	}
	return out
}

// readings are what the observers see of the plan's objects afterwards.
func (l *live) readings() []corpus.Change {
	// A reading has a time of its own: the host may have used up the call's.
	t := l.g.term(0, nil)
	defer t.end()
	states, err := l.read(t, l.plan)
	out := make([]corpus.Change, len(l.plan.Changes))
	for i, c := range l.plan.Changes {
		out[i] = corpus.Change{Object: c.Object, Before: c.Before, After: corpus.Unreadable}
		if err == nil {
			out[i].After = states[i]
		}
	}
	return out
}

// reversible says whether the call goes through the buffer.
func (l *live) reversible() bool {
	return l.facts.Target.Capability().Effect() == capability.Reversible
}
