package verdict_test

import (
	"testing"

	"github.com/iff-run/iff/verdict/verdicttest"
)

// TestAgreesWithChecker compares with the independent checker over a sample of
// what verdict/compare runs.
func TestAgreesWithChecker(t *testing.T) {
	results := map[string]int{}
	for seed := range uint64(samples) {
		l := verdicttest.Random(seed)
		if words := verdicttest.Compare(l); words != "" {
			t.Fatalf("seed %d:\n%s", seed, words)
		}
		results[string(l.Judge().Result)]++
	}
	for _, r := range []string{"PASS", "FAIL", "OPEN"} {
		if results[r] < samples/40 {
			t.Errorf("only %d logs are %s: the sample shows little", results[r], r)
		}
	}
}
