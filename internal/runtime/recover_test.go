package runtime_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/record"
)

const cut = "r1.99" // the call that a crash cuts off

// cutOff appends the records of a call up to its intent, and crashes. It returns
// the session.
func (e *env) cutOff(plan func(w *world) []corpus.Change) string {
	e.Helper()
	w := e.start()
	return w.cutOff(plan(w), record.Payload{})
}

// cutOff is the same with what is planned, or where that is kept.
func (w *world) cutOff(plan []corpus.Change, rest record.Payload) string {
	w.Helper()
	s := w.session("agent")
	envelope := record.Hash(sha256.Sum256([]byte("the envelope")))
	var entries []record.Entry
	for _, b := range []record.Body{
		record.Request{
			Agent: "agent", Capability: irrev, Effect: "irreversible", Envelope: envelope, Level: "declared", Mark: template.scheme.Bottom().String(),
			Plan: plan, Rest: rest, Target: "a.md",
		},
		record.Decision{Broker: "level", Cause: record.CauseLevel, Choice: record.Approve, Envelope: envelope, Profile: "dev"},
		record.Intent{Attempt: 1, Envelope: envelope, Fence: w.rt.Fence(), Key: "k", Plan: plan, Rest: rest, Staging: ".iff-" + cut},
	} {
		entries = append(entries, record.Entry{Session: s.ID(), Request: cut, Body: b})
	}
	_, err := w.parts.Log.Append(w.Context(), entries...)
	w.must(err)
	w.crash()
	return s.ID()
}

// becomes is the change of a.md to a text.
func becomes(text string) func(*world) []corpus.Change {
	return func(w *world) []corpus.Change {
		path := filepath.Join(w.work, "a.md")
		before := w.state("work/a.md")
		w.env.write(path, text)
		after := w.state("work/a.md")
		w.env.write(path, "a\n")
		return []corpus.Change{{Object: "work/a.md", Before: before, After: after}}
	}
}

func renamed(w *world) []corpus.Change {
	before := w.state("work/a.md")
	return []corpus.Change{{Object: "work/a.md", Before: before, After: corpus.Absent}, {Object: "work/z.md", Before: corpus.Absent, After: before}}
}

// blind is an observer that cannot read an object.
type blind struct {
	*rehash.Observer
	object corpus.Object
	sees   bool
}

func (b *blind) Read(ctx context.Context, objects []corpus.Object) ([]corpus.State, error) {
	states, err := b.Observer.Read(ctx, objects)
	for i, o := range objects {
		if err == nil && o == b.object && !b.sees {
			states[i] = corpus.Unreadable
		}
	}
	return states, err
}

// Whatever a crash cut off is found out about by reading, and nothing is done
// again.
func TestCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		plan    func(*world) []corpus.Change
		crash   func(e *env) // what the host had done
		finding record.Finding
		result  record.Result
		gone    string // must not be there afterwards
	}{
		"executed":       {becomes("b\n"), func(e *env) { e.write(filepath.Join(e.work, "a.md"), "b\n") }, record.FoundExecuted, record.Pass, ""},
		"not executed":   {becomes("b\n"), func(*env) {}, record.FoundNotExecuted, record.Pass, ""},
		"no change":      {becomes("a\n"), func(*env) {}, record.FoundExecuted, record.Pass, ""},
		"conflict":       {becomes("b\n"), func(e *env) { e.write(filepath.Join(e.work, "a.md"), "c\n") }, record.FoundConflict, record.Fail, ""},
		"partial":        {renamed, func(e *env) { e.write(filepath.Join(e.work, "z.md"), "a\n") }, record.FoundPartial, record.Fail, ""},
		"renamed":        {renamed, func(e *env) { e.must(os.Rename(filepath.Join(e.work, "a.md"), filepath.Join(e.work, "z.md"))) }, record.FoundExecuted, record.Pass, ""},
		"made, not used": {becomes("b\n"), func(e *env) { e.write(filepath.Join(e.work, ".iff-"+cut), "b\n") }, record.FoundNotExecuted, record.Pass, ".iff-" + cut},
		"displaced": {becomes("b\n"), func(e *env) {
			e.must(os.Rename(filepath.Join(e.work, "a.md"), filepath.Join(e.work, ".iff-"+cut)))
			e.write(filepath.Join(e.work, "a.md"), "b\n")
		}, record.FoundExecuted, record.Pass, ".iff-" + cut},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			session := e.cutOff(c.plan)
			c.crash(e)
			w := e.start()
			before := w.tree()
			got := of[record.Resolved](w.records(0), cut)
			if len(got) != 1 || got[0].Finding != c.finding || got[0].By != "recovery" {
				t.Errorf("%+v", got)
			}
			if got := w.verdict(session); got != c.result {
				t.Errorf("%s, not %s", got, c.result)
			}
			if _, err := os.Lstat(filepath.Join(e.work, c.gone)); c.gone != "" && err == nil {
				t.Errorf("%s was left", c.gone)
			}
			if r := w.session("agent").Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.Done {
				t.Errorf("it is blocked: %+v", r)
			}
			w.stop()
			w = e.start() // nothing is found out twice
			if got := of[record.Resolved](w.records(0), cut); len(got) != 1 || w.tree() == before {
				t.Errorf("%+v", got)
			}
			w.stop()
		})
	}
}

// What cannot be found out stays OPEN, and its objects blocked, until somebody
// says what became of it.
func TestInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		crash func(e *env)
		blind bool
	}{
		"unreadable":  {func(*env) {}, true},
		"unexplained": {func(e *env) { e.write(filepath.Join(e.work, ".iff-"+cut, "whose"), "is this\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			session := e.cutOff(becomes("b\n"))
			c.crash(e)
			for range 2 { // a restart changes nothing
				w := e.start(func(w *world) { w.blinded(c.blind) })
				if r := w.session("agent").Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.Denied || r.Reason != gate.InDoubt {
					t.Errorf("%+v", r)
				}
				if r := w.session("agent").Call(t.Context(), call(irrev, "notes/b.md", write)); r.Status != gate.Done {
					t.Errorf("%+v", r)
				}
				report, err := w.rt.Verdict(t.Context(), session)
				w.must(err)
				if want := map[bool]record.Result{true: record.Open, false: record.Fail}[c.blind]; report.Result != want {
					t.Errorf("%s %+v", report.Result, report.Findings)
				}
				w.stop()
			}
			w := e.start(func(w *world) { w.blinded(c.blind) })
			settle(t, w, session, c.blind)
			w.stop()
			w = e.start()
			if len(w.rt.Gate().Doubts()) > 0 || len(of[record.Resolved](w.records(0), cut)) != 1 {
				t.Error("it is in doubt again")
			}
			w.stop()
		})
	}
}

func (w *world) blinded(is bool) {
	for i, c := range w.parts.Corpora {
		if c.Name == "work" {
			w.parts.Corpora[i].Observer = &blind{c.Observer.(*rehash.Observer), "work/a.md", !is}
		}
	}
}

func settle(t *testing.T, w *world, session string, was bool) {
	t.Helper()
	for _, bad := range []struct{ request, who, evidence string }{{"r9.9", "me", "I looked"}, {cut, "", "I looked"}, {cut, "me", ""}} {
		if err := w.rt.Settle(t.Context(), bad.request, bad.who, bad.evidence, record.FoundNotExecuted); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if err := w.rt.Settle(t.Context(), cut, "me", "I looked", "perhaps"); err == nil {
		t.Error("a finding that there is not was taken")
	}
	w.parts.Corpora[1].Observer.(*blind).sees = true
	w.must(os.RemoveAll(filepath.Join(w.work, ".iff-"+cut)))
	w.must(w.rt.Settle(t.Context(), cut, "me", "I looked", record.FoundNotExecuted))
	// What nobody could explain was there, and iff did not take it away.
	if got, want := w.verdict(session), map[bool]record.Result{true: record.Pass, false: record.Fail}[was]; got != want {
		t.Errorf("%s", got)
	}
	if r := w.session("agent").Call(t.Context(), call(rev, "a.md", write)); r.Status != gate.Done {
		t.Errorf("%+v", r)
	}
}

// A host that hangs when the log goes away leaves a call in doubt, and the next
// runtime finds out.
func TestHostHangs(t *testing.T) {
	for _, c := range []gate.Call{call(rev, "a.md", write), call(irrev, "a.md", write), call(irrev, "notes", to("memos")), call(irrev, "notes", tree)} {
		e := newEnv(t)
		w := e.start()
		s := w.session("agent")
		busy, free := w.files.hang()
		reply := later(w, s, c)
		<-busy
		w.crash(free)
		if r := <-reply; r.Status == gate.Done {
			t.Errorf("told as done, and not recorded: %+v", r)
		}
		w = e.start()
		if got := of[record.Resolved](w.records(0), ""); len(got) != 1 || got[0].Finding != record.FoundExecuted {
			t.Errorf("%s %s: %+v", c.Capability, c.Target, got)
		}
		if got := w.verdict(s.ID()); got != record.Pass {
			t.Errorf("%s", got)
		}
		w.stop()
	}
}

// Without the list of what an unfinished call was to change nobody can be kept
// from that, so nothing starts. The error names the call and the payload.
func TestCutOffWithoutItsPlan(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	var many []corpus.Change
	for i := range 1000 {
		many = append(many, corpus.Change{Object: corpus.Name("work", fmt.Sprintf("x%04d", i)), Before: corpus.Absent, After: corpus.Absent})
	}
	rest, err := w.parts.Log.Keep(t.Context(), record.FormatChanges(many))
	w.must(err)
	w.cutOff([]corpus.Change{}, rest)
	kept := filepath.Join(e.home, "log", "blob-"+rest.Digest.String())
	data := e.read(kept)
	e.must(os.Remove(kept))
	_, err = e.tryStart()
	var missing *audit.Error
	if !errors.As(err, &missing) || missing.Reason != audit.BlobMissing || !strings.Contains(err.Error(), "call "+cut+" of session ") || !strings.Contains(err.Error(), rest.Digest.String()) {
		t.Errorf("without the list: %v", err)
	}
	e.must(os.WriteFile(kept, []byte(data), 0o600))
	e.start().stop()
}
