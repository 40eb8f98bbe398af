package gate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

// schedules is how many schedules of one race are tried.
const schedules = 1000

// T14. A human answers within a nanosecond of the deadline, of a cancellation, of
// a revocation, in every order: one decision, nothing approved at or after the
// deadline, at most one intent, and no effect without an approval.
func TestAnswerRaces(t *testing.T) {
	var late, approved atomic.Int64
	for i := range schedules {
		synctest.Test(t, func(t *testing.T) {
			answerRace(t, rand.New(rand.NewPCG(14, uint64(i))), &late, &approved)
		})
	}
	if late.Load() == 0 || approved.Load() == 0 {
		t.Errorf("%d late answers, %d approvals: the race is none", late.Load(), approved.Load())
	}
}

func answerRace(t *testing.T, random *rand.Rand, late, approved *atomic.Int64) {
	b := bench(t, map[string]string{"out/a": "old"})
	limit := 2 * time.Minute
	near := func(at time.Duration) time.Duration { return at + time.Duration(random.IntN(3)-1) }
	base := limit
	if random.IntN(2) == 0 {
		base = time.Minute // well before the deadline, at which other things happen
	}
	answerAt, eventAt := near(base), near(base)
	choice := []record.Choice{record.Approve, record.Deny}[random.IntN(2)]
	b.Broker.Script(func(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
		time.Sleep(answerAt) // and does not care that nobody waits
		return gatetest.Sign(choice, qs[0].Asked.Add(approval.Validity), qs...)
	})
	s := b.Open("agent", gatetest.Unverified)
	start := time.Now()
	var wg sync.WaitGroup
	switch random.IntN(4) {
	case 0:
		wg.Go(func() { time.Sleep(eventAt); _ = s.End(t.Context(), gate.Stopping, false) })
	case 1:
		wg.Go(func() {
			time.Sleep(eventAt)
			_ = b.Gate.Narrow(t.Context(), []string{gatetest.Unverified}, record.Revocation{})
		})
	case 2:
		wg.Go(func() { time.Sleep(eventAt); _ = s.Pause(t.Context()) })
	}
	call := gatetest.Irreversibly("write", "out/a", "new")
	if random.IntN(2) == 0 {
		call = gatetest.Write("out/a", "new")
	}
	r := s.Call(t.Context(), call)
	if r.Status == gate.StagedStatus {
		if rs, err := s.Commit(t.Context()); err == nil {
			r = rs[0]
		}
	}
	took := time.Since(start)
	wg.Wait()
	time.Sleep(time.Hour)
	synctest.Wait()
	kinds := " " + b.Log.Kinds(r.Request) + " "
	decisions, consent := 0, false
	for _, rec := range b.Log.Of(r.Request) {
		switch d := rec.Body.(type) {
		case record.Decision:
			decisions++
			consent = d.Choice == record.Approve
		case record.LateDecision:
			late.Add(1)
			if decisions == 0 || d.Choice != choice || d.Cause != record.CauseHuman {
				t.Errorf("late: %+v behind%s", d, kinds)
			}
		}
	}
	if consent {
		approved.Add(1)
	}
	switch {
	case decisions != 1:
		t.Errorf("%d decisions:%s", decisions, kinds)
	case consent && (choice != record.Approve || answerAt >= limit || took >= limit):
		t.Errorf("approved after %s (answered after %s)", took, answerAt)
	case !consent && (b.World.Effects() > 0 || strings.Contains(kinds, "intent ")):
		t.Errorf("not approved, and done:%s", kinds)
	case b.World.Effects() > 1 || strings.Count(kinds, "intent ") > 1:
		t.Errorf("consumed twice:%s", kinds)
	case strings.Count(kinds, " decision.late ") > 1:
		t.Errorf("late twice:%s", kinds)
	case r.Status == gate.Done != (b.World.Effects() == 1):
		t.Errorf("%s:%s", r.Status, kinds)
	}
}

// An approval is looked at again under the lease: one that has expired, or whose
// approver was taken away, or which is for another state of the world, is not
// used.
func TestApprovalIsCheckedAgain(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*gatetest.Bench, *atomic.Bool)
		why    gate.Reason
	}{
		"expired":         {func(b *gatetest.Bench, _ *atomic.Bool) { b.Advance(approval.Validity) }, gate.ApprovalVoid},
		"approver gone":   {func(_ *gatetest.Bench, gone *atomic.Bool) { gone.Store(true) }, gate.ApprovalVoid},
		"other world":     {func(b *gatetest.Bench, _ *atomic.Bool) { b.World.Put("out/a", "theirs") }, gate.Conflict},
		"deleted":         {func(b *gatetest.Bench, _ *atomic.Bool) { b.World.Remove("out/a") }, gate.Conflict},
		"nothing changed": {func(*gatetest.Bench, *atomic.Bool) {}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			var gone atomic.Bool
			var b *gatetest.Bench
			root := gatetest.Root()
			b = bench(t, map[string]string{"out/a": "old"}, func(p *gate.Parts) {
				p.Check = func(q *approval.Posed, a approval.Answer) error {
					if gone.Load() {
						return q.Check(a, nil, b.Now())
					}
					return q.Check(a, root, b.Now())
				}
			})
			plans := 0
			b.World.OnPlan(func(context.Context, capability.Envelope) error {
				if plans++; plans == 2 { // the first is what was asked
					c.change(b, &gone)
				}
				return nil
			})
			r := b.Open("agent", gatetest.Unverified).Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new"))
			if c.why == "" {
				want(t, r, gate.Done, "")
				return
			}
			want(t, r, gate.Failed, c.why)
			if kinds := b.Log.Kinds(r.Request); kinds != "request decision error" || b.World.Effects() > 0 {
				t.Error(kinds, b.World.Effects())
			}
		})
	}
}

// points counts what happens around a gate, and does something at the n-th.
type points struct {
	mu sync.Mutex
	n  int
	at int
	do func()
	wg sync.WaitGroup
}

func (p *points) pass() {
	p.mu.Lock()
	hit := p.n == p.at
	p.n++
	p.mu.Unlock()
	if hit {
		started := make(chan struct{})
		p.wg.Go(func() { close(started); p.do() })
		<-started
		for range 5 {
			pause() // it may wait for what is on its way here
		}
	}
}

// each watches every append, plan, question and effect.
func (p *points) watch(b *gatetest.Bench) {
	b.Log.Before(func([]record.Entry) { p.pass() })
	b.World.OnPlan(func(context.Context, capability.Envelope) error { p.pass(); return nil })
	b.World.Script(func(gate.Order) gatetest.Fault { p.pass(); return "" })
	b.Broker.Script(func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
		p.pass()
		return gatetest.Approves(ctx, qs)
	})
}

// after lists the intents behind the first record that stop accepts.
func after(b *gatetest.Bench, session string, stop func(record.Record) bool) []string {
	var out []string
	stopped := false
	for _, r := range b.Log.Records() {
		switch {
		case stop(r):
			stopped = true
		case stopped && r.Session == session && r.Body.Kind().Intends() && r.Body.Kind() != record.KindRollbackIntent:
			out = append(out, fmt.Sprint(r.Body.Kind(), " of ", r.Request))
		}
	}
	return out
}

// T21. Whatever takes a session's standing away, at every point of every flow:
// nothing is intended behind its record, and every call has an end.
func TestStandingIsLostAtEveryPoint(t *testing.T) {
	calls := []gate.Call{
		gatetest.Read("out/a"), gatetest.Write("out/a", "new"), gatetest.Irreversibly("write", "out/a", "newer"), gatetest.Irreversibly("write", "a", "new"),
	}
	stopped := func(r record.Record) bool {
		s, ok := r.Body.(record.Session)
		return ok && s.Transition == record.SessionStopped
	}
	for what, c := range map[string]struct {
		do   func(context.Context, *gatetest.Bench, *gate.Session) error
		stop func(record.Record) bool
	}{
		"revoked": {func(ctx context.Context, b *gatetest.Bench, _ *gate.Session) error {
			return b.Gate.Narrow(ctx, []string{gatetest.Declared, gatetest.Unverified}, record.Revocation{})
		}, func(r record.Record) bool { return r.Body.Kind() == record.KindRevocation }},
		"paused": {func(ctx context.Context, _ *gatetest.Bench, s *gate.Session) error {
			if err := s.Pause(ctx); err != nil {
				return err
			}
			// What is on its way may come behind the pause; what is new does not.
			want(t, s.Call(ctx, gatetest.Write("out/new", "new")), gate.Denied, gate.SessionPaused)
			return nil
		}, func(record.Record) bool { return false }},
		"stopped": {func(ctx context.Context, _ *gatetest.Bench, s *gate.Session) error {
			return s.End(ctx, gate.Stopping, true)
		}, stopped},
	} {
		for _, subject := range []string{gatetest.Declared, gatetest.Unverified} {
			for _, call := range calls {
				for at, more := 0, true; more; at++ {
					more = loseStanding(t, fmt.Sprintf("%s at point %d of %s under %.1s", what, at, call.Capability, subject), subject, call, at, c.do, c.stop)
				}
			}
		}
	}
}

func loseStanding(t *testing.T, what, subject string, call gate.Call, at int, do func(context.Context, *gatetest.Bench, *gate.Session) error, stop func(record.Record) bool) bool {
	t.Helper()
	b := gatetest.New(t, map[string]string{"out/a": "old"})
	defer b.Close()
	s := b.Open("agent", subject)
	var failed error
	p := &points{at: at}
	p.do = func() { failed = do(t.Context(), b, s) }
	p.watch(b)
	r := s.Call(t.Context(), call)
	if r.Status == gate.StagedStatus {
		if rs, err := s.Commit(t.Context()); err == nil && len(rs) == 1 {
			r = rs[0]
		}
	}
	p.wg.Wait()
	if failed != nil && !strings.Contains(failed.Error(), string(gate.SessionEnded)) {
		t.Errorf("%s: %v", what, failed)
	}
	if got := after(b, s.ID(), stop); len(got) > 0 {
		t.Errorf("%s: afterwards %v", what, got)
	}
	if b.World.Effects() == 0 && r.Status == gate.Done && call.Capability != "fs.read" {
		t.Errorf("%s: done without an effect", what)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n > at
}

// A revocation says what it cancelled, and what was pending is denied because of
// it.
func TestNarrowCancels(t *testing.T) {
	b := bench(t, nil)
	b.Broker.Script(gatetest.Nobody)
	s := b.Open("agent", gatetest.Unverified)
	done := make(chan gate.Reply, 1)
	go func() { done <- s.Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new")) }()
	staged := s.Call(t.Context(), gatetest.Write("out/b", "new"))
	for len(b.Broker.Asked()) == 0 {
		pause()
	}
	if err := b.Gate.Narrow(t.Context(), []string{gatetest.Unverified}, record.Revocation{Evicted: []string{"unverified"}}); err != nil {
		t.Fatal(err)
	}
	r := <-done
	want(t, r, gate.Denied, gate.SkillRevoked)
	matches(t, b, r.Request, `
		request fs.write.irrev out/a guarded="" out/a:absent>new
		decision deny revoked by script skill-evicted`)
	for strings.Count(b.Log.Kinds(staged.Request), " ") < 2 {
		pause()
	}
	matches(t, b, staged.Request, `
		reversible.request fs.write.rev out/b guarded="" out/b:absent>new
		staged out/b:absent>new
		rolled-back skill-evicted`)
	for _, rec := range b.Log.Of("") {
		if v, ok := rec.Body.(record.Revocation); ok && len(v.Cancelled) != 2 {
			t.Errorf("cancelled %v", v.Cancelled)
		}
	}
	want(t, s.Call(t.Context(), gatetest.Read("out/a")), gate.Denied, gate.SkillRevoked)
	if err := s.Use(t.Context(), gatetest.Declared); err != nil {
		t.Error(err)
	}
}
