package ensemble_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
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
		t.Errorf("%+v: %s, wanted %+v; odd %v; findings %+v", c, r.Verdict, r.Want, r.Odd, r.Report.Findings)
	}
	return r
}

// The sample of what internal/honest does 100,000 times.
func TestHonestRuns(t *testing.T) {
	k := newKit(t)
	var sum verdict.Counts
	for seed := range uint64(150) {
		r := play(t, k, ensemble.Sized(seed, ensemble.Honest))
		if !r.Report.Paper.Equal {
			t.Errorf("seed %d: not equal by operation and target", seed)
		}
		c := r.Report.Counts
		sum.Reads, sum.Reversible, sum.Irreversible, sum.Asked = sum.Reads+c.Reads, sum.Reversible+c.Reversible, sum.Irreversible+c.Irreversible, sum.Asked+c.Asked
		sum.ByGrant, sum.Denied, sum.Failed, sum.NotTried = sum.ByGrant+c.ByGrant, sum.Denied+c.Denied, sum.Failed+c.Failed, sum.NotTried+c.NotTried
		sum.Dropped, sum.RolledBack = sum.Dropped+c.Dropped, sum.RolledBack+c.RolledBack
	}
	t.Logf("%+v", sum)
	for what, n := range map[string]int64{
		"read": sum.Reads, "committed": sum.Reversible, "executed": sum.Irreversible, "asked": sum.Asked, "by grant": sum.ByGrant,
		"denied": sum.Denied, "failed": sum.Failed, "not tried": sum.NotTried, "dropped": sum.Dropped, "rolled back": sum.RolledBack,
	} {
		if n < 5 {
			t.Errorf("%d calls were %s: the runs try too little", n, what)
		}
	}
}

// Every fault is flagged with its class on its objects, and would not pass for a
// run without it.
func TestFaults(t *testing.T) {
	k := newKit(t)
	for _, fault := range ensemble.Faults() {
		t.Run(string(fault), func(t *testing.T) {
			for seed := range uint64(5) {
				r := play(t, k, ensemble.Sized(seed, fault))
				if fault.Seen() {
					mistaken(t, r)
				}
			}
		})
	}
}

// mistaken plants mistakes of a verdict, which the check has to see.
func mistaken(t *testing.T, r ensemble.Result) {
	t.Helper()
	for what, plant := range map[string]func(*ensemble.Result){
		"nothing is wanted": func(r *ensemble.Result) { r.Config.Fault = ensemble.Honest },
		"it passed":         func(r *ensemble.Result) { r.Verdict, r.Report.Findings = record.Pass, nil },
		"it is open":        func(r *ensemble.Result) { r.Verdict = record.Open },
		"another class":     func(r *ensemble.Result) { r.Want.Class = verdict.Unread },
		"something else beside": func(r *ensemble.Result) {
			r.Report.Findings = append(r.Report.Findings, verdict.Finding{Class: verdict.InDoubt})
		},
		"another object": func(r *ensemble.Result) {
			r.Report.Findings = append(r.Report.Findings, verdict.Finding{Class: r.Want.Class, Object: "work/elsewhere"})
		},
		"something odd": func(r *ensemble.Result) { r.Odd = []string{"a call in doubt"} },
	} {
		m := r
		m.Report.Findings = slices.Clone(r.Report.Findings)
		if plant(&m); m.AsWanted() {
			t.Errorf("seed %d: %s, and that is as wanted", r.Config.Seed, what)
		}
	}
}

// What no verdict sees passes, and every report says so in words.
func TestWhatIsNotSeenIsNamed(t *testing.T) {
	k := newKit(t)
	for fault, words := range map[ensemble.Fault]string{
		ensemble.Restored:   "a change that was undone before the next reading of the object",
		ensemble.Erased:     "a change that an approved overwrite erased before it was read",
		ensemble.Unobserved: "objects outside the corpora, and volatile ones",
	} {
		r := play(t, k, ensemble.Sized(3, fault))
		if r.Verdict != record.Pass || !slices.Contains(r.Report.Unseen, words) {
			t.Errorf("%s: %s, unseen %q", fault, r.Verdict, r.Report.Unseen)
		}
		if len(r.Report.Corpora) != 1 || !slices.Contains(r.Report.Corpora[0].Volatile, "tmp/**") {
			t.Errorf("%s: the volatile objects are not named: %+v", fault, r.Report.Corpora)
		}
	}
}

// Faults that offset each other by operation and target are equal for the paper's
// check, and are found all the same.
func TestPaperIsNotEnough(t *testing.T) {
	k := newKit(t)
	for _, fault := range []ensemble.Fault{ensemble.Offset, ensemble.Swap} {
		if r := play(t, k, ensemble.Sized(5, fault)); !r.Report.Paper.Equal || r.Verdict != record.Fail {
			t.Errorf("%s: %s, %+v", fault, r.Verdict, r.Report.Paper)
		}
	}
}

// Crashes leave calls in doubt, and recovery finds out about them.
func TestCrashesStrikeCalls(t *testing.T) {
	k := newKit(t)
	var resolved, calls int64
	for seed := range uint64(40) {
		r := play(t, k, ensemble.Sized(seed, ensemble.Crash))
		resolved, calls = resolved+r.Report.Counts.Resolved, calls+r.Report.Counts.Calls
	}
	if resolved < 3 {
		t.Errorf("of %d calls %d were in doubt: the crashes strike elsewhere", calls, resolved)
	}
}

// With one agent nothing interleaves, and a run is the same again.
func TestSeedDecides(t *testing.T) {
	k := newKit(t)
	for seed := range uint64(5) {
		c := ensemble.Config{N: 20, K: 1, R: 20, Seed: seed, Fault: ensemble.Faults()[seed]}
		a, b := play(t, k, c), play(t, k, c)
		if a.Report.Counts != b.Report.Counts || a.Calls != b.Calls || !reflect.DeepEqual(a.Want, b.Want) {
			t.Errorf("seed %d: %+v, then %+v", seed, a.Report.Counts, b.Report.Counts)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := ensemble.Config{N: 1, K: 1, R: 1}
	k := newKit(t)
	play(t, k, good)
	for what, bad := range map[string]func(*ensemble.Config){
		"no files": func(c *ensemble.Config) { c.N = 0 }, "files": func(c *ensemble.Config) { c.N = ensemble.MaxN + 1 },
		"agents": func(c *ensemble.Config) { c.K = ensemble.MaxK + 1 }, "rounds": func(c *ensemble.Config) { c.R = -1 },
		"fault": func(c *ensemble.Config) { c.Fault = "earthquake" }, "directory": func(c *ensemble.Config) { c.Dir = "/nonexistent" },
	} {
		c := good
		bad(&c)
		if _, err := k.Run(t.Context(), c); err == nil {
			t.Errorf("%s: it ran", what)
		}
	}
	if _, err := new(ensemble.Kit).Run(t.Context(), good); err == nil {
		t.Error("a kit that nobody made runs")
	}
}

// A run leaves nothing behind, and what was there stays.
func TestDirectory(t *testing.T) {
	k, dir := newKit(t), t.TempDir()
	mine := dir + "/mine.txt"
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []ensemble.Fault{ensemble.Honest, ensemble.Tamper, ensemble.Crash} {
		c := ensemble.Sized(7, fault)
		c.Dir = dir
		play(t, k, c)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "mine.txt" {
		t.Errorf("%v %v", left, err)
	}
}

func TestSizes(t *testing.T) {
	var most ensemble.Config
	for seed := range uint64(2000) {
		c := ensemble.Sized(seed, "")
		if c.N < 1 || c.K < 1 || c.R < 1 {
			t.Fatalf("%+v", c)
		}
		most.N, most.K, most.R = max(most.N, c.N), max(most.K, c.K), max(most.R, c.R)
	}
	if most.N != ensemble.MaxN || most.K != ensemble.MaxK || most.R != ensemble.MaxR {
		t.Errorf("the largest are %+v", most)
	}
}

func TestFaultsAreWords(t *testing.T) {
	for _, f := range ensemble.Faults() {
		if f == "" || strings.ToLower(string(f)) != string(f) {
			t.Errorf("%q", f)
		}
	}
	if ensemble.Honest.Seen() || ensemble.Fault("earthquake").Seen() {
		t.Error("no fault is seen")
	}
}
