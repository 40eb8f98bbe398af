//go:build linux || darwin

package fs

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// undone is the order that puts back what o did.
func undone(o gate.Order) gate.Order {
	o.Phase, o.Plan = gate.Rollback, o.Plan.Undo()
	return o
}

func TestRollback(t *testing.T) {
	for name, c := range map[string][2]string{
		"create":  {"new", `{"op":"write","content":"x"}`},
		"replace": {"f", `{"op":"write","content":"x"}`},
		"append":  {"f", `{"op":"append","content":"x"}`},
		"mkdir":   {"d/new", `{"op":"mkdir"}`},
		"nothing": {"f", `{"op":"write","content":"old"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.someFiles()
			before := b.states()
			o, err := b.call(envelope(t, capability.FSWriteRev, c[0], c[1]))
			must(t, err)
			_, err = b.h.do(t.Context(), undone(o))
			must(t, err)
			b.same(before)
			// A second time it finds another state.
			if name != "nothing" {
				_, err = b.h.do(t.Context(), undone(o))
				wantReason(t, "twice", err, gate.Conflict)
				b.same(before)
			}
		})
	}
}

func (b *bench) same(before map[corpus.Object]corpus.State) {
	b.Helper()
	now := b.states()
	for o, s := range before {
		if now[o] != s {
			b.Errorf("%s is %q, was %q", o, now[o], s)
		}
	}
	for o := range now {
		if before[o] == "" {
			b.Errorf("%s is new", o)
		}
	}
}

func TestRollbackOfDirectoryInUse(t *testing.T) {
	b := newBench(t)
	o, err := b.call(write(t, "d", `{"op":"mkdir"}`))
	must(t, err)
	b.file("d/x", "somebody's")
	_, err = b.h.do(t.Context(), undone(o))
	wantReason(t, "rollback", err, gate.Conflict)
	b.holds("d/x", "somebody's")
	b.noStaging()
}

// Somebody changes something between the plan and the act: nothing is done, and
// what he did survives.
func TestConflicts(t *testing.T) {
	edit := func(name string) func(*bench) {
		return func(b *bench) { b.file(name, "somebody's") }
	}
	for name, c := range map[string]struct {
		target, args string
		meanwhile    func(*bench)
	}{
		"edited":           {"f", `{"op":"write","content":"x"}`, edit("f")},
		"edited, append":   {"f", `{"op":"append","content":"x"}`, edit("f")},
		"edited, chmod":    {"f", `{"op":"chmod","mode":"0600"}`, edit("f")},
		"edited, delete":   {"f", `{"op":"delete"}`, edit("f")},
		"edited, rename":   {"f", `{"op":"rename","to":"d/x"}`, edit("f")},
		"edited, source":   {"f", `{"op":"rename","to":"d/g"}`, edit("f")},
		"edited, dest":     {"f", `{"op":"rename","to":"d/g"}`, edit("d/g")},
		"made":             {"new", `{"op":"write","content":"x"}`, edit("new")},
		"made, mkdir":      {"new", `{"op":"mkdir"}`, edit("new")},
		"made, dest":       {"f", `{"op":"rename","to":"new"}`, edit("new")},
		"in a tree":        {"d", `{"op":"delete","recursive":true}`, edit("d/g")},
		"more in a tree":   {"d", `{"op":"delete","recursive":true}`, edit("d/sub/more")},
		"in a moved tree":  {"d", `{"op":"rename","to":"e"}`, edit("d/g")},
		"more, moved tree": {"d", `{"op":"rename","to":"e"}`, edit("d/empty/more")},
		"less, moved tree": {"d", `{"op":"rename","to":"e"}`, func(b *bench) { must(b, os.Remove(b.in("d/g"))) }},
		"less in a tree":   {"d", `{"op":"delete","recursive":true}`, func(b *bench) { must(b, os.Remove(b.in("d/sub/link"))) }},
		"filled":           {"d/empty", `{"op":"delete"}`, edit("d/empty/more")},
		"mode":             {"f", `{"op":"write","content":"x"}`, func(b *bench) { must(b, os.Chmod(b.in("f"), 0o600)) }},
		"gone":             {"f", `{"op":"write","content":"x"}`, func(b *bench) { must(b, os.Remove(b.in("f"))) }},
		"a link now":       {"f", `{"op":"write","content":"x"}`, func(b *bench) { b.linkInstead("f") }},
		"parent is a link": {"d/g", `{"op":"write","content":"x"}`, func(b *bench) { b.linkInstead("d") }},
		"parent is gone":   {"d/new", `{"op":"mkdir"}`, func(b *bench) { must(b, os.Rename(b.in("d"), b.in("away"))) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.someFiles()
			o := b.mustOrder(write(t, c.target, c.args))
			c.meanwhile(b)
			before := b.states()
			_, err := b.h.do(t.Context(), o)
			wantReason(t, "do", err, gate.Conflict)
			b.same(before)
			b.noStaging()
		})
	}
}

func (b *bench) linkInstead(name string) {
	must(b, os.Rename(b.in(name), b.in("moved")))
	must(b, os.Symlink("moved", b.in(name)))
}

func TestHardLinkPlanted(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	o := b.mustOrder(write(t, "f", `{"op":"write","content":"x"}`))
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.Link(b.in("f"), outside))
	_, err := b.h.do(t.Context(), o)
	wantReason(t, "do", err, gate.Conflict)
	b.holds("f", "old")
}

func TestOrdersThatAreNone(t *testing.T) {
	b := newBench(t, "v/**")
	b.someFiles()
	b.mkdir("v")
	good := func() gate.Order { return b.mustOrder(write(t, "f", `{"op":"write","content":"x"}`)) }
	before := b.states()
	for name, spoil := range map[string]func(*gate.Order){
		"no phase":        func(o *gate.Order) { o.Phase = "" },
		"read":            func(o *gate.Order) { o.Phase = gate.Read },
		"no plan":         func(o *gate.Order) { o.Plan = gate.Plan{} },
		"no copies":       func(o *gate.Order) { o.Plan.After = nil },
		"no staging name": func(o *gate.Order) { o.Staging = "" },
		"a path":          func(o *gate.Order) { o.Staging = ".iff-x/../../y" },
		"another name":    func(o *gate.Order) { o.Staging = "f2" },
		"another object":  func(o *gate.Order) { o.Plan.Changes[0].Object = "work/h" },
		"other content":   func(o *gate.Order) { o.Plan.After[0] = corpus.NewCopy(o.Plan.After[0].Facts, "evil", nil) },
		"other bytes":     func(o *gate.Order) { o.Plan.After[0].Data = "evil" },
		"any":             func(o *gate.Order) { o.Plan.Changes[0].Before = corpus.Any },
		"two changes": func(o *gate.Order) {
			o.Plan.Changes = append(o.Plan.Changes, o.Plan.Changes[0])
			o.Plan.Before, o.Plan.After = append(o.Plan.Before, o.Plan.Before[0]), append(o.Plan.After, o.Plan.After[0])
		},
		"another envelope": func(o *gate.Order) { o.Envelope = write(t, "h", `{"op":"write","content":"x"}`) },
		"undoing a delete": func(o *gate.Order) {
			*o = undone(b.mustOrder(write(t, "f", `{"op":"delete"}`)))
		},
		"undoing without the copy": func(o *gate.Order) {
			*o = undone(*o)
			o.Plan.After[0].Cut, o.Plan.After[0].Data = true, ""
		},
	} {
		o := good()
		spoil(&o)
		if _, err := b.h.do(t.Context(), o); err == nil {
			t.Errorf("%s: it was done", name)
		}
		b.same(before)
	}
	o := good()
	b.file(staging, "taken")
	_, err := b.h.do(t.Context(), o)
	wantReason(t, "staging name taken", err, gate.AlreadyThere)
	b.holds(staging, "taken")
	_, err = b.h.do(t.Context(), b.mustOrder(write(t, "f", `{"op":"delete"}`)))
	wantReason(t, "staging name taken, delete", err, gate.AlreadyThere)
	b.holds("f", "old")
	must(t, os.Remove(b.in(staging)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.h.do(ended, good()); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	b.same(before)
	b.h.Close()
	_, err = b.h.do(t.Context(), o)
	wantReason(t, "closed", err, gate.HostFailed)
}

func TestLargeFiles(t *testing.T) {
	b := newBench(t)
	large := strings.Repeat("0123456789abcdef", (MaxCopy+16)/16)
	b.file("large", large)
	o := b.mustOrder(write(t, "large", `{"op":"append","content":"more"}`))
	if !o.Plan.Before[0].Cut || !o.Plan.After[0].Cut || o.Plan.Whole() || o.Plan.Size() != 0 {
		t.Error("a large copy was kept")
	}
	_, err := b.h.do(t.Context(), o)
	must(t, err)
	b.asPlanned(o.Plan)
	b.holds("large", large+"more")
	for _, args := range []string{`{"op":"chmod","mode":"0600"}`, `{"op":"write","content":"x"}`} {
		o, err = b.call(write(t, "large", args))
		must(t, err)
		b.asPlanned(o.Plan)
	}
	b.holds("large", "x")
	b.file("large", large)
	o, err = b.call(write(t, "large", `{"op":"rename","to":"moved"}`))
	must(t, err)
	b.asPlanned(o.Plan)
	// At the edge a file is kept, and the file after it is not.
	b.file("edge", strings.Repeat("x", MaxCopy))
	o, err = b.call(write(t, "edge", `{"op":"append","content":"x"}`))
	must(t, err)
	if o.Plan.Before[0].Cut || !o.Plan.After[0].Cut {
		t.Error("the edge is elsewhere")
	}
	b.asPlanned(o.Plan)
}

func TestLargeTrees(t *testing.T) {
	b := newBench(t)
	b.mkdir("d")
	for i := range MaxTree - 1 {
		b.file(filepath.Join("d", rand.Text()), string(rune('a'+i%26)))
	}
	o, err := b.call(write(t, "d", `{"op":"rename","to":"e"}`))
	must(t, err)
	if len(o.Plan.Changes) != 2*MaxTree {
		t.Errorf("%d changes", len(o.Plan.Changes))
	}
	b.asPlanned(o.Plan)
	b.file("e/one-more", "")
	_, err = b.order(write(t, "e", `{"op":"delete","recursive":true}`))
	wantReason(t, "too many", err, gate.TooMany)
	must(t, os.Remove(b.in("e/one-more")))
	o, err = b.call(write(t, "e", `{"op":"delete","recursive":true}`))
	must(t, err)
	b.asPlanned(o.Plan)
	b.gone("e")
}

// Many calls on different files of one directory at once.
func TestManyAtOnce(t *testing.T) {
	b := newBench(t)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			name := string(rune('a'+i%26)) + rand.Text()
			for _, content := range []string{"one", "two", "three"} {
				o, err := b.order(write(t, name, `{"op":"write","content":"`+content+`"}`))
				o.Staging = Reserved + name
				if err == nil {
					_, err = b.h.do(t.Context(), o)
				}
				if err != nil {
					t.Error(err)
				}
			}
			b.holds(name, "three")
		})
	}
	all.Wait()
	b.noStaging()
}
