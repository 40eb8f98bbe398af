package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/gate"
)

func TestTwoPlanes(t *testing.T) {
	r := run(t, nil)
	c := r.raw(t, AgentSocket)
	c.say(opening)
	c.hear()
	agents := agentMethods()
	var spellings []string
	for _, name := range names(operatorMethods()) {
		if name == "status" { // its own session only
			continue
		}
		if _, both := agents[name]; both {
			t.Errorf("%s is reached through both sockets", name)
		}
		spellings = append(spellings, name, strings.ToUpper(name), strings.ToTitle(name[:1])+name[1:], " "+name, name+" ", name+"\x00", name+"\n", "/"+name, "operator."+name,
			"operator/"+name, strings.ReplaceAll(name, ".", "/"), strings.ReplaceAll(name, ".", "\u2024"), strings.ReplaceAll(name, "s", "\u017f"), name+"\u200b", "rpc."+name)
	}
	for i, name := range append(spellings, "Status", "operator.status", "rpc.discover", "") {
		id := []byte(fmt.Sprint(i + 10))
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":{}}`, id, quoted(t, name)))
		if f := fault(t, c.hear()); f.Code != CodeMethod && name != "" || f.Reason != string(MethodUnknown) {
			t.Errorf("%q: %v", name, f)
		}
	}
	if touched := snapshot(r.fake, func() []string { return r.fake.touched }); len(touched) != 0 {
		t.Errorf("an agent reached %v", touched)
	}
	// The check sees a method that is in the wrong table.
	planted := run(t, func(s *Server) { s.planes[0].methods["barrier"] = operatorMethods()["barrier"] })
	must(t, planted.agent(t).Call(t.Context(), "barrier", nil, nil))
	if touched := snapshot(planted.fake, func() []string { return planted.fake.touched }); !slices.Equal(touched, []string{"barrier"}) {
		t.Errorf("the planted method was not reached: %v", touched)
	}
}

func TestOperatorOnly(t *testing.T) {
	for _, c := range []struct {
		peer  Peer
		known error
		want  Reason
	}{
		{Peer{UID: 4711}, nil, NotOperator},
		{Peer{UID: 4711, PID: 1}, nil, NotOperator},
		{Peer{}, errors.New("no credentials"), PeerUnknown},
		{Peer{UID: 4711, SameUID: true}, nil, ""},
		{Peer{UID: 0}, nil, ""},
	} {
		r := run(t, func(s *Server) { s.peerOf = func(*net.UnixConn) (Peer, error) { return c.peer, c.known } })
		err := r.client(t, OperatorSocket).Call(t.Context(), "status", nil, nil)
		var f *Fault
		if c.want == "" {
			must(t, err)
		} else if !errors.As(err, &f) || f.Reason != string(c.want) {
			t.Errorf("%+v: %v", c.peer, err)
		}
		if touched := snapshot(r.fake, func() int { return len(r.fake.touched) }); (touched > 0) != (c.want == "") {
			t.Errorf("%+v: the operator was touched %d times", c.peer, touched)
		}
	}
}

func TestPeerIsTheCaller(t *testing.T) {
	got := make(chan Peer, 1)
	r := run(t, func(s *Server) {
		s.peerOf = func(c *net.UnixConn) (Peer, error) {
			p, err := peerOf(c)
			got <- p
			return p, err
		}
	})
	r.agent(t)
	if p := <-got; p.UID != os.Geteuid() || p.PID != os.Getpid() || !p.SameUID || p.Principal() != fmt.Sprintf("uid-%d", os.Geteuid()) {
		t.Errorf("%+v", p)
	}
}

func TestSessionEnds(t *testing.T) {
	r := run(t, nil)
	c := r.raw(t, AgentSocket)
	c.say(opening)
	c.hear()
	c.say(`{"jsonrpc":"2.0","id":"end","method":"session.close"}`, `{"jsonrpc":"2.0","id":3,"method":"status"}`)
	if got := c.gone(); got != `{"id":"end","jsonrpc":"2.0","result":{}}`+"\n" {
		t.Errorf("after session.close: %q", got)
	}
	must(t, r.agent(t).Close())
	must(t, r.Close())
	if closed := snapshot(r.fake, func() []string { return r.fake.closed }); !slices.Equal(closed, []string{"s-1", "s-2"}) {
		t.Errorf("closed: %v", closed)
	}
}

// checkDropped drops a connection while a call of it is under way, and says what is wrong with how the call ends.
func checkDropped(t *testing.T, change func(*Server)) string {
	r := run(t, change)
	r.fake.begun = make(chan string, 1)
	release := r.fake.hold("work/a")
	defer release()
	c := r.raw(t, AgentSocket)
	c.say(opening, `{"jsonrpc":"2.0","id":2,"method":"call","params":{"capability":"fs.write.rev","target":"work/a"}}`)
	<-r.fake.begun
	must(t, c.Close())
	for len(snapshot(r.fake, func() []string { return r.fake.closed })) == 0 { // the session is told first
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(20*time.Millisecond, release)
	must(t, r.Close())
	r.fake.mu.Lock()
	defer r.fake.mu.Unlock()
	if !slices.Equal(r.fake.calls, []string{"work/a"}) || len(r.fake.cut) != 0 {
		return fmt.Sprintf("ended %v, of these cut off %v", r.fake.calls, r.fake.cut)
	}
	return ""
}

func TestDroppedCallGoesOn(t *testing.T) {
	if wrong := checkDropped(t, nil); wrong != "" {
		t.Error(wrong)
	}
	if checkDropped(t, func(s *Server) { s.planes[0].methods["call"] = waiting(s.planes[0].methods["call"]) }) == "" {
		t.Error("a call that ends with its connection passes")
	}
}

func TestAnsweredAsTheyFinish(t *testing.T) {
	r := run(t, nil)
	r.fake.begun = make(chan string, 1)
	release := r.fake.hold("work/slow")
	defer release()
	c := r.raw(t, AgentSocket)
	c.say(opening, `{"jsonrpc":"2.0","id":2,"method":"call","params":{"capability":"fs.read","target":"work/slow"}}`)
	c.hear()
	<-r.fake.begun
	c.say(`{"jsonrpc":"2.0","id":3,"method":"status"}`, `{"jsonrpc":"2.0","id":2,"method":"status"}`)
	answers := []string{c.hear(), c.hear()}
	slices.Sort(answers)
	if f := fault(t, answers[0]); f.Reason != string(IDInFlight) || !strings.Contains(answers[0], `"id":null`) {
		t.Errorf("the same id again: %s", answers[0])
	}
	if !strings.Contains(answers[1], `"id":3,`) {
		t.Errorf("beside the slow call: %s", answers[1])
	}
	release()
	if got := c.hear(); !strings.Contains(got, `"id":2,`) || !strings.Contains(got, `"status":"done"`) {
		t.Errorf("the slow call: %s", got)
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"status"}`) // it is free again
	if got := c.hear(); !strings.Contains(got, `"id":2,`) {
		t.Error(got)
	}
}

func TestEndings(t *testing.T) {
	t.Run("shutdown", func(t *testing.T) {
		r := run(t, nil)
		a, o, w := r.agent(t), r.client(t, OperatorSocket), r.client(t, OperatorSocket)
		waited := make(chan error, 1)
		go func() { waited <- w.Call(t.Context(), "inbox.wait", inboxSince{5}, nil) }()
		must(t, o.Call(t.Context(), "shutdown", nil, nil))
		must(t, <-r.err)
		<-waited // answered or not, it does not hang
		if err := a.Call(t.Context(), "status", nil, nil); err == nil {
			t.Error("a session outlives the server")
		}
		if _, err := os.Lstat(r.path(AgentSocket)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is left: %v", err)
		}
		if _, err := Listen(r.dir, Options{Agents: r.fake, Operator: operator{r.fake}}); !is(err, Busy) {
			t.Errorf("before Close: %v", err)
		}
		must(t, r.Close())
		s := unwrap(Listen(r.dir, Options{Agents: r.fake, Operator: operator{r.fake}}))(t)
		must(t, s.Close())
		if err := s.Serve(t.Context()); !is(err, NotRunning) {
			t.Errorf("Serve after Close: %v", err)
		}
	})
	t.Run("ctx", func(t *testing.T) {
		f := newFake()
		s := unwrap(Listen(filepath.Join(t.TempDir(), "run"), Options{Agents: f, Operator: operator{f}}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must(t, s.Serve(ctx))
		must(t, s.Close())
	})
	t.Run("idle", func(t *testing.T) {
		r := runWith(t, 20*time.Millisecond, nil)
		a := r.agent(t)
		snapshot(r.fake, func() int { r.fake.pending = 1; return 0 })
		time.Sleep(60 * time.Millisecond)
		must(t, a.Call(t.Context(), "status", nil, nil)) // a connection keeps it
		must(t, a.Close())
		for snapshot(r.fake, func() int { return len(r.fake.touched) }) < 2 { // a question keeps it
			time.Sleep(time.Millisecond)
		}
		select {
		case err := <-r.err:
			t.Fatalf("it ended with a question pending: %v", err)
		default:
		}
		snapshot(r.fake, func() int { r.fake.pending = 0; return 0 })
		must(t, <-r.err)
	})
}

func TestManyCalls(t *testing.T) {
	r := run(t, nil)
	release := r.fake.hold("work/held")
	c := r.raw(t, AgentSocket)
	c.say(opening)
	c.hear()
	const sent = 200
	var lines []string
	for i := range sent {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"call","params":{"capability":"fs.read","target":"work/held"}}`, i+10))
	}
	c.say(lines...)
	for range sent - maxInFlight {
		if f := fault(t, c.hear()); f.Reason != string(TooManyRequests) {
			t.Fatal(f)
		}
	}
	release()
	for range maxInFlight {
		if got := c.hear(); !strings.Contains(got, `"status":"done"`) {
			t.Fatal(got)
		}
	}
	if asked := snapshot(r.fake, func() int { return r.fake.asked }); asked != maxInFlight {
		t.Errorf("%d calls reached the runtime", asked)
	}
	a := r.agent(t)
	var all sync.WaitGroup
	for range sent {
		all.Go(func() {
			var got Reply
			if err := a.Call(t.Context(), "call", CallParams{Capability: "fs.read", Target: "work/a"}, &got); err != nil || got.Status != "done" {
				t.Errorf("%+v: %v", got, err)
			}
		})
	}
	all.Wait()
}

func TestReplies(t *testing.T) {
	r := run(t, nil)
	a := r.agent(t)
	var got Reply
	must(t, a.Call(t.Context(), "call", CallParams{Capability: "fs.read", Target: "work/large"}, &got))
	if got.Status != "done" || got.Omitted <= roomForResults || !got.Result.IsZero() {
		t.Errorf("a large result: %s, %d omitted", got.Status, got.Omitted)
	}
	got = Reply{}
	must(t, a.Call(t.Context(), "call", CallParams{Target: "work/zero"}, &got))
	if got.Status != string(gate.Refused) {
		t.Errorf("no reply: %+v", got)
	}
	big := []gate.Reply{}
	for range 3 {
		big = append(big, gate.Reply{Status: gate.Done, Result: fmt.Appendf(nil, `{"content":%q}`, strings.Repeat("x", roomForResults/2))})
	}
	rs := repliesOf(big).Replies
	if rs[0].Omitted != 0 || rs[1].Omitted == 0 || rs[2].Omitted == 0 {
		t.Errorf("replies together: %d %d %d omitted", rs[0].Omitted, rs[1].Omitted, rs[2].Omitted)
	}
	var f *Fault
	if err := r.client(t, AgentSocket).Call(t.Context(), "session.open", OpenRequest{Agent: "broken"}, nil); !errors.As(err, &f) || f.Code != CodeInternal || strings.Contains(err.Error(), "/home") {
		t.Errorf("a cause is told to an agent: %v", err)
	}
	if err := r.client(t, OperatorSocket).Call(t.Context(), "session.stop", sessionID{"s-1"}, nil); !errors.As(err, &f) || f.Message != "disk full" {
		t.Errorf("a cause is not told to the operator: %v", err)
	}
}

func TestConnectionsBounded(t *testing.T) {
	r := run(t, func(s *Server) { s.limits.agents, s.limits.operators = 2, 1 })
	first := r.agent(t)
	r.agent(t)
	if f := fault(t, r.raw(t, AgentSocket).hear()); f.Reason != string(TooManyConnections) {
		t.Error(f)
	}
	must(t, r.client(t, OperatorSocket).Call(t.Context(), "status", nil, nil)) // agents do not keep the operator out
	must(t, first.Close())
	for {
		c := r.client(t, AgentSocket)
		err := c.Call(t.Context(), "session.open", OpenRequest{Agent: "third"}, nil)
		var f *Fault
		if err == nil {
			break
		} else if !errors.As(err, &f) || f.Reason != string(TooManyConnections) {
			t.Fatal(err)
		}
	}
}

func is(err error, want Reason) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == want
}
