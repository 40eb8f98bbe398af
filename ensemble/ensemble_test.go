package ensemble_test

import (
	"testing"

	"github.com/iff-run/iff/ensemble"
)

// newKit is shared by the runs of a test.
func newKit(t *testing.T) *ensemble.Kit {
	t.Helper()
	k, err := ensemble.NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func play(t *testing.T, k *ensemble.Kit, c ensemble.Config) ensemble.Result {
	t.Helper()
	r, err := k.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	if !r.AsWanted() {
		t.Errorf("%+v: %s, want %+v; odd %v; findings %+v", c, r.Verdict, r.Want, r.Odd, r.Report.Findings)
	}
	return r
}

func TestHonestRuns(t *testing.T) {
	k := newKit(t)
	for seed := range uint64(200) {
		play(t, k, ensemble.Sized(seed, ensemble.Honest))
	}
}

func TestFaults(t *testing.T) {
	k := newKit(t)
	for _, fault := range ensemble.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			for seed := range uint64(8) {
				play(t, k, ensemble.Sized(seed, fault))
			}
		})
	}
}
