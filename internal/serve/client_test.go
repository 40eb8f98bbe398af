package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// scripted is a server that answers every line with what say makes of it.
func scripted(t *testing.T, say func(n int, line string) string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.sock")
	l := unwrap(net.Listen("unix", path))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		f := newFrames(c, maxReply, 0, 0)
		for n := 0; ; n++ {
			line, err := f.next()
			if err != nil {
				return
			}
			if _, err := io.WriteString(c, say(n, string(line))); err != nil {
				return
			}
			if n == 9 {
				return
			}
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return path
}

func TestClientHearsNonsense(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":        "hello\n",
		"a notification":  `{"jsonrpc":"2.0","method":"x"}` + "\n",
		"both":            `{"error":{"code":1,"data":{"reason":"r"},"message":"m"},"id":1,"jsonrpc":"2.0","result":{}}` + "\n",
		"neither":         `{"id":1,"jsonrpc":"2.0"}` + "\n",
		"a duplicate key": `{"id":1,"id":1,"jsonrpc":"2.0","result":{}}` + "\n",
		"too long":        strings.Repeat(" ", maxReply+1) + "\n",
	} {
		c := unwrap(Dial(t.Context(), scripted(t, func(int, string) string { return text })))(t)
		if err := c.Call(t.Context(), "status", nil, nil); !is(err, ConnectionLost) {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Call(t.Context(), "status", nil, nil); err == nil {
			t.Errorf("%s: a lost connection answers", name)
		}
		must(t, c.Close())
	}
}

func TestClientEnds(t *testing.T) {
	r := run(t, nil)
	c := r.agent(t)
	r.fake.begun = make(chan string, 1)
	release := r.fake.hold("work/a")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-r.fake.begun; cancel() }()
	if err := c.Call(ctx, "call", CallParams{Capability: "fs.read", Target: "work/a"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ctx ended: %v", err)
	}
	if err := c.Call(ctx, "status", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ctx had ended: %v", err)
	}
	must(t, c.Call(t.Context(), "status", nil, nil)) // the connection goes on
	release()
	var f *Fault
	if err := c.Call(t.Context(), "call", CallParams{Reasoning: strings.Repeat("r", maxFrame)}, nil); err == nil {
		t.Error("a request that is too large is sent")
	}
	if err := c.Call(t.Context(), "barrier", nil, nil); !errors.As(err, &f) || f.Code != CodeMethod {
		t.Errorf("%v", err)
	}
	if err := c.Call(t.Context(), "status", nil, new(int)); err == nil {
		t.Error("a result of another shape is taken")
	}
	must(t, c.Close())
	must(t, c.Close())
	if err := c.Call(t.Context(), "status", nil, nil); !is(err, ConnectionLost) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := Dial(t.Context(), r.path("none.sock")); !is(err, NotRunning) {
		t.Errorf("no socket: %v", err)
	}
}

func TestClientLoses(t *testing.T) {
	path := scripted(t, func(n int, _ string) string { return "" })
	c := unwrap(Dial(t.Context(), path))(t)
	got := make(chan error, 10)
	for range 10 { // the server goes after the tenth
		go func() { got <- c.Call(t.Context(), "status", nil, nil) }()
	}
	for range 10 {
		if err := <-got; !is(err, ConnectionLost) {
			t.Error(err)
		}
	}
	must(t, c.Close())
}

// TestFaultsSayTheReasonOnce has messages that begin with their reason, as errors of other packages do.
func TestFaultsSayTheReasonOnce(t *testing.T) {
	for want, f := range map[string]*Fault{
		"answer-late: it ended":               {Reason: "answer-late", Message: "answer-late: it ended"},
		"answer-late: it ended; see why":      {Reason: "answer-late", Message: "it ended", Remedy: "see why"},
		"answer-late: answer-later: it ended": {Reason: "answer-late", Message: "answer-later: it ended"},
	} {
		if got := f.Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
