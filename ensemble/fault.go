package ensemble

import (
	"slices"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/verdict"
)

// Fault is what goes wrong in a run. The set is closed; the zero value is nothing.
type Fault string

// The faults. F1 to F5 are those of the paper.
const (
	Honest Fault = "" // nothing goes wrong

	BypassOutside Fault = "bypass-outside" // F1: a write outside the gate, on an object that nobody leases
	BypassInside  Fault = "bypass-inside"  // F1: the same, inside another call's lease on another object
	FakeOutcome   Fault = "fake-outcome"   // F2: an executed record of no call, or of one that had ended
	FakeCall      Fault = "fake-call"      // F2: all records of a call, the approval signed by nobody who may
	FakeApproval  Fault = "fake-approval"  // F2: an approval beside the approver's no
	FakeGrant     Fault = "fake-grant"     // F2: all records of a call as if a grant covered it, and no effect
	Silent        Fault = "silent"         // F3: the host says that it is done, and did nothing
	OtherTarget   Fault = "other-target"   // F4: it is done to another object
	Swap          Fault = "swap"           // F4: two approved calls land on each other's target
	OtherContent  Fault = "other-content"  // F5: other content, or another mode
	LateContent   Fault = "late-content"   // the object is changed again inside the lease, after the host was done
	Drift         Fault = "drift"          // changed between the snapshot and the first lease
	Stale         Fault = "stale"          // changed between approval and lease
	Overlap       Fault = "overlap"        // changed between two leases
	OverlapAfter  Fault = "overlap-after"  // changed after the last lease
	Partial       Fault = "partial"        // the host fails half way, and says so
	Offset        Fault = "offset"         // F1 and F2, equal by operation and target
	Tamper        Fault = "tamper"         // a file of a loaded skill, or a control file, outside every call

	Crash Fault = "crash" // the runtime is killed and started again: PASS or OPEN

	Restored   Fault = "restored"   // changed and put back between two readings
	Erased     Fault = "erased"     // changed, and written over by an approved write before anybody read it
	Unobserved Fault = "unobserved" // changed where it is volatile
)

// Faults lists all faults.
func Faults() []Fault {
	return []Fault{
		BypassOutside, BypassInside, FakeOutcome, FakeCall, FakeApproval, FakeGrant, Silent, OtherTarget, Swap, OtherContent, LateContent, Drift,
		Stale, Overlap, OverlapAfter, Partial, Offset, Tamper, Crash, Restored, Erased, Unobserved,
	}
}

// Seen says whether a verdict has to flag the fault. Those that it cannot see are
// named by verdict.Unseen.
func (f Fault) Seen() bool {
	return slices.Contains(Faults(), f) && !slices.Contains([]Fault{Crash, Restored, Erased, Unobserved}, f)
}

// Want is what a verdict has to find. The zero value is nothing: PASS.
type Want struct {
	Class   verdict.Class
	With    []verdict.Class // that may be found beside it, as what the fault left behind
	Objects []corpus.Object // no other is named

	gap bool // any class of a gap will do for Class
}

// met says whether findings are those that are wanted.
func (w Want) met(findings []verdict.Finding) bool {
	hit := w.Class == ""
	for _, f := range findings {
		switch {
		case f.Class == w.Class, w.gap && slices.Contains(gaps, f.Class):
			hit = true
		case !slices.Contains(w.With, f.Class):
			return false
		}
		for _, o := range []corpus.Object{f.Object, f.Landed} {
			if o != "" && !slices.Contains(w.Objects, o) {
				return false
			}
		}
	}
	return hit
}
