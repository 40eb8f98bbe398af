package iff_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// newHome makes a home with the corpus work at a directory of its own.
func newHome(t testing.TB, ask string) (dir, work string) {
	t.Helper()
	base := t.TempDir()
	dir, work = filepath.Join(base, "home"), filepath.Join(base, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	scheme, ok := label.Builtin("default")
	if !ok {
		t.Fatal("no scheme")
	}
	h, err := home.Init(t.Context(), dir, home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte("x y z"), Corpora: []home.CorpusPlan{{Name: "work", Root: work}}}, home.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "iff.toml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, []byte(strings.Replace(string(text), `ask = "inbox"`, `ask = "`+ask+`"`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, work
}

func start(t testing.TB, dir string) *iff.Runtime {
	t.Helper()
	b, err := iff.Bootstrap(t.Context(), dir, iff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.Lock()
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRuntimeOverFiles(t *testing.T) {
	dir, work := newHome(t, "nobody")
	if err := os.WriteFile(filepath.Join(work, "a.md"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := start(t, dir)
	s, err := r.Open(t.Context(), "uid-1", iff.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(class, target, args string) iff.Reply {
		reply := s.Call(t.Context(), iff.Call{Capability: class, Target: target, Arguments: []byte(args)})
		t.Logf("%s %s %s: %s %s %q %s", class, target, args, reply.Status, reply.Reason, reply.Message, reply.Result)
		return reply
	}
	begin := time.Now()
	call("fs.read", "a.md", `{}`)
	call("fs.write.rev", "a.md", `{"op":"write","content":"new\n"}`)
	call("fs.write.rev", "b.md", `{"op":"append","content":"first\n"}`)
	call("fs.write.rev", "b.md", `{"op":"append","content":"second\n"}`)
	call("fs.write.irrev", "b.md", `{"op":"delete"}`)
	call("net.egress", "example.com", `{}`)
	call("fs.read", "../etc/passwd", `{}`)
	t.Log(time.Since(begin))
	report, err := r.Verdict(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %+v %+v", report.Result, report.Counts, report.Findings)
	if report.Result != record.Pass {
		t.Error("not PASS")
	}
	if err := os.WriteFile(filepath.Join(work, "c.md"), []byte("stealth\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	report, err = r.Verdict(t.Context(), s.ID())
	if err != nil || report.Result != record.Fail || len(report.Findings) != 1 || report.Findings[0].Class != "bypass" {
		t.Errorf("%v %s %+v", err, report.Result, report.Findings)
	}
	data, _ := os.ReadFile(filepath.Join(work, "b.md"))
	if string(data) != "first\nsecond\n" {
		t.Errorf("b.md has %q", data)
	}
	replies, err := s.Rollback(t.Context())
	t.Log(replies, err)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	h, err := home.Open(t.Context(), dir, home.Read, home.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	offline, err := iff.Judge(t.Context(), h, iff.Asked{}, time.Now())
	if err != nil || offline.Result != record.Fail {
		t.Errorf("offline: %v %s %+v", err, offline.Result, offline.Findings)
	}
}
