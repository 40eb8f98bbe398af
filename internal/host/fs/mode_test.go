//go:build linux || darwin

package fs

import (
	"os"
	"syscall"
	"testing"

	"github.com/iff-run/iff/gate"
)

// there says whether something has a name.
func (b *bench) there(name string) bool {
	_, err := os.Lstat(b.in(name))
	return err == nil
}

// No call makes an object that its owner could not look at.
func TestModesKeepTheOwner(t *testing.T) {
	for _, c := range []struct {
		target, args string
		want         gate.Reason
	}{
		{"new", `{"op":"write","content":"","mode":"0000"}`, gate.ArgumentsBad},
		{"new", `{"op":"write","content":"","mode":"0377"}`, gate.ArgumentsBad},
		{"f", `{"op":"write","content":"","mode":"0200"}`, gate.ArgumentsBad},
		{"new", `{"op":"append","content":"","mode":"0044"}`, gate.ArgumentsBad},
		{"new", `{"op":"write","content":"","mode":"0400"}`, ""},
		{"made", `{"op":"mkdir","mode":"0000"}`, gate.ArgumentsBad},
		{"made", `{"op":"mkdir","mode":"0677"}`, gate.ArgumentsBad},
		{"made", `{"op":"mkdir","mode":"0377"}`, gate.ArgumentsBad},
		{"made", `{"op":"mkdir","mode":"0500"}`, ""},
		{"f", `{"op":"chmod","mode":"0000"}`, gate.ArgumentsBad},
		{"f", `{"op":"chmod","mode":"0377"}`, gate.ArgumentsBad},
		{"f", `{"op":"chmod","mode":"0400"}`, ""},
		{"d", `{"op":"chmod","mode":"0377"}`, gate.ArgumentsBad},
		{"d", `{"op":"chmod","mode":"0677"}`, gate.ArgumentsBad},
		{"d", `{"op":"chmod","mode":"0500"}`, ""},
	} {
		b := newBench(t)
		b.someFiles()
		before := b.states()
		o, err := b.call(write(t, c.target, c.args))
		if c.want != "" {
			wantReason(t, c.target+" "+c.args, err, c.want)
			b.same(before)
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.target, c.args, err)
			continue
		}
		b.asPlanned(o.Plan)
		if c.target == "d" {
			must(t, os.Chmod(b.in("d"), 0o700)) // so that the test can tidy up
		}
	}
}

// Any system call after a directory was made fails, or fails having done its
// work: the staging name is free again, without a recovery.
func TestMkdirLeavesNothing(t *testing.T) {
	for _, how := range []mood{refuses, pretends} {
		cases := 0
		for after := 1; ; after++ {
			b, f := newFaulty(t, t.TempDir())
			f.err = syscall.EACCES
			o := b.mustOrder(write(t, "new", `{"op":"mkdir"}`))
			f.reset(0, how)
			f.before = func(op string) {
				if op == "mkdir" {
					f.at = f.calls + 1 + after
				}
			}
			_, err := b.h.do(t.Context(), o)
			reached := f.calls >= f.at
			f.before = nil
			f.reset(0, well)
			b.noStaging()
			if err == nil && !b.there("new") || b.outcome(o.Plan) == "" {
				t.Errorf("call %d after mkdir: %v", after, err)
			}
			if !reached {
				break
			}
			cases++
		}
		if cases < 5 {
			t.Errorf("only %d calls came after mkdir", cases)
		}
	}
}
