package gate

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
)

// rig drives a machine by hand. The first thing that is not as wanted is what it
// remembers.
type rig struct {
	*stageSet
	m   *Machine
	err error
}

// newRig has sessions d and u open, of an agent each, and d2 and b, of the agent
// of d, under the same skill and under the base manifest.
func newRig(change func(*Rules)) *rig {
	stage, err := newStage()
	if err != nil {
		return &rig{err: err}
	}
	rules := stage.rules()
	if change != nil {
		change(&rules)
	}
	r := &rig{stageSet: stage, m: NewMachine(rules, nil)}
	for _, s := range []Opened{{Session: "d", Agent: "D", Skill: "dd"}, {Session: "u", Agent: "U", Skill: "uu"}, {Session: "d2", Agent: "D", Skill: "dd"}, {Session: "b", Agent: "D"}} {
		r.m.Step(s)
		r.m.Step(Recorded{Session: s.Session})
	}
	return r
}

// does has an event happen and wants commands for it, in any order.
func (r *rig) does(e Event, want ...Command) {
	if r.err != nil {
		return
	}
	got := r.m.Step(e)
	left := make([]Command, 0, len(got))
	left = append(left, want...)
	for _, c := range got {
		at := -1
		for i, w := range left {
			if reflect.DeepEqual(c, w) {
				at = i
				break
			}
		}
		if at < 0 {
			r.err = fmt.Errorf("%T%+v: commands %s, want %s", e, brief(e), list(got), list(want))
			return
		}
		left = append(left[:at], left[at+1:]...)
	}
	if len(left) > 0 {
		r.err = fmt.Errorf("%T%+v: commands %s, want %s", e, brief(e), list(got), list(want))
	}
}

func brief(e Event) any {
	if s, ok := e.(Submitted); ok {
		return s.ID
	}
	return e
}

func list(cs []Command) string {
	var out []string
	for _, c := range cs {
		out = append(out, fmt.Sprintf("%T%+v", c, c))
	}
	return "[" + strings.Join(out, " ") + "]"
}

// wants is what must hold now.
func (r *rig) wants(what string, ok func() bool) {
	if r.err == nil && !ok() {
		r.err = fmt.Errorf("it does not hold that %s", what)
	}
}

// call is a call of a kind in a session.
func (r *rig) call(id, session, kind string, change ...func(*Facts)) Submitted {
	if r.err != nil {
		return Submitted{}
	}
	f := r.facts(id, "", 1, role{kindOf(kind), onFirst})
	f.Session = session
	for _, c := range change {
		c(&f)
	}
	return Submitted{f}
}

func reads(labels ...label.Label) func(*Facts)    { return func(f *Facts) { f.Reads = labels } }
func writesTo(labels ...label.Label) func(*Facts) { return func(f *Facts) { f.Sinks = labels } }
func changes(on ...corpus.Object) func(*Facts)    { return func(f *Facts) { f.Changes = on } }
func keyIs(key string, envelope byte) func(*Facts) {
	return func(f *Facts) { f.Key, f.Envelope = key, [32]byte{envelope} }
}
func void(why Reason) func(*Facts) { return func(f *Facts) { f.Void = why } }

func target(class capability.Capability, text string) func(*Facts) {
	return func(f *Facts) { f.Target, _ = capability.ParseTarget(class, text) }
}

// refused is what is said of a call that is denied before anybody is asked.
func refused(id string, why Reason) Append { return Append{ID: id, What: Denial, Why: why} }

// toDone has a call that is approved by level done, up to what the agent is told.
func (r *rig) toDone(c Submitted, size int64) {
	id, p := c.ID, Execute
	last := c.Target.Capability() != capability.FSWriteRev
	if !last {
		p = Commit
	}
	r.does(c, PlanIt{ID: id})
	r.does(Planned{ID: id, Size: size}, Append{ID: id, What: IntendedByLevel})
	r.does(Appended{ID: id}, DoIt{ID: id, Phase: p})
	r.does(Finished{ID: id}, Append{ID: id, What: Came})
	r.does(Appended{ID: id}, Tell{ID: id, Status: Done, Last: last})
}

// toStaged has a call staged.
func (r *rig) toStaged(c Submitted, size int64) {
	r.does(c, Preview{ID: c.ID})
	r.does(Planned{ID: c.ID, Size: size}, Append{ID: c.ID, What: StagedFor})
	r.does(Appended{ID: c.ID}, Tell{ID: c.ID, Status: StagedStatus})
}

// toAsked has a call wait for an answer.
func (r *rig) toAsked(c Submitted) {
	r.does(c, Preview{ID: c.ID})
	r.does(Planned{ID: c.ID}, Append{ID: c.ID, What: AskedFor})
	r.does(Appended{ID: c.ID}, Ask{ID: c.ID})
}

// toLease has an asked call approved, up to its plan under the lease.
func (r *rig) toLease(c Submitted) {
	r.toAsked(c)
	r.does(Answered{ID: c.ID, Approve: true}, Append{ID: c.ID, What: Decided})
	r.does(Appended{ID: c.ID}, PlanIt{ID: c.ID, Approved: true})
}
