package runtime_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

func keyed(c gate.Call, key string) gate.Call { c.Key = key; return c }

// A session that a crash interrupted is taken up with its id, skill and keys, by
// its principal alone.
func TestResume(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	s := use(w, "helper")
	done, denied, back := keyed(call(irrev, "a.md", write), "k1"), keyed(call(irrev, "AGENTS.md", remove), "k2"), keyed(call(rev, "notes/b.md", write), "k3")
	first := s.Call(t.Context(), done)
	second := s.Call(t.Context(), denied)
	s.Call(t.Context(), back)
	if replies, err := s.Rollback(t.Context()); err != nil || len(replies) != 1 {
		t.Errorf("%+v %v", replies, err)
	}
	w.crash()
	w = e.start()
	for _, c := range []struct {
		who runtime.Principal
		id  string
	}{{"somebody else", s.ID()}, {"agent of helper", "s1.99"}, {"", s.ID()}} {
		if _, err := w.rt.Open(t.Context(), c.who, runtime.OpenOptions{Resume: c.id}); err == nil {
			t.Errorf("%+v was taken up", c)
		}
	}
	again, err := w.rt.Open(t.Context(), s.Agent(), runtime.OpenOptions{Resume: s.ID()})
	w.must(err)
	at, err := w.rt.Standing(s.ID())
	if err != nil || again.ID() != s.ID() || at.Skill != "helper" || at.Level != "declared" {
		t.Errorf("%+v %v", at, err)
	}
	if _, err := w.rt.Open(t.Context(), s.Agent(), runtime.OpenOptions{Resume: s.ID()}); !errors.Is(err, &gate.SessionError{Reason: gate.SessionUnknown}) {
		t.Errorf("taken up twice: %v", err)
	}
	before := w.tree()
	if r := again.Call(t.Context(), done); r.Request != first.Request || r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
	if r := again.Call(t.Context(), denied); r.Request != second.Request || r.Status != gate.Denied {
		t.Errorf("%+v", r)
	}
	if r := again.Call(t.Context(), back); r.Status == gate.Done {
		t.Errorf("what was put back is told as done: %+v", r)
	}
	if r := again.Call(t.Context(), keyed(call(irrev, "a.md", remove), "k1")); r.Reason != gate.KeyReused {
		t.Errorf("%+v", r)
	}
	if w.tree() != before {
		t.Error("something was done again")
	}
	if r := again.Call(t.Context(), call(rev, "notes/c.md", write)); r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
	if w.verdict(s.ID()) != record.Pass {
		t.Error("not PASS")
	}
	w.stop()
}

// A pause outlives a crash. What nobody takes up again is closed.
func TestResumePaused(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	s, left := w.session("agent"), w.session("other")
	w.must(w.rt.Pause(t.Context(), s.ID()))
	w.crash()
	w = e.start()
	if n := len(w.rt.Interrupted()); n != 2 {
		t.Errorf("%d are interrupted", n)
	}
	again, err := w.rt.Open(t.Context(), "agent", runtime.OpenOptions{Resume: s.ID()})
	w.must(err)
	if r := again.Call(t.Context(), call(rev, "a.md", write)); r.Reason != gate.SessionPaused {
		t.Errorf("%+v", r)
	}
	w.must(w.rt.Resume(t.Context(), s.ID()))
	if r := again.Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
	w.stop()
	w = e.start()
	if n := len(w.rt.Interrupted()); n != 0 {
		t.Errorf("%d are interrupted", n)
	}
	if _, err := w.rt.Open(t.Context(), "other", runtime.OpenOptions{Resume: left.ID()}); err == nil {
		t.Error("a session that was closed was taken up")
	}
	w.stop()
}

// secret gives what lies below secret/ the highest label.
func secret(w *world) {
	for i, c := range w.parts.Corpora {
		w.parts.Corpora[i].Label = func(path string) label.Label {
			if strings.HasPrefix(path, "secret") {
				return template.scheme.Top()
			}
			return c.Label(path)
		}
	}
}

// What a principal was given and has read follows it, until an operator clears
// that.
func TestLevelAndMarkFollow(t *testing.T) {
	e := newEnv(t)
	e.write(e.work+"/secret/s.md", "s\n")
	w := e.start(secret)
	s := w.session("agent")
	_, err := s.Use(t.Context(), "wild")
	w.must(err)
	if r := s.Call(t.Context(), call("fs.read", "secret/s.md", `{}`)); r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
	_, err = s.Use(t.Context(), "")
	w.must(err)
	holds := func(w *world, s *runtime.Session, level string, why gate.Reason) {
		t.Helper()
		if at, err := w.rt.Standing(s.ID()); err != nil || at.Level != level {
			t.Errorf("%+v %v", at, err)
		}
		if r := s.Call(t.Context(), call(irrev, "notes/c.md", write)); r.Reason != why {
			t.Errorf("%+v, not %q", r, why)
		}
	}
	holds(w, s, "unverified", gate.SinkBelowMark)
	holds(w, w.session("agent"), "unverified", gate.SinkBelowMark)
	holds(w, w.session("another"), "declared", "")
	w.crash()
	w = e.start(secret)
	holds(w, w.session("agent"), "unverified", gate.SinkBelowMark)
	again, err := w.rt.Open(t.Context(), "agent", runtime.OpenOptions{Resume: s.ID()})
	w.must(err)
	holds(w, again, "unverified", gate.SinkBelowMark)
	w.must(w.rt.Forgive("agent", "me"))
	holds(w, again, "declared", "")
	w.stop()
	w = e.start(secret)
	holds(w, w.session("agent"), "declared", "")
	w.stop()
}
