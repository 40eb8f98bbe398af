package verdict_test

import (
	"testing"

	"github.com/iff-run/iff/verdict"
	"github.com/iff-run/iff/verdict/verdicttest"
)

func TestCases(t *testing.T) {
	for _, c := range verdicttest.Cases() {
		if got := brief(judge(standard(c.Start), parse(t, c.Log), c.End)); got != c.Want {
			t.Errorf("%s: %s\n\twant %s", c.Name, got, c.Want)
		}
	}
}

// TestEveryClass keeps a case for each class.
func TestEveryClass(t *testing.T) {
	seen := map[verdict.Class]bool{}
	for _, c := range verdicttest.Cases() {
		for _, f := range judge(standard(c.Start), parse(t, c.Log), c.End).Findings {
			seen[f.Class] = true
		}
	}
	for _, class := range verdict.Classes() {
		if !seen[class] {
			t.Errorf("no case is %s", class)
		}
	}
}
