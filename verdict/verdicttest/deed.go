package verdicttest

import (
	"slices"
	"strconv"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// flows are the ways that a call can go (package verdict, W).
var flows = []string{"read", "refused", "grant", "grant", "ask", "ask", "commit", "commit", "stage", "undo"}

var ops = []string{"write", "write", "append", "delete", "rename", "tree", "same", "bounded", "opaque"}

func (w *World) begin() {
	w.ids++
	d := &deed{
		id: "c" + strconv.Itoa(w.ids), session: "s" + strconv.Itoa(w.rng.IntN(3)), flow: flows[w.rng.IntN(len(flows))], op: ops[w.rng.IntN(len(ops))],
		fails: w.rng.IntN(8) == 0,
	}
	if d.flow == "undo" {
		if len(w.done) == 0 {
			return
		}
		i := w.rng.IntN(len(w.done))
		d = w.done[i]
		w.done = slices.Delete(w.done, i, i+1)
		d.flow, d.step, d.fails = "undo", 0, w.rng.IntN(8) == 0
		w.running = append(w.running, d)
		return
	}
	n := map[string]int{"rename": 2, "tree": 3, "opaque": 0}
	count, ok := n[d.op]
	if !ok {
		count = 1
	}
	for len(d.objects) < count {
		if o := corpus.Name(home, "f"+strconv.Itoa(w.rng.IntN(12))); !slices.Contains(d.objects, o) {
			d.objects = append(d.objects, o)
		}
	}
	w.running = append(w.running, d)
}

// planNow is what the call would do to the world as it is.
func (w *World) planNow(d *deed) []corpus.Change {
	plan := []corpus.Change{}
	for i, o := range d.objects {
		s := w.now(o)
		c := corpus.Change{Object: o, Before: s, After: s}
		switch {
		case d.op == "delete", d.op == "tree":
			c.After = corpus.Absent
		case d.op == "rename" && i == 0:
			c.After = corpus.Absent
		case d.op == "rename":
			c.After = w.now(d.objects[0])
		case d.op == "bounded":
			c.After = corpus.Any
		case d.op == "append":
			c.After = blank[:8] + (s + blank)[16:64] + mark(d.id) // of what is there and what is appended
		case d.op != "same":
			c.After = blank[:56] + mark(d.id)
		}
		plan = append(plan, c)
	}
	return plan
}

const blank corpus.State = "0000000000000000000000000000000000000000000000000000000000000000"

// mark is eight digits for an id.
func mark(id string) corpus.State { return corpus.State(id[1:] + "ffffffff")[:8] }

func (w *World) now(o corpus.Object) corpus.State {
	if s, ok := w.states[o]; ok {
		return s
	}
	return corpus.Absent
}

func (d *deed) body(level string, asked []corpus.Change) record.Request {
	effect := map[string]string{"read": "none", "refused": "irreversible", "grant": "irreversible", "ask": "irreversible"}[d.flow]
	if effect == "" {
		effect = "reversible"
	}
	return record.Request{Agent: "a", Effect: effect, Envelope: envelope(d.id), Level: level, Plan: asked}
}

func (d *deed) approvable(plan []corpus.Change) []corpus.Change {
	out := slices.Clone(plan)
	for i := range out {
		if d.op == "append" {
			out[i].Before, out[i].After = corpus.Any, corpus.Any
		}
	}
	return out
}

func (w *World) decide(d *deed, cause record.Cause, choice record.Choice) {
	b := record.Decision{Cause: cause, Choice: choice, Envelope: envelope(d.id), Profile: "dev"}
	if cause == record.CauseHuman {
		b.Signature = Signature(w.fence, d.request, choice)
	}
	if w.rng.IntN(2) == 0 {
		b.Expires = time.Unix(2_000_000_000, 0)
	}
	d.choice = choice
	w.add(d.session, d.id, b)
}

// lease takes the objects; false if somebody has them.
func (w *World) lease(d *deed) bool {
	for _, o := range d.objects {
		if w.leases[o] != nil {
			return false
		}
	}
	for _, o := range d.objects {
		w.leases[o] = d
	}
	return true
}

// intend writes the intent and reads before.
func (w *World) intend(d *deed, plan []corpus.Change) {
	b := record.Intent{Attempt: 1, Envelope: envelope(d.id), Fence: w.fence, Plan: plan}
	d.plan, d.before = plan, nil
	for _, p := range plan {
		d.before = append(d.before, w.now(p.Object))
	}
	switch d.flow {
	case "undo":
		w.add(d.session, d.id, record.RollbackIntent{Intent: b})
	case "commit", "stage":
		w.add(d.session, d.id, record.CommitIntent{Intent: b})
	default:
		w.add(d.session, d.id, record.Intent(b))
	}
	d.step = 10
}

// advance does the next step of a call; true at its end.
func (w *World) advance(d *deed) bool {
	switch {
	case d.step == 10:
		w.do(d)
		d.step = 11
		return false
	case d.step == 11:
		w.outcome(d)
		w.release(d)
		return true
	}
	switch d.flow {
	case "read":
		d.request = w.add(d.session, d.id, d.body("unverified", nil))
		w.decide(d, record.CauseLevel, record.Approve)
		w.add(d.session, d.id, record.Executed{Outcome: record.Outcome{Envelope: envelope(d.id)}})
		return true
	case "refused":
		d.request = w.add(d.session, d.id, d.body("declared", nil))
		w.decide(d, record.CauseUndeclared, record.Deny)
		return true
	case "undo":
		return w.startUndo(d)
	case "grant", "commit":
		return w.startGranted(d)
	}
	return w.advanceAsked(d)
}

func (w *World) startUndo(d *deed) bool {
	if !w.lease(d) {
		return w.rng.IntN(4) == 0
	}
	for _, u := range d.undo {
		if w.now(u.Object) != u.Before {
			w.release(d)
			w.add(d.session, d.id, record.Error{Outcome: record.Outcome{Envelope: envelope(d.id), Reason: "conflict"}})
			return true
		}
	}
	w.intend(d, d.undo)
	return false
}

func (w *World) startGranted(d *deed) bool {
	if !w.lease(d) {
		return w.rng.IntN(4) == 0
	}
	if w.fault == Drifted && !w.Applied && len(d.objects) > 0 && !w.touched[d.objects[0]] {
		w.states[d.objects[0]], w.Applied = w.other(w.now(d.objects[0])), true
	}
	plan := w.planNow(d)
	b := d.body("declared", d.approvable(plan))
	if d.flow == "commit" {
		d.request = w.add(d.session, d.id, record.ReversibleRequest{Request: b})
		w.decide(d, record.CauseLevel, record.Approve)
		w.add(d.session, d.id, record.Staged{Envelope: envelope(d.id), Plan: plan})
	} else {
		d.request = w.add(d.session, d.id, b)
		w.decide(d, record.CauseLevel, record.Approve)
	}
	w.intend(d, plan)
	return false
}

func (w *World) advanceAsked(d *deed) bool {
	d.step++
	switch d.step {
	case 1:
		d.asked = d.approvable(w.planNow(d))
		b := d.body("unverified", d.asked)
		if d.flow == "ask" {
			d.request = w.add(d.session, d.id, b)
			return false
		}
		d.request = w.add(d.session, d.id, record.ReversibleRequest{Request: b})
		w.add(d.session, d.id, record.Staged{Envelope: envelope(d.id), Plan: d.asked})
		return false
	case 2:
		return w.answer(d)
	}
	if !w.lease(d) {
		d.step--
		return w.rng.IntN(4) == 0 && w.notTried(d)
	}
	plan := w.planNow(d)
	if !admitted(d.asked, plan) {
		w.release(d)
		return w.notTried(d)
	}
	w.intend(d, plan)
	return false
}

// answer decides what was asked, or drops what was staged.
func (w *World) answer(d *deed) bool {
	drop := record.RolledBack{Outcome: record.Outcome{Envelope: envelope(d.id)}}
	switch w.rng.IntN(8) {
	case 0:
		w.decide(d, record.CauseTimeout, record.Deny)
		w.add(d.session, d.id, record.LateDecision{Decision: record.Decision{Cause: record.CauseHuman, Choice: record.Approve}})
	case 1:
		w.decide(d, record.CauseHuman, record.Deny)
		if d.flow == "stage" && w.rng.IntN(2) == 0 {
			w.add(d.session, d.id, drop)
		}
	case 2:
		if d.flow != "stage" {
			w.decide(d, record.CauseCancelled, record.Deny)
		} else {
			w.add(d.session, d.id, drop)
		}
	default:
		w.decide(d, record.CauseHuman, record.Approve)
		return false
	}
	return true
}

func (w *World) notTried(d *deed) bool {
	w.add(d.session, d.id, record.Error{Outcome: record.Outcome{Envelope: envelope(d.id), Reason: "conflict"}})
	return true
}

// do changes the world: as planned, or as the fault wants it.
func (w *World) do(d *deed) {
	if d.fails {
		return
	}
	if !w.Applied && d.exact() && w.spoil(d) {
		return
	}
	for _, p := range d.plan {
		w.states[p.Object] = p.After
		if p.After == corpus.Any {
			w.states[p.Object] = w.maybe()
		}
	}
}

// exact says whether the call has one planned change with a value.
func (d *deed) exact() bool { return len(d.plan) == 1 && d.plan[0].Op() != "" }

// spoil does otherwise than planned; false if the fault is another one.
func (w *World) spoil(d *deed) bool {
	p := d.plan[0]
	const alone = home + "/alone"
	switch {
	case w.fault == Silent:
	case w.fault == OtherTarget && w.now(alone) != p.After:
		w.states[alone] = p.After
	case w.fault == OtherBytes:
		w.states[p.Object] = w.state()
	case w.fault == LeftPartial:
		w.states[p.Object], d.fails = p.After, true
	case w.fault == Erased, w.fault == Blinded:
		w.Applied, d.step = true, 10
		d.fails = false
		w.states[p.Object] = p.After
		if w.fault == Blinded {
			d.before[0] = corpus.Unreadable
		}
	case w.fault == Swapped:
		return w.swap(d)
	default:
		return false
	}
	w.Applied = true
	w.finish(d)
	return true
}

// finish has the outcome follow at once, so that no crash comes between.
func (w *World) finish(d *deed) {
	w.outcome(d)
	w.release(d)
	w.running = slices.DeleteFunc(w.running, func(x *deed) bool { return x == d })
}

// swap has two calls do what the other was to do.
func (w *World) swap(d *deed) bool {
	for _, e := range w.running {
		if e == d || e.step != 10 || e.fails || !e.exact() {
			continue
		}
		a, b := d.plan[0], e.plan[0]
		if a.After == b.After || a.Before == b.After || b.Before == a.After {
			continue
		}
		w.states[a.Object], w.states[b.Object] = b.After, a.After
		w.Applied = true
		w.finish(e)
		w.finish(d)
		return true
	}
	return false
}

func (w *World) outcome(d *deed) {
	o := record.Outcome{Envelope: envelope(d.id), Readings: []corpus.Change{}}
	for i, p := range d.plan {
		o.Readings = append(o.Readings, corpus.Change{Object: p.Object, Before: d.before[i], After: w.now(p.Object)})
	}
	if len(o.Readings) > 1 && w.rng.IntN(3) == 0 { // long ones stand in a payload
		rest := o.Readings
		o.Readings, o.Rest = nil, record.Payload{Size: 1}
		defer func() { w.Events[len(w.Events)-1].Rest = rest }()
	}
	switch {
	case d.fails:
		o.Reason = "host-failed"
		w.add(d.session, d.id, record.Error{Outcome: o})
		if d.flow == "undo" {
			w.done = append(w.done, d)
		}
	case d.flow == "undo":
		w.add(d.session, d.id, record.RolledBack{Outcome: o})
	case d.flow == "commit", d.flow == "stage":
		w.add(d.session, d.id, record.Committed{Outcome: o})
		d.undo = nil
		if d.op != "bounded" {
			for i := len(d.plan) - 1; i >= 0; i-- {
				p := d.plan[i]
				d.undo = append(d.undo, corpus.Change{Object: p.Object, Before: p.After, After: p.Before})
			}
			w.done = append(w.done, d)
		}
	default:
		w.add(d.session, d.id, record.Executed{Outcome: o})
	}
}
