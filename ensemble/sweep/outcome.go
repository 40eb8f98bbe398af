package sweep

import (
	"fmt"
	"slices"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// Outcome is what came of a run, as far as it is the same every time. The zero
// value is that of a run that was not made. How many records the log has is not in
// it: sessions that open at the same time share readings.
type Outcome struct {
	Fault    ensemble.Fault // that the seed picked of the scenario's; empty for none
	Verdict  record.Result
	Classes  []verdict.Class // of the findings, sorted, each once
	Calls    int64
	Literal  bool // the paper's definition holds, taken literally
	Set      bool // it holds, collapsed to sets
	AsWanted bool // verdict, classes and objects are as they have to be
	Odd      int  // how much happened that no fault explains
}

// Made says whether the run was made.
func (o Outcome) Made() bool { return o.Verdict != "" }

// Of is what came of a run.
func Of(r ensemble.Result) Outcome {
	return Outcome{
		Fault: r.Config.Fault, Verdict: r.Verdict, Classes: r.Classes(), Calls: r.Calls,
		Literal: r.Literal, Set: r.Set, AsWanted: r.AsWanted(), Odd: len(r.Odd),
	}
}

// right says whether a criterion judged the run as it has to be judged.
func (o Outcome) right(r Run, c ensemble.Criterion) bool {
	config := r.Config()
	config.Fault = o.Fault
	return r.Scenario.Right(ensemble.Result{
		Config: config, Verdict: o.Verdict, Calls: o.Calls, Literal: o.Literal, Set: o.Set,
	}, c)
}

// line is an outcome as the journal has it.
type line struct {
	Run      int      `json:"run"`
	Fault    string   `json:"fault"`
	Verdict  string   `json:"verdict"`
	Classes  []string `json:"classes"`
	Calls    int64    `json:"calls"`
	Literal  bool     `json:"literal"`
	Set      bool     `json:"set"`
	AsWanted bool     `json:"asWanted"`
	Odd      int      `json:"odd"`
}

func (o Outcome) line(run int) line {
	out := line{
		Run: run, Fault: string(o.Fault), Verdict: string(o.Verdict), Classes: []string{}, Calls: o.Calls,
		Literal: o.Literal, Set: o.Set, AsWanted: o.AsWanted, Odd: o.Odd,
	}
	for _, c := range o.Classes {
		out.Classes = append(out.Classes, string(c))
	}
	return out
}

// outcome reads a line of a plan's journal. It has to be one that a run of that number
// can come to; whether it did, the line alone cannot say.
func (l line) outcome(p Plan) (Outcome, error) {
	out := Outcome{
		Fault: ensemble.Fault(l.Fault), Verdict: record.Result(l.Verdict), Calls: l.Calls,
		Literal: l.Literal, Set: l.Set, AsWanted: l.AsWanted, Odd: l.Odd,
	}
	for _, c := range l.Classes {
		out.Classes = append(out.Classes, verdict.Class(c))
	}
	if l.Run < 0 || l.Run >= p.Runs() {
		return Outcome{}, fmt.Errorf("run is %d, and there are %d", l.Run, p.Runs())
	}
	config := p.At(l.Run).Config()
	switch {
	case !slices.Contains([]record.Result{record.Pass, record.Fail, record.Open}, out.Verdict):
		return Outcome{}, fmt.Errorf("verdict is %q", l.Verdict)
	case out.Fault != config.Fault:
		return Outcome{}, fmt.Errorf("fault is %q, and that of the run %q", l.Fault, config.Fault)
	case l.Calls < 0:
		return Outcome{}, fmt.Errorf("calls are below zero")
	case l.Odd != 0:
		return Outcome{}, fmt.Errorf("odd is %d, and such a run is not kept", l.Odd)
	case l.Literal && !l.Set:
		return Outcome{}, fmt.Errorf("literal holds and set does not")
	case !known(out.Classes) || (out.Verdict == record.Pass) != (len(out.Classes) == 0):
		return Outcome{}, fmt.Errorf("classes are %q, with %s", l.Classes, l.Verdict)
	}
	return out, nil
}

// known says whether classes are those of a verdict, sorted, each once.
func known(classes []verdict.Class) bool {
	for i, c := range classes {
		if !slices.Contains(verdict.Classes(), c) || i > 0 && classes[i-1] >= c {
			return false
		}
	}
	return true
}
