package iff_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

var someTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// newHome makes a home with the corpus work at a directory of its own.
func newHome(t testing.TB) (dir, work string) {
	t.Helper()
	base := t.TempDir()
	dir, work = filepath.Join(base, "home"), filepath.Join(base, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	scheme, _ := label.Builtin("default")
	h, err := home.Init(t.Context(), dir, home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte("x y z"), Corpora: []home.CorpusPlan{{Name: "work", Root: work}}}, home.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, work
}

// nobody is there to be asked.
var nobody = iff.Options{Broker: broker.DenyAll{}}

func boot(t testing.TB, dir string, opts iff.Options) (*iff.Boot, *iff.Locked, *iff.Runtime) {
	t.Helper()
	b, err := iff.Bootstrap(t.Context(), dir, opts)
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
	return b, l, r
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func call(class, target, args string) iff.Call {
	return iff.Call{Capability: class, Target: target, Arguments: []byte(args)}
}

// A runtime over real files, from bootstrap to an offline verdict that says the
// same as the live one.
func TestRuntimeOverFiles(t *testing.T) {
	dir, work := newHome(t)
	write(t, filepath.Join(work, "a.md"), "old\n")
	write(t, filepath.Join(work, "skills/x/SKILL.md"), "---\nname: x\ndescription: does x\n---\n")
	adopt(t, dir, filepath.Join(work, "skills/x"))
	b, l, r := boot(t, dir, nobody)
	if err := b.Load(t.Context(), work); !errors.Is(err, iff.ErrLocked) {
		t.Errorf("a skill is loaded behind the lock: %v", err)
	}
	if _, err := b.Lock(); !errors.Is(err, iff.ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	if _, err := l.Start(t.Context()); !errors.Is(err, iff.ErrStarted) {
		t.Errorf("started twice: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("the boot closes what the runtime has: %v", err)
	}
	s, err := r.Open(t.Context(), "uid-1", iff.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call iff.Call
		want string
	}{
		{call("fs.read", "a.md", `{}`), "done "},
		{call("fs.write.rev", "a.md", `{"op":"write","content":"new\n"}`), "done "},
		{call("fs.write.rev", "b.md", `{"op":"append","content":"first\n"}`), "done "},
		{call("fs.write.rev", "b.md", `{"op":"append","content":"second\n"}`), "done "},
		{call("fs.write.irrev", "b.md", `{"op":"delete"}`), "denied no-broker"},
		{call("fs.write.rev", "skills/x/SKILL.md", `{"op":"write","content":"evil\n"}`), "denied no-broker"},
		{call("net.egress", "example.com", `{"url":"https://example.com/"}`), "denied host-unlabelled"},
		{call("publish", "news", `{}`), "denied no-host"},
		{call("fs.read", "../etc/passwd", `{}`), "denied call-malformed"},
	} {
		if got := s.Call(t.Context(), c.call); fmt.Sprint(got.Status, " ", got.Reason) != c.want {
			t.Errorf("%s %s: %+v", c.call.Capability, c.call.Target, got)
		}
	}
	if data, err := os.ReadFile(filepath.Join(work, "b.md")); err != nil || string(data) != "first\nsecond\n" {
		t.Errorf("b.md has %q, %v", data, err)
	}
	if report, err := r.Verdict(t.Context(), s.ID()); err != nil || report.Result != record.Pass {
		t.Errorf("%s %+v %v", report.Result, report.Findings, err)
	}
	write(t, filepath.Join(work, "c.md"), "stealth\n")
	write(t, filepath.Join(work, "skills/x/more.sh"), "stealth\n")
	write(t, filepath.Join(work, "claude.md"), "stealth\n")
	live, err := r.Verdict(t.Context(), s.ID())
	want := []string{"bypass work/c.md", "tamper work/claude.md", "tamper work/skills/x/more.sh"}
	if err != nil || live.Result != record.Fail || !slices.Equal(findings(live), want) {
		t.Errorf("%s %v %v", live.Result, findings(live), err)
	}
	closeIt(t, r)
	h, err := home.Open(t.Context(), dir, home.Read, home.Options{})
	if err != nil {
		t.Fatal(err)
	}
	offline, err := iff.Judge(t.Context(), h, iff.Asked{}, time.Now())
	if err != nil || offline.Result != record.Fail || !slices.Equal(findings(offline), want) {
		t.Errorf("offline: %s %v %v", offline.Result, findings(offline), err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	changedSkill(t, dir)
}

// changedSkill starts again: a skill that was changed is refused, and stays
// guarded.
func changedSkill(t *testing.T, dir string) {
	t.Helper()
	_, _, r := boot(t, dir, nobody)
	if len(r.Refused()) != 1 || len(r.Skills()) != 0 {
		t.Errorf("refused %v, loaded %v", r.Refused(), r.Skills())
	}
	s, err := r.Open(t.Context(), "uid-1", iff.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Call(t.Context(), call("fs.write.rev", "skills/x/more.sh", `{"op":"write","content":"x"}`)); got.Reason != gate.NoBroker {
		t.Errorf("nobody was asked: %+v", got)
	}
	closeIt(t, r)
}

func adopt(t *testing.T, dir, skill string) {
	t.Helper()
	h, err := home.Open(t.Context(), dir, home.Write, home.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Adopt(t.Context(), skill, home.AdoptOptions{})
	if err := errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
}

func closeIt(t *testing.T, r *iff.Runtime) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

func findings(r iff.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, string(f.Class)+" "+string(f.Object))
	}
	slices.Sort(out)
	return out
}

// A host of one's own: without a label nothing is written to what it has, and a
// class that iff has a host for is not given away.
func TestHostOfOnesOwn(t *testing.T) {
	dir, _ := newHome(t)
	own := map[capability.Capability]iff.Host{capability.Publish: new(board)}
	_, _, r := boot(t, dir, iff.Options{Hosts: own, Broker: broker.DenyAll{}})
	s, err := r.Open(t.Context(), "uid-1", iff.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Call(t.Context(), call("publish", "general", `{}`)); got.Reason != gate.Unlabelled {
		t.Errorf("%+v", got)
	}
	closeIt(t, r)
	outside := map[capability.Capability]string{capability.Publish: "PUBLIC"}
	_, _, r = boot(t, dir, iff.Options{Hosts: own, Broker: broker.DenyAll{}, Outside: outside})
	if s, err = r.Open(t.Context(), "uid-1", iff.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.Call(t.Context(), call("publish", "general", `{}`)); got.Reason != gate.NoBroker {
		t.Errorf("%+v", got)
	}
	closeIt(t, r)
	b, err := iff.Bootstrap(t.Context(), dir, iff.Options{Hosts: map[capability.Capability]iff.Host{capability.FSRead: new(board)}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "fs.read") {
		t.Errorf("fs.read was given away: %v", err)
	}
	_, _, r = boot(t, dir, nobody) // and the home was let go of
	closeIt(t, r)
}
