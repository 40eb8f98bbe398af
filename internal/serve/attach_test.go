package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/verdict"
)

// attach serves a runtime over a home and a corpus of its own.
func attach(t *testing.T) (run, work string) {
	t.Helper()
	base := t.TempDir()
	run, _ = attachIn(t, base, func(a *Attachment) Agents { return a })
	return run, filepath.Join(base, "work")
}

// attachIn serves one below a directory until end is called, at the latest by the test's end.
func attachIn(t *testing.T, base string, agents func(*Attachment) Agents) (run string, end func()) {
	t.Helper()
	dir, work := filepath.Join(base, "home"), filepath.Join(base, "work")
	must(t, os.Mkdir(work, 0o755))
	scheme, _ := label.Builtin("default")
	h := unwrap(home.Init(t.Context(), dir, home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte("x y z"), Corpora: []home.CorpusPlan{{Name: "work", Root: work}}}, home.Options{}))(t)
	run = h.SocketDir()
	must(t, h.Close())
	var at Attachment
	s := unwrap(Listen(run, Options{Agents: agents(&at), Operator: &at}))(t)
	r := unwrap(unwrap(unwrap(iff.Bootstrap(t.Context(), dir, iff.Options{}))(t).Lock())(t).Start(t.Context()))(t)
	at.Attach(r, time.Now())
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context()) }()
	end = sync.OnceFunc(func() {
		s.end()
		if err := errors.Join(<-served, r.Close(context.WithoutCancel(t.Context())), s.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return run, end
}

func call(t *testing.T, c *Client, class, target, arguments string) Reply {
	t.Helper()
	var r Reply
	must(t, c.Call(t.Context(), "call", CallParams{Capability: class, Target: target, Arguments: unwrap(canonical.NewRaw([]byte(arguments), canonical.Limits{}))(t)}, &r))
	return r
}

// TestAttached takes a session through a whole runtime, over both sockets.
func TestAttached(t *testing.T) {
	run, work := attach(t)
	agent, operator := unwrap(Dial(t.Context(), filepath.Join(run, AgentSocket)))(t), unwrap(Dial(t.Context(), filepath.Join(run, OperatorSocket)))(t)
	defer agent.Close()
	var opened Opened
	must(t, agent.Call(t.Context(), "session.open", OpenRequest{Agent: "test"}, &opened))
	me := Peer{UID: os.Getuid()}.Principal()
	if opened.Principal != me || opened.Session == "" || opened.Level == "" {
		t.Errorf("opened as %+v", opened)
	}
	if r := call(t, agent, "fs.write.rev", "a.md", `{"op":"write","content":"new\n"}`); r.Status != string(gate.Done) {
		t.Errorf("a write: %+v", r)
	}
	var s SessionStatus
	must(t, agent.Call(t.Context(), "status", nil, &s))
	if s.Session != opened.Session || s.State != "active" {
		t.Errorf("status %+v", s)
	}
	var list sessionList
	must(t, operator.Call(t.Context(), "session.list", nil, &list))
	if len(list.Sessions) != 1 || list.Sessions[0].Agent != "test" || list.Sessions[0].Principal != me || list.Sessions[0].Calls != 1 || list.Sessions[0].Committed != 1 {
		t.Errorf("sessions %+v", list)
	}
	if got := judged(t, operator, Asked{Session: opened.Session}); got.Result != "PASS" {
		t.Errorf("verdict %+v", got)
	}
	must(t, os.WriteFile(filepath.Join(work, "b.md"), []byte("stealth\n"), 0o644))
	got := judged(t, operator, Asked{})
	if got.Result != "FAIL" || len(got.Findings) != 1 || got.Findings[0].Class != verdict.Bypass || got.Findings[0].Object != "work/b.md" {
		t.Errorf("verdict %+v", got)
	}
	var undone Replies
	must(t, operator.Call(t.Context(), "session.rollback", sessionID{opened.Session}, &undone))
	if _, err := os.Lstat(filepath.Join(work, "a.md")); len(undone.Replies) != 1 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("rollback %+v, %v", undone, err)
	}
	must(t, operator.Call(t.Context(), "session.pause", sessionID{opened.Session}, nil))
	if r := call(t, agent, "fs.read", "b.md", `{}`); r.Reason != string(gate.SessionPaused) {
		t.Errorf("a call of a paused session: %+v", r)
	}
	must(t, operator.Call(t.Context(), "session.stop", sessionID{opened.Session}, nil))
	for method, params := range map[string]any{
		"session.show": sessionID{"s9.9"}, "session.pause": sessionID{"s9.9"}, "verdict": Asked{Session: "s9.9"},
		"call.settle": Settled{Request: "r9", Finding: "executed", Evidence: "I looked"}, "inbox.get": requestID{"r9"},
	} {
		var f *Fault
		if err := operator.Call(t.Context(), method, params, nil); !errors.As(err, &f) || f.Code == CodeInternal || f.Reason == "" {
			t.Errorf("%s of what there is not: %v", method, err)
		}
	}
	must(t, operator.Call(t.Context(), "shutdown", nil, nil))
	must(t, operator.Close())
}

// judged asks for a verdict.
func judged(t *testing.T, c *Client, asked Asked) verdict.Report {
	t.Helper()
	var got Verdict
	must(t, c.Call(t.Context(), "verdict", asked, &got))
	return unwrap(verdict.ParseReport([]byte(got.Report.String())))(t)
}

// TestWorst holds that what is left of many findings comes to the same result.
func TestWorst(t *testing.T) {
	all := []verdict.Finding{{Class: verdict.InDoubt}, {Class: verdict.Unread}, {Class: verdict.Bypass}, {Class: verdict.InDoubt}}
	if got := worst(all, 1); len(got) != 1 || !got[0].Class.Fails() || all[0].Class != verdict.InDoubt {
		t.Errorf("left of %v: %v", all, got)
	}
}
