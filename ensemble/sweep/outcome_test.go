package sweep

import (
	"strings"
	"testing"

	"github.com/iff-run/iff/ensemble"
)

// accepted says which of the lines are taken that cannot be true of their run.
func accepted(t *testing.T, p Plan, read func(line) error) []string {
	t.Helper()
	clean := line{Run: 0, Verdict: "PASS", Classes: []string{}, Calls: 10, Literal: true, Set: true, AsWanted: true}
	fault := line{Run: 1, Fault: string(p.At(1).Config().Fault), Verdict: "FAIL", Classes: []string{"bypass", "drift"}, Calls: 10, AsWanted: true}
	for _, l := range []line{clean, fault} {
		if _, err := l.outcome(p); err != nil {
			t.Errorf("a line that holds is refused: %v", err)
		}
	}
	other := map[ensemble.Fault]ensemble.Fault{ensemble.BypassInside: ensemble.BypassOutside, ensemble.BypassOutside: ensemble.BypassInside}
	var out []string
	for name, c := range map[string]struct {
		from line
		bend func(*line)
	}{
		"control":     {fault, func(l *line) { l.Classes = []string{"\x1b[2J"} }},
		"class":       {fault, func(l *line) { l.Classes = []string{"bypass", "fine"} }},
		"order":       {fault, func(l *line) { l.Classes = []string{"drift", "bypass"} }},
		"twice":       {fault, func(l *line) { l.Classes = []string{"drift", "drift"} }},
		"found, PASS": {clean, func(l *line) { l.Classes = []string{"drift"} }},
		"none, FAIL":  {fault, func(l *line) { l.Classes = nil }},
		"none, OPEN":  {clean, func(l *line) { l.Verdict = "OPEN" }},
		"pick":        {fault, func(l *line) { l.Fault = string(other[ensemble.Fault(l.Fault)]) }},
		"odd":         {clean, func(l *line) { l.Odd = 1 }},
		"not as sets": {clean, func(l *line) { l.Set = false }},
	} {
		c.bend(&c.from)
		if read(c.from) == nil {
			out = append(out, name)
		}
	}
	return out
}

// TestLinesThatCannotBe refuses what no run of that number comes to: what a table says
// is of a verdict, and goes to a terminal.
func TestLinesThatCannotBe(t *testing.T) {
	p := small(1)
	real := func(l line) error { _, err := l.outcome(p); return err }
	if taken := accepted(t, p, real); len(taken) > 0 {
		t.Errorf("taken: %s", strings.Join(taken, ", "))
	}
	careless := func(l line) error { // looks at what is not a word
		l.Classes = []string{"bypass"}
		return real(l)
	}
	if len(accepted(t, p, careless)) == 0 {
		t.Error("the check lets a careless reader pass")
	}
}
