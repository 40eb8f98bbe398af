package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

// intended is what a host must find when it is ordered to do something: the
// intent, durable, in the log, with this plan.
func intended(b *gatetest.Bench, o gate.Order) error {
	if o.Phase == gate.Read {
		return nil
	}
	for _, r := range b.Log.Of(o.Request) {
		var i record.Intent
		switch body := r.Body.(type) {
		case record.Intent:
			i = body
		case record.CommitIntent:
			i = body.Intent
		case record.RollbackIntent:
			i = body.Intent
		default:
			continue
		}
		if i.Key == o.Key && i.Staging == o.Staging && changes(i.Plan) == changes(o.Plan.Changes) {
			return nil
		}
	}
	return fmt.Errorf("%s of %s without an intent in the log", o.Phase, o.Request)
}

// scenario lets one session do a bit of everything and gives the replies.
func scenario(ctx context.Context, b *gatetest.Bench, subject string) []gate.Reply {
	s, err := b.Gate.Open(ctx, record.Agent{Name: "agent"}, nil)
	if err != nil {
		return nil
	}
	if err := s.Use(ctx, subject); err != nil {
		return nil
	}
	var out []gate.Reply
	for _, c := range []gate.Call{
		gatetest.Read("out/a"), gatetest.Write("out/a", "new"), gatetest.Irreversibly("write", "out/b", "new"),
		gatetest.Irreversibly("write", "b", "new"), gatetest.Write("out/c", "new"), gatetest.Write("guarded", "new"),
	} {
		out = append(out, s.Call(ctx, c))
	}
	commits, _ := s.Commit(ctx)
	undone, _ := s.Rollback(ctx)
	_ = s.End(ctx, gate.Closing, false)
	return append(append(out, commits...), undone...)
}

// Whatever the log does at whatever append: nothing is done without a durable
// intent, no reply says more than the log, and everybody gets one.
func TestLogFaults(t *testing.T) {
	for _, subject := range []string{gatetest.Declared, gatetest.Unverified} {
		for _, fault := range []gatetest.LogFault{gatetest.Full, gatetest.StaysFull, gatetest.TooLong, gatetest.Broken, gatetest.Unsure} {
			for at, more := 0, true; more; at++ {
				more = logFault(t, subject, fault, at)
			}
		}
	}
}

// logFault runs the scenario with a fault at an append, and says whether it came
// that far.
func logFault(t *testing.T, subject string, fault gatetest.LogFault, at int) bool {
	t.Helper()
	b := gatetest.New(t, map[string]string{"out/a": "old", "guarded": "old"})
	defer func() { _ = b.Gate.Close(t.Context()) }() // the log may say no
	b.Guard.Add("guarded", "x")
	what := fmt.Sprintf("%s at append %d under %.1s", fault, at, subject)
	var mu sync.Mutex
	struck := false
	b.Log.Script(func(n int, _ []record.Entry) gatetest.LogFault {
		mu.Lock()
		defer mu.Unlock()
		if n != at {
			return ""
		}
		struck = true
		return fault
	})
	b.World.Script(func(o gate.Order) gatetest.Fault {
		if err := intended(b, o); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return ""
	})
	last := make(map[string]gate.Reply) // of a staged call there are two
	for _, r := range scenario(t.Context(), b, subject) {
		last[r.Request] = r
	}
	for _, r := range last {
		if err := truthful(b, r, fault == gatetest.Unsure); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if struck && (fault == gatetest.Broken || fault == gatetest.Unsure) {
		effects := b.World.Effects()
		if s, err := b.Gate.Open(t.Context(), record.Agent{Name: "next"}, nil); err == nil {
			t.Errorf("%s: session %s opened in a broken log", what, s.ID())
		}
		if b.World.Effects() != effects {
			t.Errorf("%s: something was done in a broken log", what)
		}
	}
	return struck
}

// truthful holds a reply against the log.
func truthful(b *gatetest.Bench, r gate.Reply, unsure bool) error {
	kinds := " " + b.Log.Kinds(r.Request) + " "
	has := func(kind record.Kind) bool { return strings.Contains(kinds, " "+string(kind)+" ") }
	tried := false
	for _, o := range b.World.Orders() {
		tried = tried || o.Request == r.Request && o.Phase != gate.Read
	}
	closed := has(record.KindExecuted) || has(record.KindCommitted) || has(record.KindError) || has(record.KindRolledBack)
	switch {
	case r.Status == gate.Done && !closed:
		return fmt.Errorf("%s is done, and the log says%s", r.Request, kinds)
	case r.Status == gate.Denied && !has(record.KindDecision):
		return fmt.Errorf("%s is denied, and the log says%s", r.Request, kinds)
	case r.Status == gate.Refused && tried && !has(record.KindCommitted):
		return fmt.Errorf("%s was refused, and the host was called", r.Request)
	case tried && !closed && r.Status != gate.Doubtful && !unsure:
		return fmt.Errorf("%s was tried, is in doubt in the log, and the agent is told %s", r.Request, r.Status)
	}
	return nil
}

// Room is kept for outcomes: with a full log a guarded write still gets its own.
func TestGuardedOutcomeInAFullLog(t *testing.T) {
	b := gatetest.New(t, map[string]string{"guarded": "old"})
	defer func() { _ = b.Gate.Close(t.Context()) }() // there is no room to say that it ends
	b.Guard.Add("guarded", "x")
	b.World.Script(func(gate.Order) gatetest.Fault {
		b.Log.Script(func(int, []record.Entry) gatetest.LogFault { return gatetest.StaysFull })
		return ""
	})
	r := b.Open("agent", gatetest.Declared).Call(t.Context(), gatetest.Write("guarded", "new"))
	want(t, r, gate.Done, "")
	if kinds := b.Log.Kinds(r.Request); !strings.HasSuffix(kinds, "commit.intent committed") {
		t.Error(kinds)
	}
}

// In a broken log nothing is even tried, reads included.
func TestNothingIsTriedInABrokenLog(t *testing.T) {
	b := gatetest.New(t, map[string]string{"out/a": "old"})
	defer func() { _ = b.Gate.Close(t.Context()) }() // the log says no
	s := b.Open("agent", gatetest.Declared)
	b.Log.Script(func(int, []record.Entry) gatetest.LogFault { return gatetest.Broken })
	want(t, s.Call(t.Context(), gatetest.Write("out/a", "new")), gate.Refused, gate.LogFailed)
	want(t, s.Call(t.Context(), gatetest.Read("out/a")), gate.Refused, gate.LogFailed)
	if !b.Gate.Dead() {
		t.Error("the gate does not say that its log is dead")
	}
	if n := len(b.World.Orders()); n > 0 {
		t.Errorf("%d orders", n)
	}
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, files map[string]string, f func(*testing.T, *gatetest.Bench), change ...func(*gate.Parts)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, bench(t, files, change...)) })
}

// A host that does not come back: in doubt, then what came of it.
func TestHostHangs(t *testing.T) {
	bubble(t, map[string]string{"out/a": "old"}, func(t *testing.T, b *gatetest.Bench) {
		b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Hang })
		s := b.Open("agent", gatetest.Declared)
		c := gatetest.Write("out/a", "new")
		c.Key = "k"
		r := s.Call(t.Context(), c)
		want(t, r, gate.Doubtful, gate.HostOverdue)
		want(t, s.Call(t.Context(), c), gate.Doubtful, gate.HostOverdue)
		want(t, s.Call(t.Context(), gatetest.Write("out/a", "newer")), gate.Denied, gate.Busy)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.Gate.Barrier(ctx, func(context.Context) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a barrier with a call under way: %v", err)
		}
		b.World.Release()
		synctest.Wait()
		want(t, s.Call(t.Context(), c), gate.Done, "")
		if kinds := b.Log.Kinds(r.Request); !strings.HasSuffix(kinds, "commit.intent committed") || b.World.Effects() != 1 {
			t.Error(kinds, b.World.Effects())
		}
		want(t, s.Call(t.Context(), gatetest.Write("out/a", "newer")), gate.Done, "")
	})
}

// A host that comes back with its context has failed, and is not in doubt.
func TestHostObeys(t *testing.T) {
	bubble(t, map[string]string{"out/a": "old"}, func(t *testing.T, b *gatetest.Bench) {
		b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Obeys })
		want(t, b.Open("agent", gatetest.Declared).Call(t.Context(), gatetest.Write("out/a", "new")), gate.Failed, gate.HostOverdue)
	})
}

func TestHostHangsReading(t *testing.T) {
	bubble(t, map[string]string{"out/a": "old"}, func(t *testing.T, b *gatetest.Bench) {
		for _, fault := range []gatetest.Fault{gatetest.Hang, gatetest.Obeys} {
			b.World.Script(func(gate.Order) gatetest.Fault { return fault })
			r := b.Open("agent", gatetest.Declared).Call(t.Context(), gatetest.Read("out/a"))
			want(t, r, gate.Failed, gate.HostOverdue)
			if kinds := b.Log.Kinds(r.Request); kinds != "request decision error" {
				t.Error(kinds)
			}
		}
	})
}

func TestHostHangsPlanning(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *gatetest.Bench) {
		forever := make(chan struct{})
		b.World.OnPlan(func(context.Context, capability.Envelope) error { <-forever; return nil })
		for _, subject := range []string{gatetest.Declared, gatetest.Unverified} {
			want(t, b.Open("agent"+subject[:1], subject).Call(t.Context(), gatetest.Write("out/a", "new")), gate.Denied, gate.HostOverdue)
		}
		close(forever)
		synctest.Wait()
		b.World.OnPlan(nil)
		want(t, b.Open("again", gatetest.Declared).Call(t.Context(), gatetest.Write("out/a", "new")), gate.Done, "")
	})
}

func TestHostBreaks(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old"})
	s := b.Open("agent", gatetest.Declared)
	b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Panics })
	r := s.Call(t.Context(), gatetest.Write("out/a", "new"))
	want(t, r, gate.Failed, gate.HostFailed)
	matches(t, b, r.Request, `
		reversible.request fs.write.rev out/a guarded="" out/a:old>new
		decision approve level by level fs.write.rev(out/**)
		staged out/a:old>new
		commit.intent out/a:old>new
		error host-failed out/a:old>old`)
	want(t, s.Call(t.Context(), gatetest.Read("out/a")), gate.Failed, gate.HostFailed)
	b.World.OnPlan(func(context.Context, capability.Envelope) error { panic("plan") })
	want(t, s.Call(t.Context(), gatetest.Write("out/a", "new")), gate.Denied, gate.HostFailed)
	b.World.OnPlan(nil)
	b.World.OnRead(func([]corpus.Object) error { panic("observer") })
	want(t, s.Call(t.Context(), gatetest.Write("out/a", "new")), gate.Denied, gate.HostFailed)
}

// An observer that fails afterwards says unreadable, and the outcome with it.
func TestObserverFails(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old"})
	b.World.Script(func(gate.Order) gatetest.Fault {
		b.World.OnRead(func([]corpus.Object) error { return errors.New("blind") })
		return ""
	})
	r := b.Open("agent", gatetest.Declared).Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new"))
	want(t, r, gate.Done, "")
	matches(t, b, r.Request, `
		request fs.write.irrev out/a guarded="" out/a:old>new
		decision approve level by level fs.write.irrev(out/**)
		intent out/a:old>new
		executed out/a:old>unreadable`)
}

// A host that plans what the call does not name is refused.
func TestHostPlansElsewhere(t *testing.T) {
	b := bench(t, nil, func(p *gate.Parts) {
		p.Hosts[capability.FSWriteIrrev] = elsewhere{p.Hosts[capability.FSWriteIrrev]}
	})
	want(t, b.Open("agent", gatetest.Declared).Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new")), gate.Denied, gate.HostFailed)
	if b.World.Effects() > 0 {
		t.Error("it was done")
	}
}

type elsewhere struct{ gate.Host }

func (e elsewhere) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	p, err := e.Host.Plan(ctx, env, staged)
	p.Changes[0].Object = "work/etc"
	return p, err
}

// What the host and the agent say at length does not keep an outcome from a line.
func TestLongWords(t *testing.T) {
	b := bench(t, nil, func(p *gate.Parts) { p.Hosts[capability.FSWriteIrrev] = wordy{p.Hosts[capability.FSWriteIrrev]} })
	s := b.Open("agent", gatetest.Declared)
	r := s.Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new"))
	want(t, r, gate.Done, "")
	for _, rec := range b.Log.Of(r.Request) {
		if e, ok := rec.Body.(record.Executed); ok && (len(e.Detail) > 4<<10 || e.Detail == "") {
			t.Errorf("%d bytes of detail", len(e.Detail))
		}
	}
	b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Fails })
	if r = s.Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new")); r.Status != gate.Failed || len(r.Message) > 4<<10 {
		t.Errorf("%s, %d bytes of message", r.Status, len(r.Message))
	}
	long := gate.Call{Capability: strings.Repeat("\x00x", 1<<20), Target: strings.Repeat("\u202e", 1<<20)}
	want(t, s.Call(t.Context(), long), gate.Denied, gate.CallMalformed)
}

type wordy struct{ gate.Host }

func (w wordy) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	r, err := w.Host.Do(ctx, p)
	r.Detail = strings.Repeat("\x01\xff\u202e\U0001f600", 1<<18)
	if err != nil {
		err = errors.New(r.Detail)
	}
	return r, err
}

// The agent goes away; the call goes on, and its key tells what became of it.
func TestAgentGone(t *testing.T) {
	b := bench(t, map[string]string{"out/a": "old"})
	b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Hang })
	s := b.Open("agent", gatetest.Declared)
	c := gatetest.Write("out/a", "new")
	c.Key = "k"
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(b.World.Orders()) == 0 {
			pause()
		}
		cancel()
	}()
	r := s.Call(ctx, c)
	want(t, r, gate.Doubtful, gate.InDoubt)
	b.World.Release()
	again := s.Call(t.Context(), c)
	want(t, again, gate.Done, "")
	if again.Request != r.Request || b.World.Effects() != 1 {
		t.Errorf("%s and %s, %d effects", r.Request, again.Request, b.World.Effects())
	}
}

// 200 calls at once: each gets a reply and is in the log, those over the limit
// are denied.
func TestManyCalls(t *testing.T) {
	b := bench(t, nil)
	free := make(chan struct{})
	b.World.OnPlan(func(context.Context, capability.Envelope) error { <-free; return nil })
	s := b.Open("agent", gatetest.Declared)
	got := make(chan gate.Reply, 200)
	for i := range 200 {
		go func() { got <- s.Call(t.Context(), gatetest.Irreversibly("append", fmt.Sprintf("out/%d", i%50), "x")) }()
	}
	for b.Gate.Counts().Denied < 200-64 {
		pause()
	}
	close(free)
	counts := make(map[gate.Status]int)
	for range 200 {
		r := <-got
		counts[r.Status]++
		if kinds := b.Log.Kinds(r.Request); kinds != "request decision intent executed" && kinds != "request decision" {
			t.Error(kinds)
		}
	}
	if counts[gate.Done] != 64 || counts[gate.Denied] != 136 || b.World.Effects() != 64 {
		t.Error(counts, b.World.Effects())
	}
}

// Two sessions over one object: one after the other, and nothing is lost.
func TestSessionsFight(t *testing.T) {
	b := bench(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		s := b.Open(fmt.Sprint("agent", i), gatetest.Declared)
		for range 10 {
			wg.Go(func() { want(t, s.Call(t.Context(), gatetest.Irreversibly("append", "out/a", "x")), gate.Done, "") })
		}
	}
	wg.Wait()
	content(t, b.World, "out/a", strings.Repeat("x", 80))
}
