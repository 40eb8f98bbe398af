package sweep

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/record"
)

// allRight is what the paper's plan comes to if nothing is wrong.
func allRight(p Plan) []Outcome {
	out := make([]Outcome, p.Runs())
	for i := range out {
		c := p.At(i).Config()
		out[i] = Outcome{Fault: c.Fault, Verdict: record.Fail, AsWanted: true}
		if c.Fault == ensemble.Honest {
			out[i] = Outcome{Verdict: record.Pass, Literal: true, Set: true, AsWanted: true}
		}
	}
	return out
}

// TestLaTeX looks at the rows of the paper's table, in its order.
func TestLaTeX(t *testing.T) {
	p := Plan{Version: "0.1.0_x", Seed: 1, Seeds: 200, Cells: Cells(), Scenarios: ensemble.PaperScenarios()}
	outcomes := allRight(p)
	var out bytes.Buffer
	if err := Judge(p, outcomes, ensemble.ByIff).LaTeX(&out); err != nil {
		t.Fatal(err)
	}
	right := strings.Repeat(" & 1.000 [0.981, 1.000]", 5) + ` \\`
	rest := out.String()
	for _, line := range []string{
		`$N$ & $K$ & $R$ & Clean pass & F1 detect & F2 detect & F3 detect & F4 detect \\`, `\midrule`,
		`Varying corpus size $N$ ($K=4$, $R=10$)`, `10 & 4 & 10` + right, `50 & 4 & 10` + right, `200 & 4 & 10` + right, `\midrule`,
		`Varying agent count $K$ ($N=50$, $R=10$)`, `50 & 2 & 10` + right, `50 & 4 & 10` + right, `50 & 8 & 10` + right, `\midrule`,
		`Varying rounds $R$ ($N=50$, $K=4$)`, `50 & 4 & 5` + right, `50 & 4 & 10` + right, `50 & 4 & 25` + right, `\midrule`,
		`\multicolumn{3}{@{}l}{\textbf{Aggregate} ($n=5400$)}` + strings.Repeat(" & 1.000 [0.999, 1.000]", 5) + ` \\`, `\bottomrule`, `iff 0.1.0\_x`,
		`0 false alarms and 0 misses in 27000 runs`,
	} {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is not where it has to be in:\n%s", line, out.String())
		}
		rest = after
	}
	if n := strings.Count(out.String(), right); n != 9 {
		t.Errorf("%d rows and not 9", n)
	}
}

// TestTablesHaveAllCells reads them back, one run of a cell wrong.
func TestTablesHaveAllCells(t *testing.T) {
	p := Plan{Version: "1", Seed: 1, Seeds: 3, Cells: Cells(), Scenarios: ensemble.PaperScenarios()}
	outcomes := allRight(p)
	wrong := p.round() + 7*len(p.Scenarios) + 2 // the second run of f2 in the eighth cell
	outcomes[wrong].Verdict = record.Pass
	r := Judge(p, outcomes, ensemble.ByIff)
	var text bytes.Buffer
	if err := r.CSV(&text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 1+28*5 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	if got := strings.Join(rows[1+7*5+2], " "); got != "10 8 10 f2 2 3 0.667 0.208 0.939" {
		t.Error(got)
	}
	if got := strings.Join(rows[1+27*5+2], " "); got != "   f2 80 81 0.988 0.933 0.998" {
		t.Error(got)
	}
	text.Reset()
	if err := r.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, c := range Cells() {
		if !strings.Contains(text.String(), fmt.Sprintf("\n| %d | %d | %d | 1.000 [0.439, 1.000] |", c.N, c.K, c.R)) {
			t.Errorf("no row of %s", c)
		}
	}
	if !strings.Contains(text.String(), "False alarms 0, misses 1, misplaced 0, of 405 runs.") || strings.Count(text.String(), "0.667 [0.208, 0.939]") != 1 {
		t.Errorf("the miss is not in:\n%s", text.String())
	}
	text.Reset()
	if err := r.RunsCSV(&text, outcomes); err != nil {
		t.Fatal(err)
	}
	rows, err = csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 1+p.Runs() || rows[1+wrong][len(rows[0])-1] != "false" || rows[wrong][len(rows[0])-1] != "true" {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}
