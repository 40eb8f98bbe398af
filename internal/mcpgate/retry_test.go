package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
)

// retrier is a session whose calls are made without a connection.
type retrier struct {
	*rig
	s     *session
	agent serve.AgentSession
}

func newRetrier(t *testing.T, tune func(*Options, *limits)) *retrier {
	t.Helper()
	r := &retrier{rig: newRig(t, tune)}
	r.s = r.g.newSession(serve.Peer{UID: 1000})
	r.agent = unwrap(r.s.open(t.Context(), "retrier"))(t)
	t.Cleanup(func() { must(t, r.s.end(context.Background())) })
	return r
}

// calls makes a call, and says how it ended.
func (r *retrier) calls(ctx context.Context, target string) <-chan ended {
	out := make(chan ended, 1)
	go func() {
		out <- r.s.call(ctx, r.agent, gate.Call{Capability: "fs.write.irrev", Target: target, Arguments: []byte(`{"op":"delete"}`)}, nil)
	}()
	return out
}

// waits lasts until so many clients wait for the only call there is.
func (r *retrier) waits(t *testing.T, clients int) {
	t.Helper()
	eventually(t, func() bool {
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		return len(r.s.calls) == 1 && r.s.calls[0].waiting == clients
	})
}

func (r *retrier) begun(t *testing.T) int {
	t.Helper()
	p := r.player(t, 0)
	return see(p, func() int { return len(p.calls) })
}

func done(t *testing.T, e ended) {
	t.Helper()
	if e.pending || e.reply.Status != gate.Done {
		t.Errorf("it ended as %+v", e)
	}
}

// A client that tries again before it says that it has given up is one call: over a connection the second may be read first, over HTTP
// each is a request of its own.
func TestRetryOvertakesItsCancellation(t *testing.T) {
	r := newRig(t, nil)
	c := r.raw(t)
	c.hello("2025-06-18")
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"a"}}}`)
	c.hear()
	for n, path := range []string{"hang", "ask"} {
		first, second := 10+2*n, 11+2*n
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fs_delete","arguments":{"path":%q}}}`, first, path))
		a := <-r.w.asked
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fs_delete","arguments":{"path":%q,"reasoning":"again"}}}`, second, path))
		eventually(t, func() bool { return waiting(r.g, "s1") == 2 })
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, first))
		if got := c.hear(); !strings.Contains(got, fmt.Sprintf(`"id":%d`, first)) || !strings.Contains(got, "pending") {
			t.Errorf("%s: the cancelled call is answered %s", path, got)
		}
		a.approve(`{}`)
		if got := c.hear(); !strings.Contains(got, fmt.Sprintf(`"id":%d`, second)) || !strings.Contains(got, `"status":"done"`) {
			t.Errorf("%s: told %s", path, got)
		}
		p := r.player(t, 0)
		if n, want := see(p, func() int { return len(p.calls) }), 2+n; n != want {
			t.Errorf("%s: %d calls were begun, %d were asked for", path, n, want)
		}
	}
}

// waiting counts the clients that wait in a session.
func waiting(g *Gateway, session string) int {
	g.naming.Lock()
	s := g.byName[session]
	g.naming.Unlock()
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, k := range s.calls {
		n += k.waiting
	}
	return n
}

// Of identical calls that come at once one is begun.
func TestIdenticalAtOnce(t *testing.T) {
	r := newRetrier(t, nil)
	var wg sync.WaitGroup
	for range 8 {
		out := r.calls(t.Context(), "hang")
		wg.Go(func() { done(t, <-out) })
	}
	r.waits(t, 8)
	(<-r.w.asked).approve(`{}`)
	wg.Wait()
	if n := r.begun(t); n != 1 {
		t.Errorf("%d calls were begun", n)
	}
	// Reads have no effect, and each tells what is there when it is asked for.
	for range 2 {
		go r.s.call(t.Context(), r.agent, gate.Call{Capability: "fs.read", Target: "hang"}, nil)
	}
	for range 2 {
		defer (<-r.w.asked).approve(`{}`)
	}
}

// tooLate takes a call back when somebody has approved it already, tries again, and says how often the call was begun.
func tooLate(t *testing.T, forgets bool) int {
	t.Helper()
	r := newRetrier(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first := r.calls(ctx, "ask-late")
	a := <-r.w.asked
	r.waits(t, 1)
	cancel()
	<-a.p.cancelled
	if got := <-first; !got.pending {
		t.Errorf("who took it back hears %+v", got)
	}
	if forgets { // the bug that this is there for
		r.s.mu.Lock()
		r.s.calls = nil
		r.s.mu.Unlock()
	}
	second := r.calls(t.Context(), "ask-late")
	r.waits(t, 1)
	if forgets {
		(<-r.w.asked).approve(`{}`)
	}
	a.approve(`{}`)
	done(t, <-second)
	return r.begun(t)
}

func TestTakenBackTooLate(t *testing.T) {
	if n := tooLate(t, false); n != 1 {
		t.Errorf("it was begun %d times", n)
	}
	if n := tooLate(t, true); n != 2 {
		t.Errorf("a gateway that forgets what was taken back begins it %d times, and should be found", n)
	}
}

// Whoever comes only when it has settled hears of it too.
func TestTakenBackTooLateAndHeardLater(t *testing.T) {
	r := newRetrier(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first := r.calls(ctx, "ask-late")
	a := <-r.w.asked
	cancel()
	<-first
	a.approve(`{}`)
	eventually(t, func() bool {
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		return len(r.s.calls) == 1 && !r.s.calls[0].ended.IsZero()
	})
	done(t, <-r.calls(t.Context(), "ask-late"))
	if n := r.begun(t); n != 1 {
		t.Errorf("it was begun %d times", n)
	}
	r.calls(t.Context(), "ask-late") // its reply was told; this one is new
	(<-r.w.asked).approve(`{}`)
}

// A retry that comes while its call is being taken back asks anew once that is denied.
func TestTakenBackThenAskedAnew(t *testing.T) {
	r := newRetrier(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first := r.calls(ctx, "ask-late")
	a := <-r.w.asked
	cancel()
	<-first
	second := r.calls(t.Context(), "ask-late")
	r.waits(t, 1)
	if n := r.begun(t); n != 1 {
		t.Errorf("%d calls were begun while the first was being taken back", n)
	}
	a.p.end(gate.Reply{Status: gate.Denied, Reason: gate.Cancelled})
	(<-r.w.asked).approve(`{}`)
	done(t, <-second)
	if n := r.begun(t); n != 2 {
		t.Errorf("%d calls were begun, two were asked", n)
	}
}

// While somebody else waits for the same, who goes away takes nothing back.
func TestOneOfTwoTakesItBack(t *testing.T) {
	r := newRetrier(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first := r.calls(ctx, "ask")
	a := <-r.w.asked
	second := r.calls(t.Context(), "ask")
	r.waits(t, 2)
	cancel()
	<-first
	select {
	case <-a.p.cancelled:
		t.Error("it was taken back")
	default:
	}
	a.approve(`{}`)
	done(t, <-second)
}

// However many replies nobody has heard, what is under way is not forgotten.
func TestUnderWayIsNotForgotten(t *testing.T) {
	r := newRetrier(t, func(o *Options, _ *limits) { o.Wait = time.Millisecond })
	if got := <-r.calls(t.Context(), "ask-first"); !got.pending {
		t.Fatalf("%+v", got)
	}
	first := <-r.w.asked
	for n := range mostKept + 10 {
		<-r.calls(t.Context(), fmt.Sprint("ask", n))
		(<-r.w.asked).approve(`{}`)
	}
	eventually(t, func() bool {
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		return len(r.s.calls) == mostKept+1
	})
	if got := <-r.calls(t.Context(), "ask-first"); !got.pending || r.begun(t) != mostKept+11 {
		t.Errorf("%+v, %d were begun", got, r.begun(t))
	}
	first.approve(`{}`)
}

// The root of a corpus is a directory whatever anybody answers, so nobody is asked whether it may be read.
func TestReadOfARootIsNotAsked(t *testing.T) {
	r := newRetrier(t, nil)
	for path, want := range map[string]bool{
		".": true, "./": true, "/home/me/project": true, "/home/me/project/": true, "docs:.": true, "/home/me/project/docs": true, "a": false, "docs:a": false, ".a": false,
	} {
		_, err := r.g.fileCall(capability.FSRead, "read", fmt.Appendf(nil, `{"path":%q}`, path))
		var refused *gate.Refusal
		if got := errors.As(err, &refused) && refused.Reason == gate.NotAFile && strings.Contains(err.Error(), "fs_list"); got != want {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := r.g.fileCall(capability.FSRead, "list", fmt.Appendf(nil, `{"path":%q}`, path)); err != nil {
			t.Errorf("%s cannot be listed: %v", path, err)
		}
	}
}

// Results that nobody heard are bounded together; that the calls were done is told all the same, and none is done twice.
func TestUnheardResultsAreBounded(t *testing.T) {
	r := newRetrier(t, func(o *Options, _ *limits) { o.Wait = time.Millisecond })
	r.g.keeping = serve.NewRoom(100)
	large := `{"of":"` + strings.Repeat("x", 60) + `"}`
	for n := range 3 {
		if got := <-r.calls(t.Context(), fmt.Sprint("ask", n)); !got.pending {
			t.Fatalf("%+v", got)
		}
		(<-r.w.asked).approve(large)
		eventually(t, func() bool {
			r.s.mu.Lock()
			defer r.s.mu.Unlock()
			return len(r.s.calls) == n+1 && !r.s.calls[n].ended.IsZero()
		})
	}
	for n, want := range []string{large, "", ""} {
		got := <-r.calls(t.Context(), fmt.Sprint("ask", n))
		if got.pending || got.reply.Status != gate.Done || string(got.reply.Result) != want || (want == "") != (got.reply.Message == tooMuch) {
			t.Errorf("call %d: %+v", n, got.reply)
		}
	}
	if r.begun(t) != 3 {
		t.Errorf("%d calls were begun", r.begun(t))
	}
	if !r.g.keeping.Take(100) {
		t.Error("room was not given back")
	}
	r.g.keeping.Give(100)
}

// beforeAsked takes a call back before anybody is asked about it, and says how it ends when somebody then is.
func beforeAsked(t *testing.T, forgets bool) (r *retrier, how gate.Reply) {
	t.Helper()
	r = newRetrier(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first := r.calls(ctx, "hang")
	a := <-r.w.asked
	r.waits(t, 1)
	cancel()
	if got := <-first; !got.pending {
		t.Fatalf("who took it back hears %+v", got)
	}
	r.s.mu.Lock()
	k := r.s.calls[0]
	if forgets { // the bug that this is there for
		k.unwanted = false
	}
	r.s.mu.Unlock()
	close(a.p.asked)
	if forgets {
		a.approve(`{}`)
	}
	<-a.p.done
	eventually(t, func() bool {
		r.s.mu.Lock()
		defer r.s.mu.Unlock()
		return !k.ended.IsZero()
	})
	return r, a.p.reply
}

func TestTakenBackBeforeAnybodyIsAsked(t *testing.T) {
	r, how := beforeAsked(t, false)
	if !takenBack(how) {
		t.Errorf("it ended as %+v", how)
	}
	second := r.calls(t.Context(), "hang") // is asked for anew
	(<-r.w.asked).approve(`{}`)
	done(t, <-second)
	if _, how := beforeAsked(t, true); how.Status != gate.Done {
		t.Errorf("a gateway that does not hear it has it end as %+v, and should be found", how)
	}
}

// Who comes back before anybody is asked wants it all the same, and so does one who then runs out of patience.
func TestWantedAgainBeforeAnybodyIsAsked(t *testing.T) {
	for _, patient := range []bool{true, false} {
		r := newRetrier(t, func(o *Options, _ *limits) {
			if !patient {
				o.Wait = time.Millisecond
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		first := r.calls(ctx, "hang")
		a := <-r.w.asked
		r.waits(t, 1)
		cancel()
		<-first
		second := r.calls(t.Context(), "hang")
		r.waits(t, 1)
		close(a.p.asked)
		if !patient {
			if got := <-second; !got.pending {
				t.Fatalf("%+v", got)
			}
			second = r.calls(t.Context(), "hang")
		}
		a.approve(`{}`)
		if got := <-second; patient || !got.pending {
			done(t, got)
		}
		select {
		case <-a.p.cancelled:
			t.Error("it was taken back")
		default:
		}
	}
}

// What is staged when it comes to be asked about is asked about with its commit, whoever has given it up.
func TestTakenBackThenStaged(t *testing.T) {
	for range 50 {
		r := newRetrier(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		first := r.calls(ctx, "hang")
		a := <-r.w.asked
		r.waits(t, 1)
		r.s.mu.Lock()
		k := r.s.calls[0]
		r.s.mu.Unlock()
		cancel()
		<-first
		a.p.end(gate.Reply{Status: gate.StagedStatus})
		close(a.p.asked)
		eventually(t, func() bool {
			r.s.mu.Lock()
			defer r.s.mu.Unlock()
			return !k.ended.IsZero()
		})
		select {
		case <-a.p.cancelled:
			t.Fatal("it was taken back")
		default:
		}
	}
}

// A reply that somebody heard after all is not kept, and takes no room from others.
func TestHeardByAnother(t *testing.T) {
	r := newRetrier(t, nil)
	r.g.keeping = serve.NewRoom(100)
	for n := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		target := fmt.Sprint("hang", n)
		first := r.calls(ctx, target)
		a := <-r.w.asked
		r.waits(t, 1)
		cancel()
		<-first
		second := r.calls(t.Context(), target)
		r.waits(t, 1)
		a.approve(`{"of":"` + strings.Repeat("x", 60) + `"}`)
		if got := <-second; got.reply.Status != gate.Done || len(got.reply.Result) < 60 {
			t.Fatalf("%+v", got)
		}
		eventually(t, func() bool {
			r.s.mu.Lock()
			defer r.s.mu.Unlock()
			return len(r.s.calls) == 0
		})
	}
	eventually(t, func() bool {
		if !r.g.keeping.Take(100) {
			return false
		}
		r.g.keeping.Give(100)
		return true
	})
}
