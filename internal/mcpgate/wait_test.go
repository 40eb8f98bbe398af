package mcpgate

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// told collects progress.
type told struct {
	mu  sync.Mutex
	all []*mcp.ProgressNotificationParams
}

func (k *told) take(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, r.Params)
}

func (k *told) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

func soon(o *Options, l *limits) {
	o.Wait, l.progress = 150*time.Millisecond, 20*time.Millisecond
}

func withToken(name string, args any) *mcp.CallToolParams {
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	p.SetProgressToken("t")
	return p
}

// settled makes a call again until it waits no more: its reply may come a moment after the answer.
func settled(t *testing.T, s *mcp.ClientSession, name string, args any) string {
	t.Helper()
	var got string
	eventually(t, func() bool {
		got = textOfResult(callTool(t, s, name, args))
		return !strings.HasPrefix(got, "pending")
	})
	return got
}

func TestPendingThenTheSameAgain(t *testing.T) {
	r := newRig(t, soon)
	var k told
	s := r.client(t, &mcp.ClientOptions{ProgressNotificationHandler: k.take})
	params := withToken("fs_read", map[string]any{"path": "ask.txt", "reasoning": "first"})
	got := unwrap(s.CallTool(t.Context(), params))(t)
	if got.IsError || !strings.HasPrefix(textOfResult(got), "pending (request r1.1): it waits for a person") {
		t.Fatalf("told %q", textOfResult(got))
	}
	eventually(t, func() bool { // a busy machine may not get to it in the first wait
		if k.count() < 2 {
			unwrap(s.CallTool(t.Context(), params))(t)
		}
		return k.count() > 1
	})
	k.mu.Lock()
	for i, p := range k.all {
		if !strings.Contains(p.Message, "r1.1") || i > 0 && p.Progress <= k.all[i-1].Progress {
			t.Errorf("progress %d is %+v", i, p)
		}
	}
	k.mu.Unlock()
	a := <-r.w.asked
	// Another call is another question; the same again is not.
	other := unwrap(s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "ask2.txt"}}))(t)
	if !strings.Contains(textOfResult(other), "r1.2") {
		t.Errorf("another call gives %q", textOfResult(other))
	}
	again := unwrap(s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "ask.txt", "reasoning": "second"}}))(t)
	if !strings.Contains(textOfResult(again), "pending (request r1.1)") {
		t.Errorf("the same again gives %q", textOfResult(again))
	}
	a.approve(`{"content":"secret\n"}`)
	if got := settled(t, s, "fs_read", map[string]any{"path": "ask.txt"}); got != "secret\n" {
		t.Errorf("after approval %q", got)
	}
	// The reply was kept for one; the next is a new call.
	if got := callTool(t, s, "fs_read", map[string]any{"path": "ask.txt"}); !strings.Contains(textOfResult(got), "r1.3") {
		t.Errorf("a third call gives %q", textOfResult(got))
	}
}

func TestReplyWaitsForWhoComesBack(t *testing.T) {
	r := newRig(t, soon)
	s := r.client(t, nil)
	callTool(t, s, "fs_read", map[string]any{"path": "ask"})
	(<-r.w.asked).approve(`{"content":"yes"}`)
	p := r.player(t, 0)
	time.Sleep(10 * time.Millisecond)
	if got := settled(t, s, "fs_read", map[string]any{"path": "ask"}); got != "yes" {
		t.Errorf("told %q", got)
	}
	if n := see(p, func() int { return len(p.calls) }); n != 1 {
		t.Errorf("%d calls were made", n)
	}
}

func TestCancelIsDeny(t *testing.T) {
	r := newRig(t, nil)
	s := r.client(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "ask"}})
		failed <- err
	}()
	a := <-r.w.asked
	cancel()
	if err := <-failed; err == nil {
		t.Error("the cancelled call has a result")
	}
	<-a.p.cancelled
	<-a.p.done
	// It was denied; who asks again asks anew.
	go func() { (<-r.w.asked).approve(`{"content":"x"}`) }()
	if got := callTool(t, s, "fs_read", map[string]any{"path": "ask"}); textOfResult(got) != "x" {
		t.Errorf("after a cancel %q", textOfResult(got))
	}
}

func TestCancelOfWhatNobodyIsAskedAbout(t *testing.T) {
	r := newRig(t, nil)
	c := r.raw(t)
	c.hello("2025-06-18")
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"a"}}}`)
	c.hear() // calls need not pass through the SDK from now on
	c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fs_delete","arguments":{"path":"hang"}}}`)
	a := <-r.w.asked
	// A client that gives up and tries again does not have it done twice.
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}` + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"fs_delete","arguments":{"path":"hang"}}}`)
	if got := c.hear(); !strings.Contains(got, `"id":3`) || !strings.Contains(got, "pending") {
		t.Errorf("the cancelled call is answered %s", got)
	}
	a.approve(`{}`)
	if got := c.hear(); !strings.Contains(got, `"id":4`) || !strings.Contains(got, `"status":"done"`) {
		t.Errorf("told %s", got)
	}
	p := r.player(t, 0)
	if n := see(p, func() int { return len(p.calls) }); n != 2 {
		t.Errorf("%d calls; two were asked for", n)
	}
}

func TestEndOfConnectionEndsSession(t *testing.T) {
	r := newRig(t, nil)
	c := r.raw(t)
	c.hello("2025-06-18")
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fs_read","arguments":{"path":"ask"}}}`)
	a := <-r.w.asked
	c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fs_write","arguments":{"path":"a","content":"b"}}}`)
	c.hear()
	must(t, c.conn.Close())
	p := r.player(t, 0)
	eventually(t, func() bool { return see(p, func() bool { return p.closed }) })
	<-a.p.cancelled
	if n := see(p, func() int { return p.commits }); n != 1 {
		t.Errorf("%d commits", n)
	}
}

func TestIdleEndsARound(t *testing.T) {
	r := newRig(t, func(o *Options, l *limits) { o.Idle = 30 * time.Millisecond })
	s := r.client(t, nil)
	p := func() *player { return r.player(t, 0) }
	callTool(t, s, "fs_read", map[string]any{"path": "a"})
	callTool(t, s, "fs_write", map[string]any{"path": "a", "content": "b"})
	eventually(t, func() bool { return see(p(), func() bool { return p().barriers == 1 && p().commits == 1 }) })
	if got := textOfResult(callTool(t, s, "end_round", nil)); !strings.Contains(got, "r1.2 done") {
		t.Errorf("end_round gives %q", got)
	}
	if n := see(p(), func() int { return p().commits }); n != 2 {
		t.Errorf("%d commits", n)
	}
	time.Sleep(80 * time.Millisecond)
	if n := see(p(), func() int { return p().commits }); n != 2 {
		t.Errorf("with nothing done since there are %d commits", n)
	}
}

func TestEndRoundThatWaits(t *testing.T) {
	r := newRig(t, soon)
	r.w.sticky = make(chan struct{})
	s := r.client(t, nil)
	callTool(t, s, "fs_write", map[string]any{"path": "a", "content": "b"})
	if got := textOfResult(callTool(t, s, "end_round", nil)); !strings.HasPrefix(got, "pending") || !strings.Contains(got, "call end_round again") {
		t.Fatalf("told %q", got)
	}
	close(r.w.sticky)
	if got := settled(t, s, "end_round", nil); !strings.Contains(got, "r1.1 done") {
		t.Errorf("told %q", got)
	}
}

func TestTwoAgentsAtOnce(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.client(t, nil), r.client(t, nil)
	done := make(chan string, 1)
	go func() { done <- textOfResult(callTool(t, a, "fs_read", map[string]any{"path": "ask"})) }()
	q := <-r.w.asked
	if got := textOfResult(callTool(t, b, "fs_read", map[string]any{"path": "b"})); got != "hello\n" {
		t.Errorf("the other agent hears %q", got)
	}
	_ = b.Close()
	q.approve(`{"content":"mine"}`)
	if got := <-done; got != "mine" {
		t.Errorf("the first agent hears %q", got)
	}
	p0, p1 := r.player(t, 0), r.player(t, 1)
	got := []int{see(p0, func() int { return len(p0.calls) }), see(p1, func() int { return len(p1.calls) })}
	if p0 == p1 || !slices.Equal(got, []int{1, 1}) {
		t.Errorf("calls %v", got)
	}
}
