package gate_test

import (
	"fmt"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
)

// The life of a call that a grant covers, at declared: the events are what a log,
// a host and an observer would say.
func ExampleMachine() {
	scheme, _ := label.Builtin("generic")
	grants, _ := capability.ParseGrants([]string{"fs.write.irrev(reports/**)"})
	m := gate.NewMachine(gate.Rules{
		Skills:    map[string]gate.Skill{"": {Name: "base", Level: level.Declared, Label: scheme.Bottom(), Grants: grants}},
		Clearance: scheme.Top(), Bottom: scheme.Bottom(), Calls: 64, Asked: 20, Unwanted: 128 << 20, Buffer: 64 << 20,
	}, nil)
	tell := func(e gate.Event) {
		for _, c := range m.Step(e) {
			fmt.Printf("%T%+v\n", c, c)
		}
	}
	tell(gate.Opened{Session: "s1.1", Agent: "uid-1000"})
	tell(gate.Recorded{Session: "s1.1"})
	target, _ := capability.ParseTarget(capability.FSWriteIrrev, "reports/may.txt")
	tell(gate.Submitted{Facts: gate.Facts{
		ID: "r1.1", Session: "s1.1", Target: target,
		Changes: []corpus.Object{"work/reports/may.txt"}, Sinks: []label.Label{scheme.Bottom()},
	}})
	tell(gate.Planned{ID: "r1.1"})  // the host planned it, and the observer sees the same
	tell(gate.Appended{ID: "r1.1"}) // request, decision and intent are durable
	tell(gate.Finished{ID: "r1.1"}) // the host did it, and the observer read what is there
	tell(gate.Appended{ID: "r1.1"}) // the outcome is durable
	// Output:
	// gate.RecordSession{Session:s1.1 What:1 Subject: Level:unverified How:0}
	// gate.TellSession{Session:s1.1 Ticket:0 Failed: Over:false}
	// gate.PlanIt{ID:r1.1 Approved:false Undo:false}
	// gate.Append{ID:r1.1 What:5 Why: Undo:false Bare:false}
	// gate.DoIt{ID:r1.1 Phase:execute}
	// gate.Append{ID:r1.1 What:9 Why: Undo:false Bare:false}
	// gate.Tell{ID:r1.1 Status:done Reason: Last:true}
}
