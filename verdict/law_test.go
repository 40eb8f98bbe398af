package verdict_test

import (
	"slices"
	"testing"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
	"github.com/iff-run/iff/verdict/verdicttest"
	"pgregory.net/rapid"
)

// TestHonestPasses is the theorem: where only leased calls write, each exactly as
// planned, and readings are right, the verdict is PASS.
func TestHonestPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		w := verdicttest.NewWorld(seed, 40, "")
		if r := w.Judge(); r.Result != record.Pass {
			t.Fatalf("an honest run: %s %v", r.Result, r.Findings)
		}
	})
}

// TestFaultsAreFound injects each fault that a verdict has to find.
func TestFaultsAreFound(t *testing.T) {
	for fault, classes := range verdicttest.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			applied := 0
			for seed := range uint64(400) {
				w := verdicttest.NewWorld(seed, 40, fault)
				if !w.Applied {
					continue
				}
				applied++
				r := w.Judge()
				want := record.Fail
				if fault == verdicttest.Unresolved || fault == verdicttest.Blinded {
					want = record.Open
				}
				if r.Result != want {
					t.Fatalf("seed %d: %s, want %s: %v", seed, r.Result, want, r.Findings)
				}
				for _, f := range r.Findings {
					if !slices.Contains(classes, string(f.Class)) {
						t.Fatalf("seed %d: %+v, want only %v", seed, f, classes)
					}
				}
			}
			if applied < 60 {
				t.Errorf("it came about only %d times", applied)
			}
		})
	}
}

// TestNotSeen keeps what a verdict cannot find, and that it says so.
func TestNotSeen(t *testing.T) {
	for fault, words := range map[verdicttest.Fault]string{
		verdicttest.Restored: "a change that was undone before the next reading of the object",
		verdicttest.Erased:   "a change that an approved overwrite erased before it was read",
	} {
		applied := 0
		for seed := range uint64(200) {
			w := verdicttest.NewWorld(seed, 40, fault)
			if w.Applied {
				applied++
			}
			if r := w.Judge(); r.Result != record.Pass || !slices.Contains(r.Unseen, words) {
				t.Errorf("%s, seed %d: %s without the words", fault, seed, r.Result)
			}
		}
		if applied < 50 {
			t.Errorf("%s came about only %d times", fault, applied)
		}
	}
}

var _ = verdict.Unseen
