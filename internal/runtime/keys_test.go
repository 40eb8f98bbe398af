package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
)

// A key outlives its session and the process: in a new session too nothing is
// done twice.
func TestKeysOutliveARestart(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	s := w.session("agent")
	done, denied := keyed(call(irrev, "a.md", attach), "P1"), keyed(call(irrev, "AGENTS.md", remove), "P2")
	read := keyed(call("fs.read", "notes/b.md", `{}`), "P3")
	first, second, third := s.Call(t.Context(), done), s.Call(t.Context(), denied), s.Call(t.Context(), read)
	if first.Status != gate.Done || second.Status != gate.Denied || third.Status != gate.Done {
		t.Fatalf("%+v %+v %+v", first, second, third)
	}
	for round := range 2 {
		w.crash()
		w = e.start()
		s = w.session("agent")
		for _, c := range []struct {
			call  gate.Call
			first gate.Reply
		}{{done, first}, {denied, second}, {read, third}} {
			if r := s.Call(t.Context(), c.call); r.Request != c.first.Request || r.Status != c.first.Status || r.Reason != c.first.Reason || r.Message == "" || r.Result != nil {
				t.Errorf("round %d: %+v, not %+v", round, r, c.first)
			}
		}
		if r := s.Call(t.Context(), keyed(call(irrev, "a.md", write), "P1")); r.Reason != gate.KeyReused {
			t.Errorf("round %d: %+v", round, r)
		}
		if text := e.read(e.work + "/a.md"); text != "a\nevil\n" {
			t.Errorf("round %d: %q", round, text)
		}
	}
	if r := w.session("another").Call(t.Context(), done); r.Status != gate.Done || r.Request == first.Request {
		t.Errorf("another principal's key: %+v", r)
	}
	w.stop()
}

// What a crash left undecided is refused, and not asked about again.
// What a runtime records as it starts, the first too, is signed before it takes a
// call: what the corpora were cannot be rewritten without the log's key.
func TestStartIsSigned(t *testing.T) {
	w := newEnv(t).start()
	if signed, all := w.parts.Log.View().Size(), w.parts.Log.State().Size(); signed != all-1 {
		t.Errorf("%d records are signed of %d, of which the last is the checkpoint", signed, all)
	}
}

func TestKeysOfUndecidedCalls(t *testing.T) {
	e := newEnv(t)
	w := e.start()
	s := w.session("agent")
	busy, free := w.ask.hang()
	asked := keyed(call(rev, "AGENTS.md", attach), "Q1")
	go s.Call(t.Context(), asked)
	<-busy
	w.crash(free)
	w = e.start()
	if r := w.session("agent").Call(t.Context(), asked); r.Status != gate.Refused || r.Reason != gate.SessionEnded {
		t.Errorf("%+v", r)
	}
	if len(w.ask.questions()) > 0 {
		t.Error("it was asked again")
	}
	w.stop()
}

// What is dropped is dropped from the old end.
func TestNewestKeysAreKnown(t *testing.T) {
	w := newEnv(t).start()
	s := w.session("agent")
	for i := range 5 {
		s.Call(t.Context(), keyed(call("fs.read", "a.md", `{}`), fmt.Sprint("k", i)))
	}
	s.Call(t.Context(), keyed(call("fs.read", "notes/b.md", `{}`), "k3"))
	names := func(keys int, records int64) string {
		t.Helper()
		known, err := runtime.LearnKeys(t.Context(), w.rt, keys, records)
		w.must(err)
		var out []string
		for _, k := range known {
			if k.Agent != "agent" || k.Reply.Status != gate.Done || k.Envelope != known[0].Envelope {
				t.Errorf("%+v", k)
			}
			out = append(out, k.Key)
		}
		return strings.Join(out, " ")
	}
	for keys, want := range map[int]string{100: "k0 k1 k2 k3 k4", 5: "k0 k1 k2 k3 k4", 3: "k2 k3 k4", 1: "k4"} {
		if got := names(keys, runtime.MaxKeyRecords); got != want {
			t.Errorf("%d keys: %q", keys, got)
		}
	}
	w.stop()
}

// The cost of a start over 100,000 records without a key.
func BenchmarkLearntKeys(b *testing.B) {
	e := newEnv(b)
	w := e.start()
	for w.size() < 100_000 {
		var entries []record.Entry
		for i := range 1000 {
			id := fmt.Sprintf("r0.%d.%d", w.size(), i)
			entries = append(entries,
				record.Entry{Session: "s0", Request: id, Body: record.Request{
					Agent: "agent", Capability: irrev, Effect: "irreversible", Envelope: record.Hash{1}, Level: "declared", Mark: strings.Repeat("m", 40), Target: "notes/a.md", Plan: nil,
				}},
				record.Entry{Session: "s0", Request: id, Body: record.Decision{Broker: "gate", Cause: record.CauseLabel, Choice: record.Deny, Envelope: record.Hash{1}, Reason: "sink-below-mark", Profile: "dev"}})
		}
		_, err := w.parts.Log.Append(b.Context(), entries...)
		e.must(err)
	}
	for b.Loop() {
		keys, err := runtime.LearnKeys(b.Context(), w.rt, runtime.MaxKeys, runtime.MaxKeyRecords)
		e.must(err)
		if len(keys) > 0 {
			b.Fatal("nobody used a key")
		}
	}
	w.stop()
}
