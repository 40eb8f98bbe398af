//go:build linux || darwin

package fs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

func newFaulty(t testing.TB, dir string) (*bench, *faulty) {
	t.Helper()
	s, err := system()
	must(t, err)
	f := &faulty{sys: s}
	b := benchOver(t, f, dir)
	f.reset(0, well)
	return b, f
}

// matrix are calls; undo does one and then tries to undo it.
var matrix = []struct {
	name, target, args string
	undo               bool
}{
	{"create", "new", `{"op":"write","content":"hello"}`, false},
	{"replace", "f", `{"op":"write","content":"hello"}`, false},
	{"append", "f", `{"op":"append","content":"er"}`, false},
	{"mkdir", "d/new", `{"op":"mkdir"}`, false},
	{"chmod", "f", `{"op":"chmod","mode":"0600"}`, false},
	{"chmod-dir", "d", `{"op":"chmod","mode":"0700"}`, false},
	{"delete", "f", `{"op":"delete"}`, false},
	{"delete-dir", "d/empty", `{"op":"delete"}`, false},
	{"delete-tree", "d", `{"op":"delete","recursive":true}`, false},
	{"rename", "f", `{"op":"rename","to":"d/x"}`, false},
	{"rename-tree", "d", `{"op":"rename","to":"e"}`, false},
	{"rename-onto", "f", `{"op":"rename","to":"d/g"}`, false},
	{"undo-create", "new", `{"op":"write","content":"hello"}`, true},
	{"undo-replace", "f", `{"op":"write","content":"hello"}`, true},
	{"undo-mkdir", "d/new", `{"op":"mkdir"}`, true},
}

// Each system call of each kind of call fails, fails having done its work, or is
// the last. Afterwards the object is as before or as planned; what is left
// under the staging name Recover explains, and then all objects are as before
// or all as planned. A call that failed without stopping leaves single objects
// in one of the two at once.
func TestFaults(t *testing.T) {
	for _, m := range matrix {
		t.Run(m.name, func(t *testing.T) {
			cases, inside := 0, 0
			for name, how := range moods {
				for at := 1; ; at++ {
					reached, between := faultAt(t, m.name, m.target, m.args, m.undo, name, how, at)
					if !reached {
						break
					}
					cases++
					if between {
						inside++
					}
				}
			}
			t.Logf("%d cases, in %d something lay under the staging name", cases, inside)
			if cases < 20 {
				t.Error("too few calls were counted")
			}
		})
	}
}

func faultAt(t *testing.T, name, target, args string, undo bool, moodName string, how mood, at int) (reached, between bool) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must(t, err)
	b, f := newFaulty(t, dir)
	defer b.h.Close()
	b.someFiles()
	o := b.mustOrder(write(t, target, args))
	if undo {
		_, err = b.h.do(t.Context(), o)
		must(t, err)
		o = undone(o)
	}
	f.reset(at, how)
	_, err = b.h.do(t.Context(), o)
	reached = f.calls >= at
	f.reset(0, well)
	where := fmt.Sprintf("%s, call %d %s (%v)", name, at, moodName, err)
	if !reached && err != nil {
		t.Errorf("%s: without a fault", where)
	}
	_, there := b.states()[corpus.Object("work/"+o.Staging)]
	_, there2 := b.states()[corpus.Object("work/d/"+o.Staging)]
	between = there || there2
	if len(o.Plan.Changes) == 1 && b.outcome(o.Plan) == "" {
		t.Errorf("%s: neither as before nor as planned", where)
	}
	if err == nil && b.outcome(o.Plan) != "planned" {
		t.Errorf("%s: done, and not as planned", where)
	}
	for range 2 { // the second finds nothing to do
		if err := b.h.Recover(t.Context(), o.Plan.Changes, o.Staging); err != nil {
			t.Errorf("%s: recovery: %v", where, err)
		}
	}
	if b.outcome(o.Plan) == "" {
		t.Errorf("%s: neither as before nor as planned after recovery", where)
	}
	b.noStaging()
	return reached, between
}

// outcome is before or planned, or nothing if it is neither.
func (b *bench) outcome(p gate.Plan) string {
	now := b.states()
	before, after := true, true
	for _, c := range p.Changes {
		state, ok := now[c.Object]
		if !ok {
			state = corpus.Absent
		}
		before, after = before && state.Is(c.Before), after && state.Is(c.After)
	}
	switch {
	case after:
		return "planned"
	case before:
		return "before"
	}
	return ""
}

// The matrix must notice a host that writes in place.
func TestFaultsCatchWritingInPlace(t *testing.T) {
	b, f := newFaulty(t, t.TempDir())
	b.someFiles()
	o := b.mustOrder(write(t, "f", `{"op":"write","content":"hello"}`))
	f.reset(2, stopsDead)
	fd, err := os.OpenFile(b.in("f"), os.O_WRONLY|os.O_TRUNC, 0)
	must(t, err)
	for data := []byte(o.Plan.After[0].Data); len(data) > 0; {
		n, err := f.write(int(fd.Fd()), data)
		if err != nil {
			break
		}
		data = data[n:]
	}
	must(t, fd.Close())
	f.reset(0, well)
	if b.outcome(o.Plan) != "" {
		t.Error("the planted bug was not noticed")
	}
}

func TestSyncs(t *testing.T) {
	for _, m := range matrix {
		b, f := newFaulty(t, t.TempDir())
		b.someFiles()
		o := b.mustOrder(write(t, m.target, m.args))
		f.reset(0, well)
		_, err := b.h.do(t.Context(), o)
		must(t, err)
		if f.syncs < 1 || f.syncs > 2 {
			t.Errorf("%s: %d syncs", m.name, f.syncs)
		}
	}
}

func TestDiskFull(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		b, f := newFaulty(t, t.TempDir())
		b.someFiles()
		before := b.states()
		o := b.mustOrder(write(t, "f", `{"op":"write","content":"hello"}`))
		f.reset(0, refuses)
		f.err = full
		f.before = func(op string) {
			if op == "write" {
				f.at = f.calls + 1
			}
		}
		_, err := b.h.do(t.Context(), o)
		wantReason(t, full.Error(), err, gate.NoRoom)
		f.before = nil
		f.reset(0, well)
		b.same(before)
		b.noStaging()
	}
}

// What somebody does in the very instant of an exchange is never lost.
func TestEditsInBetweenSurvive(t *testing.T) {
	s, err := system()
	must(t, err)
	for _, m := range matrix {
		if m.undo {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			for at := 1; ; at++ {
				reached, lost := editBefore(t, s, m.target, m.args, at)
				if lost {
					t.Errorf("before call %d of %s an edit was lost", at, m.name)
				}
				if !reached {
					return
				}
			}
		})
	}
}

func editBefore(t *testing.T, s sys, target, args string, at int) (reached, lost bool) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must(t, err)
	f := &faulty{sys: s}
	b := benchOver(t, f, dir)
	defer b.h.Close()
	b.someFiles()
	o := b.mustOrder(write(t, target, args))
	edited := ""
	f.reset(0, well)
	f.before = func(string) {
		if f.calls+1 == at {
			edited = b.editBySomebody(target)
		}
	}
	_, _ = b.h.do(t.Context(), o)
	f.before = nil
	return f.calls >= at, edited != "" && !b.anywhere("somebody's")
}

// careless replaces where it should exchange: the planted bug.
type careless struct{ sys }

func (c careless) swap(at int, name string, to int, as string) error {
	if err := c.unlink(to, as); err != nil {
		return err
	}
	return c.move(at, name, to, as)
}

func TestEditsCatchCarelessExchange(t *testing.T) {
	s, err := system()
	must(t, err)
	for at := 1; ; at++ {
		reached, lost := editBefore(t, careless{s}, "f", `{"op":"write","content":"x"}`, at)
		if lost {
			return
		}
		if !reached {
			t.Fatal("the planted bug was not noticed")
		}
	}
}

// Somebody edits in the instant before the names change, and the call stops
// dead some time after. Recovery keeps his edit, and if it cannot explain what
// is there, it says so and touches nothing.
func TestEditsAndStopsSurvive(t *testing.T) {
	for _, m := range matrix {
		if m.undo || strings.Contains(m.args, opMkdir) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			for at := 1; ; at++ {
				dir, err := os.MkdirTemp(t.TempDir(), "")
				must(t, err)
				b, f := newFaulty(t, dir)
				b.someFiles()
				o := b.mustOrder(write(t, m.target, m.args))
				f.reset(at, stopsDead)
				edited := ""
				f.before = func(op string) {
					if edited == "" && !f.stopped && (op == "move" || op == "swap" || op == "chmod") {
						edited = b.editBySomebody(m.target)
					}
				}
				_, _ = b.h.do(t.Context(), o)
				f.before = nil
				if f.calls < at {
					return
				}
				f.reset(0, well)
				err = b.h.Recover(t.Context(), o.Plan.Changes, o.Staging)
				if err != nil && reasonOf(err) != gate.Conflict {
					t.Errorf("%s, stopped at call %d: %v", m.name, at, err)
				}
				if edited != "" && !b.anywhere("somebody's") {
					t.Errorf("%s, stopped at call %d: the edit of %s was lost (%v)", m.name, at, edited, err)
				}
				b.h.Close()
			}
		})
	}
}

func TestLeftoverAndClean(t *testing.T) {
	b := newBench(t)
	b.mkdir("d")
	left := func() corpus.State {
		c, err := b.h.Leftover(t.Context(), "work/d", staging)
		must(t, err)
		return c.State()
	}
	clean := func(states ...corpus.State) error { return b.h.Clean(t.Context(), "work/d", staging, states...) }
	must(t, clean())
	if left() != corpus.Absent {
		t.Error("something is there")
	}
	b.file("d/"+staging, "x")
	state := left()
	wantReason(t, "another state", clean(corpus.Absent), gate.Conflict)
	must(t, clean(corpus.Absent, state))
	if left() != corpus.Absent {
		t.Error("it is still there")
	}
	b.mkdir("d/" + staging + "/x")
	if err := clean(left()); err == nil {
		t.Error("a directory in use was removed")
	}
	must(t, os.Symlink("/etc", b.in("d/.iff-link")))
	wantReason(t, "a link", b.h.Clean(t.Context(), "work/d", ".iff-link"), gate.Conflict)
	_, err := b.h.Leftover(t.Context(), "work/none", staging)
	wantReason(t, "no directory", err, gate.NotFound)
	_, err = b.h.Leftover(t.Context(), "other/d", staging)
	wantReason(t, "no corpus", err, gate.NoCorpus)
	must(t, b.h.Recover(t.Context(), nil, staging))
	must(t, b.h.Recover(t.Context(), []corpus.Change{{Object: "work/none/x", Before: corpus.Absent, After: state}}, staging))
}

// editBySomebody replaces the target, or a file in it, by rename, as editors do.
func (b *bench) editBySomebody(target string) string {
	if i, err := os.Lstat(b.in(target)); err == nil && i.IsDir() {
		target += "/g"
	}
	must(b, os.WriteFile(b.dir+"-edit", []byte("somebody's"), 0o644))
	if os.Rename(b.dir+"-edit", b.in(target)) != nil {
		return "" // its directory is gone, and so is the edit
	}
	return target
}

func (b *bench) anywhere(content string) bool {
	here := false
	must(b, filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if d.Type().IsRegular() {
			data, _ := os.ReadFile(path)
			here = here || string(data) == content
		}
		return err
	}))
	return here
}
