package sweep

import (
	"cmp"
	"maps"
	"slices"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/verdict"
)

// Report is what a criterion says of the outcomes of a plan.
type Report struct {
	Plan        Plan
	Criterion   ensemble.Criterion
	FalseAlarms int      // nothing was wrong, or a crash, and the criterion says that it does not hold
	Misses      int      // a fault, and the criterion says that it holds
	Misplaced   int      // by our criterion: judged right, and classes or objects are not those of the fault
	Odd         int      // runs in which something happened that no fault explains
	Columns     []Column // of all cells, by scenario
	Rows        []Row    // by cell
	Wrong       []int    // numbers of the runs that are a false alarm, a miss, misplaced or odd
}

// Column is a scenario over all cells.
type Column struct {
	Scenario ensemble.Scenario
	Rate
	Classes []ClassCount // of findings, most frequent first
}

// ClassCount is in how many runs a class was found. An empty class is none.
type ClassCount struct {
	Class verdict.Class
	Runs  int
}

// Row is a cell, with a rate for each scenario of the plan.
type Row struct {
	Cell  Cell
	Rates []Rate
}

// Wrong is how many runs of the row were not judged right.
func (r Row) Wrong() int {
	n := 0
	for _, rate := range r.Rates {
		n += rate.Runs - rate.Right
	}
	return n
}

// Judge looks at the outcomes of a plan by a criterion. Runs that were not made
// count as not made.
func Judge(p Plan, outcomes []Outcome, by ensemble.Criterion) Report {
	out := Report{Plan: p, Criterion: by, Columns: make([]Column, len(p.Scenarios)), Rows: make([]Row, len(p.Cells))}
	classes := make([]map[verdict.Class]int, len(p.Scenarios))
	for s := range p.Scenarios {
		out.Columns[s].Scenario, classes[s] = p.Scenarios[s], map[verdict.Class]int{}
	}
	for c := range p.Cells {
		out.Rows[c] = Row{p.Cells[c], make([]Rate, len(p.Scenarios))}
	}
	for i, o := range outcomes {
		if !o.Made() {
			continue
		}
		cell, scenario := i%p.round()/len(p.Scenarios), i%len(p.Scenarios)
		right := o.right(p.At(i), by)
		out.Columns[scenario].add(right)
		out.Rows[cell].Rates[scenario].add(right)
		if !out.count(o, p.Scenarios[scenario], right) {
			out.Wrong = append(out.Wrong, i)
		}
		for _, class := range o.Classes {
			classes[scenario][class]++
		}
		if len(o.Classes) == 0 {
			classes[scenario][""]++
		}
	}
	for s := range out.Columns {
		out.Columns[s].Classes = frequent(classes[s])
	}
	return out
}

// count says whether all is as it has to be with a run, and counts it otherwise.
func (r *Report) count(o Outcome, s ensemble.Scenario, right bool) bool {
	misplaced := right && r.Criterion == ensemble.ByIff && !o.AsWanted
	switch {
	case !right && (len(s.Faults) == 0 || o.Fault == ensemble.Crash):
		r.FalseAlarms++
	case !right:
		r.Misses++
	case misplaced:
		r.Misplaced++
	}
	if o.Odd > 0 {
		r.Odd++
	}
	return right && !misplaced && o.Odd == 0
}

func frequent(counts map[verdict.Class]int) []ClassCount {
	out := make([]ClassCount, 0, len(counts))
	for class := range maps.Keys(counts) {
		out = append(out, ClassCount{class, counts[class]})
	}
	slices.SortFunc(out, func(a, b ClassCount) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// Holds says whether no run is wrong: there is neither a false alarm nor a miss, nor a
// run that is misplaced or odd.
func (r Report) Holds() bool { return len(r.Wrong) == 0 }

// Total is the rate of all runs.
func (r Report) Total() Rate {
	var out Rate
	for _, c := range r.Columns {
		out.Right += c.Right
		out.Runs += c.Runs
	}
	return out
}

// WorstFirst are the rows, those with most wrong runs first; equal ones stay in the
// order of the plan.
func (r Report) WorstFirst() []Row {
	out := slices.Clone(r.Rows)
	slices.SortStableFunc(out, func(a, b Row) int { return cmp.Compare(b.Wrong(), a.Wrong()) })
	return out
}
