package verdicttest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// Fault is one thing that goes wrong in a world. Empty: nothing does.
type Fault string

// The faults that a verdict has to find, and those that it cannot.
const (
	Stealth     Fault = "F1"            // changed outside every call
	Tampered    Fault = "F1-guarded"    // the same, of a guarded object
	ForgedCall  Fault = "F2"            // executed without request and decision
	Silent      Fault = "F3"            // recorded as done and not done
	OtherTarget Fault = "F4"            // done to another object
	Swapped     Fault = "F4-swap"       // two approved calls did one another's change
	OtherBytes  Fault = "F5"            // other content than approved
	Drifted     Fault = "drift"         // changed before its first lease
	Overlapped  Fault = "overlap"       // changed after a lease
	LeftPartial Fault = "partial"       // failed, and left a change
	Offset      Fault = "F1+F2"         // forged, and matched by a stealth change
	Unresolved  Fault = "in-doubt"      // a crash that nobody resolves
	Blinded     Fault = "unread"        // the observer could not read
	Restored    Fault = "change-undone" // not seen: undone before the next reading
	Erased      Fault = "change-erased" // not seen: overwritten as approved
)

// Faults lists those that a verdict has to find, with the classes that are right.
func Faults() map[Fault][]string {
	return map[Fault][]string{
		Stealth: {"bypass"}, Tampered: {"tamper"}, ForgedCall: {"forgery"}, Silent: {"silent-failure"}, OtherTarget: {"wrong-target"},
		Swapped: {"wrong-target"}, OtherBytes: {"wrong-content"}, Drifted: {"drift"}, Overlapped: {"overlap"}, LeftPartial: {"partial"},
		Offset: {"bypass", "forgery"}, Unresolved: {"in-doubt"}, Blinded: {"unread"},
	}
}

// World runs sessions at random, and makes the log that they would have left.
type World struct {
	Log
	Applied bool // the fault came about
	fault   Fault
	rng     *rand.Rand
	states  map[corpus.Object]corpus.State
	leases  map[corpus.Object]*deed
	fresh   int
	fence   int64
	running []*deed
	done    []*deed // committed
	ids     int
	touched map[corpus.Object]bool
}

// deed is a call on its way.
type deed struct {
	id, session string
	flow        string
	step        int
	op          string
	objects     []corpus.Object
	asked, plan []corpus.Change
	undo        []corpus.Change
	request     record.Record
	choice      record.Choice
	fails       bool
	before      []corpus.State
}

const home = "work"

// NewWorld is a world of that seed with at most calls calls and one fault.
func NewWorld(seed uint64, calls int, fault Fault) *World {
	w := &World{
		fault: fault, rng: rand.New(rand.NewPCG(seed, 7)), states: map[corpus.Object]corpus.State{}, leases: map[corpus.Object]*deed{},
		touched: map[corpus.Object]bool{}, fence: 1,
	}
	w.Fence, w.Guard = 1, map[corpus.Object]bool{home + "/guarded": true}
	w.states[home+"/guarded"] = w.state()
	w.states[home+"/alone"] = w.state()
	for i := range 3 + w.rng.IntN(10) {
		w.states[corpus.Name(home, "f"+strconv.Itoa(i))] = w.maybe()
	}
	w.Start = map[string]*corpus.Snapshot{home: w.snapshot()}
	w.run(1 + w.rng.IntN(calls))
	w.Final = map[string]*corpus.Snapshot{home: w.snapshot()}
	return w
}

func (w *World) state() corpus.State {
	w.fresh++
	return corpus.State(fmt.Sprintf("%064x", w.fresh))
}

func (w *World) maybe() corpus.State {
	if w.rng.IntN(3) == 0 {
		return corpus.Absent
	}
	return w.state()
}

func (w *World) snapshot() *corpus.Snapshot {
	var out []corpus.Entry
	for _, o := range slices.Sorted(maps.Keys(w.states)) {
		out = append(out, corpus.Entry{Object: o, State: w.states[o]})
	}
	return corpus.NewSnapshot(out)
}

// add appends a record.
func (w *World) add(session, request string, body record.Body) record.Record {
	seq := int64(len(w.Events))
	r := record.Record{Seq: seq, Time: time.Unix(1_800_000_000+seq, 0), Session: session, Request: request, Body: body}
	w.Events = append(w.Events, Event{Record: r})
	return r
}

func (w *World) run(calls int) {
	for calls > 0 || len(w.running) > 0 {
		switch n := w.rng.IntN(40); {
		case calls > 0 && len(w.running) < 6 && (n < 12 || len(w.running) == 0):
			calls--
			w.begin()
		case n == 13 && w.free():
			w.barrier()
		case n == 14:
			w.crash()
		case n < 18:
			w.outside(calls == 0)
		case len(w.running) > 0:
			d := w.running[w.rng.IntN(len(w.running))]
			if w.advance(d) {
				w.running = slices.DeleteFunc(w.running, func(x *deed) bool { return x == d })
			}
		}
	}
	w.outside(true)
}

func (w *World) free() bool { return len(w.leases) == 0 }

func (w *World) barrier() {
	r := w.add("", "", record.Barrier{})
	w.Events = append(w.Events, Event{Corpus: home, Snapshot: w.snapshot(), Record: record.Record{Seq: r.Seq}})
}

// outside does what the fault wants done by nobody.
func (w *World) outside(last bool) {
	set := func(o corpus.Object) { w.states[o], w.Applied = w.other(w.now(o)), true }
	if w.Applied || !last && w.rng.IntN(3) > 0 {
		return
	}
	switch w.fault {
	case Stealth:
		set(home + "/alone")
	case Tampered:
		set(home + "/guarded")
	case ForgedCall:
		w.add("s0", "forged", record.Executed{Outcome: record.Outcome{Readings: []corpus.Change{}}})
		w.Applied = true
	case Offset:
		w.add("s0", "forged", record.Executed{})
		set(home + "/alone")
	case Overlapped:
		for _, o := range slices.Sorted(maps.Keys(w.touched)) {
			if w.leases[o] == nil && !w.planned(o) {
				set(o)
				return
			}
		}
	case Restored:
		w.Applied = true // changed and put back: nothing is left of it
	}
}

// planned says whether something on its way counts on the state of an object.
func (w *World) planned(o corpus.Object) bool {
	for _, d := range w.running {
		if slices.Contains(d.objects, o) {
			return true
		}
	}
	return false
}

func (w *World) other(s corpus.State) corpus.State {
	if s != corpus.Absent && w.rng.IntN(4) == 0 {
		return corpus.Absent
	}
	return w.state()
}

// crash ends the runtime: what is open is closed or in doubt.
func (w *World) crash() {
	var b record.Recovery
	var doubt []*deed
	for _, d := range w.running {
		switch {
		case d.step >= 10:
			b.InDoubt = append(b.InDoubt, d.id)
			doubt = append(doubt, d)
		case d.flow == "undo":
		case d.flow == "stage" && d.step > 0 && d.choice == "":
			b.RolledBack = append(b.RolledBack, d.id)
		case d.choice == record.Approve:
			b.Expired = append(b.Expired, d.id)
		case d.step > 0:
			b.Denied = append(b.Denied, d.id)
		}
	}
	w.running, w.fence = nil, w.fence+1
	w.add("", "", record.Boot{Fence: w.fence})
	w.add("", "", b)
	for _, id := range b.RolledBack {
		if w.rng.IntN(2) == 0 {
			w.add("", id, record.RolledBack{Outcome: record.Outcome{Envelope: envelope(id)}})
		}
	}
	for _, d := range doubt {
		w.resolve(d)
	}
}

// resolve finds out what became of a call, none or all of which was done.
func (w *World) resolve(d *deed) {
	if w.fault == Unresolved && !w.Applied {
		w.Applied = true // and its objects stay blocked
		return
	}
	finding := record.FoundExecuted
	var readings []corpus.Change
	for _, p := range d.plan {
		if p.After != corpus.Any && w.now(p.Object) != p.After {
			finding = record.FoundNotExecuted
		}
		readings = append(readings, corpus.Change{Object: p.Object, Before: p.Before, After: w.now(p.Object)})
	}
	w.add("", d.id, record.Resolved{By: "recovery", Finding: finding, Readings: readings})
	w.release(d)
}

func (w *World) release(d *deed) {
	for _, o := range d.objects {
		if w.leases[o] == d {
			delete(w.leases, o)
			if d.step >= 10 { // there was an intent
				w.touched[o] = true
			}
		}
	}
}

func envelope(id string) (h record.Hash) {
	copy(h[:], id)
	return h
}
