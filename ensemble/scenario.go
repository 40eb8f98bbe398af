package ensemble

import (
	"math/rand/v2"

	"github.com/iff-run/iff/record"
)

// Scenario is a column of the table: runs in which nothing goes wrong, or in which
// one fault of a kind does. The zero value is no scenario.
type Scenario struct {
	Name   string  // closed token
	Title  string  // for people
	Faults []Fault // of which a run has one, by its seed; none in clean runs
	Blind  bool    // no verdict can see it (verdict.Unseen)
}

// PaperScenarios are the paper's five: clean runs, and its faults F1 to F4.
func PaperScenarios() []Scenario { return Scenarios()[:5] }

// Scenarios are all, the paper's first.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "clean", Title: "Clean pass"},
		{Name: "f1", Title: "F1 detect", Faults: []Fault{BypassOutside, BypassInside}},
		{Name: "f2", Title: "F2 detect", Faults: []Fault{FakeOutcome, FakeCall, FakeGrant}},
		{Name: "f3", Title: "F3 detect", Faults: []Fault{Silent}},
		{Name: "f4", Title: "F4 detect", Faults: []Fault{OtherTarget}},
		{Name: "swap", Title: "F4 as a swap", Faults: []Fault{Swap}},
		{Name: "f5", Title: "F5 detect", Faults: []Fault{OtherContent, LateContent}},
		{Name: "drift", Title: "Drift", Faults: []Fault{Drift, Stale}},
		{Name: "overlap", Title: "Overlap", Faults: []Fault{Overlap, OverlapAfter}},
		{Name: "offset", Title: "F1 + F2 offsetting", Faults: []Fault{Offset}},
		{Name: "partial", Title: "Partial effect", Faults: []Fault{Partial}},
		{Name: "approval", Title: "Forged approval", Faults: []Fault{FakeApproval}},
		{Name: "tamper", Title: "Tampering", Faults: []Fault{Tamper}},
		{Name: "crash", Title: "Crash", Faults: []Fault{Crash}},
		{Name: "blind", Title: "Not to be seen", Faults: []Fault{Restored, Erased, Unobserved}, Blind: true},
	}
}

// Config is a run of the scenario by the paper's cast. Its fault follows from the
// seed.
func (s Scenario) Config(n, k, r int, seed uint64) Config {
	c := Config{N: n, K: k, R: r, Seed: seed, Cast: Paper}
	if len(s.Faults) > 0 {
		c.Fault = s.Faults[rand.New(rand.NewPCG(seed, 1<<34)).IntN(len(s.Faults))]
	}
	return c
}

// Right says whether a criterion judged a run as it has to be judged: clean runs
// hold and faults do not; by ours they FAIL, for OPEN finds nothing. After a crash
// ours says PASS or OPEN; of the paper's definition nothing is asked then, as of nobody
// about what cannot be seen. A run that nobody judged is not right.
func (s Scenario) Right(r Result, c Criterion) bool {
	switch {
	case s.Name == "" || r.Verdict == "":
		return false
	case s.Blind:
		return true
	case len(s.Faults) == 0:
		return r.Holds(c)
	case r.Config.Fault == Crash:
		return c != ByIff || r.Verdict == record.Pass || r.Verdict == record.Open
	case c == ByIff:
		return r.Verdict == record.Fail
	}
	return !r.Holds(c)
}
