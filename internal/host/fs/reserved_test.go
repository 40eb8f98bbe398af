//go:build linux || darwin

package fs

import (
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// theirs are names that some file system takes for one of the host's.
var theirs = []string{
	".iff-r1.2", ".iff-", ".IFF-r1.2", ".Iff-R1.2", "\uff0eiff-r1.2", ".\uff49\uff46\uff46-r1.2", ".\uff29\uff26\uff26\uff0dr1.2",
	".i\ufb00-r1.2", ".i\u200cff-r1.2", ".iff\ufe0f-r1.2", ".\U0001d422ff-r1.2",
}

func TestReserved(t *testing.T) {
	naive := 0
	for _, name := range theirs {
		if !reserved(name) {
			t.Errorf("%q is not reserved", name)
		}
		if strings.HasPrefix(strings.ToLower(name), Reserved) {
			naive++
		}
	}
	if naive == len(theirs) {
		t.Error("the planted bug, no folding but of case, was not noticed")
	}
	for _, name := range []string{".iff", ".iffy", ".iff_x", "iff-x", "x.iff-", ".iff\u2010x", ".i\u0301ff-", "\xff.iff-", "ü"} {
		if reserved(name) {
			t.Errorf("%q is reserved", name)
		}
	}
}

// Nothing at or below a name of the host is read, and nothing is opened for it.
func TestReservedAreNotRead(t *testing.T) {
	b, f := newFaulty(t, t.TempDir())
	b.mkdir("d")
	wide := false // a target can be spelled with more than ASCII
	for _, name := range theirs {
		for _, target := range []string{name, "d/" + name, name + "/x", "d/" + name + "/x/y"} {
			for _, args := range []string{`{}`, `{"op":"read"}`, `{"op":"list"}`, `{"op":"stat"}`} {
				to, err := capability.ParseTarget(capability.FSRead, target)
				if err != nil {
					continue // no target is spelled like that
				}
				env, err := capability.NewEnvelope(capability.Call{Target: to, Arguments: []byte(args)})
				must(t, err)
				wide = wide || strings.Contains(name, "\uff46")
				f.reset(0, well)
				_, err = b.h.Touches(env)
				wantReason(t, "touches "+target, err, gate.ArgumentsBad)
				_, err = b.h.Plan(t.Context(), env, nil)
				wantReason(t, "plan "+target, err, gate.ArgumentsBad)
				_, err = b.h.do(t.Context(), gate.Order{Phase: gate.Read, Envelope: env})
				wantReason(t, "do "+target, err, gate.ArgumentsBad)
				if f.calls != 0 {
					t.Errorf("%s: %d system calls", target, f.calls)
				}
			}
		}
	}
	if !wide {
		t.Error("no wide spelling was tried")
	}
}

func TestReservedAreNotListed(t *testing.T) {
	b := newBench(t)
	b.file("f", "")
	b.file(".iff", "")
	for _, name := range theirs {
		b.file(name, "secret")
	}
	got, err := b.read(".", `{"op":"list"}`)
	if want := `{"entries":[{"kind":"file","name":".iff"},{"kind":"file","name":"f"}]}`; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}

// Before each system call of a write somebody tries to see the staged bytes by
// the name that they have, which he may know.
func TestStagedBytesAreNotRead(t *testing.T) {
	b, f := newFaulty(t, t.TempDir())
	b.file("high.key", "old")
	o := b.mustOrder(write(t, "high.key", `{"op":"write","content":"SECRET"}`))
	peeking, seen := false, 0
	f.before = func(string) {
		if peeking {
			return
		}
		peeking = true
		defer func() { peeking = false }()
		if b.there(staging) {
			seen++
		}
		for target, args := range map[string]string{staging: `{}`, strings.ToUpper(staging): `{}`, ".": `{"op":"list"}`} {
			got, err := b.read(target, args)
			if strings.Contains(got, "SECRET") || strings.Contains(got, staging) || target != "." && err == nil {
				t.Errorf("%s %s: %s", target, args, got)
			}
		}
		if got, err := b.read(staging, `{"op":"stat"}`); err == nil {
			t.Errorf("stat: %s", got)
		}
	}
	_, err := b.h.do(t.Context(), o)
	must(t, err)
	if seen == 0 {
		t.Error("nothing was ever staged")
	}
}

// told is what the agent hears of a call planned now.
func (b *bench) told(env capability.Envelope) string {
	b.Helper()
	r, err := b.h.do(b.Context(), b.mustOrder(env))
	must(b, err)
	return string(r.Data)
}

// A reply to a write tells what the call alone decides, and no refusal a state:
// the object's label may be above the session's mark.
func TestRepliesTellNothingOfBefore(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	state := func(name string) string { return `{"state":"` + string(b.states()[corpus.Object("work/"+name)]) + `"}` }
	for _, c := range []struct{ target, args, tells string }{
		{"f", `{"op":"append","content":"x"}`, ""}, {"new", `{"op":"append","content":"x"}`, ""},
		{"f", `{"op":"chmod","mode":"0600"}`, ""}, {"d", `{"op":"chmod","mode":"0700"}`, ""},
		{"f", `{"op":"rename","to":"moved"}`, ""}, {"moved", `{"op":"rename","to":"h"}`, ""},
		{"h", `{"op":"write","content":"x"}`, "h"}, {"made", `{"op":"mkdir"}`, "made"},
	} {
		got, want := b.told(write(t, c.target, c.args)), "{}"
		if c.tells != "" {
			want = state(c.tells)
		}
		if got != want {
			t.Errorf("%s %s tells %s, want %s", c.target, c.args, got, want)
		}
	}
	if got := b.told(write(t, "h", `{"op":"delete"}`)); got != `{"state":"absent"}` {
		t.Errorf("delete tells %s", got)
	}
	b.file("f", "old")
	o, err := b.call(envelope(t, capability.FSWriteRev, "f", `{"op":"write","content":"x"}`))
	must(t, err)
	if r, err := b.h.do(t.Context(), undone(o)); err != nil || string(r.Data) != "{}" {
		t.Errorf("undoing tells %s, %v", r.Data, err)
	}
}

func TestConflictsTellNoState(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	quiet := func(what string, err error) {
		t.Helper()
		wantReason(t, what, err, gate.Conflict)
		for o, s := range b.states() {
			if strings.Contains(err.Error(), string(s)) {
				t.Errorf("%s: %v tells the state of %s", what, err, o)
			}
		}
	}
	for _, args := range []string{`{"op":"write","content":"x","expect":"absent"}`, `{"op":"append","content":"x","expect":"absent"}`, `{"op":"delete","expect":"absent"}`} {
		_, err := b.order(write(t, "f", args))
		quiet(args, err)
	}
	for _, c := range [][2]string{
		{"f", `{"op":"write","content":"x"}`}, {"f", `{"op":"append","content":"x"}`}, {"f", `{"op":"chmod","mode":"0600"}`},
		{"d", `{"op":"delete","recursive":true}`}, {"d", `{"op":"rename","to":"e"}`},
	} {
		o := b.mustOrder(write(t, c[0], c[1]))
		b.file("f", "somebody's"+c[1])
		b.file("d/g", "somebody's"+c[1])
		_, err := b.h.do(t.Context(), o)
		quiet(c[0]+" "+c[1], err)
	}
	quiet("clean", b.h.Clean(t.Context(), "work/.", "f"))
}
