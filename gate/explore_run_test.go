package gate

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// explorer walks through everything that can happen to the calls of a scenario.
type explorer struct {
	stage   *stageSet
	roles   []role
	opening bool   // the sessions are not open yet
	without uint32 // disturbances that do not happen
	max     int    // how many of them do
	inert   bool   // events that do not fit are tried in every state
	limit   int    // of moves, if there is one

	seen  map[[16]byte]struct{}
	moved int
	path  []move
	dump  dumper
}

// failure is a way into a broken promise.
type failure struct {
	roles []role
	path  []move
	err   error
}

func (f *failure) Error() string {
	var b strings.Builder
	for _, r := range f.roles {
		fmt.Fprintf(&b, "%s%v ", r.kind.name, r.on)
	}
	for _, v := range f.path {
		fmt.Fprintf(&b, "\n\t%s", v)
	}
	return fmt.Sprintf("%s\n%v", b.String(), f.err)
}

func (f *failure) Unwrap() error { return f.err }

// explore visits every state, and says how many there are and how many moves lead
// to them.
func (x *explorer) explore() (states, moves int, err error) {
	x.seen, x.moved, x.path = make(map[[16]byte]struct{}), 0, nil
	m, e := NewMachine(x.stage.rules(), nil), &env{left: int8(x.max), told: true}
	e.sess[1].skill = 1
	for _, r := range x.roles {
		e.parts = append(e.parts, part{role: r})
	}
	if err := x.open(m, e); err != nil {
		return 0, 0, x.fail(err)
	}
	err = x.visit(m, e)
	return len(x.seen), x.moved, err
}

func (x *explorer) fail(err error) error {
	return &failure{x.roles, append([]move(nil), x.path...), err}
}

func (x *explorer) visit(m *Machine, e *env) error {
	key := x.key(m, e)
	if _, known := x.seen[key]; known {
		return nil
	}
	x.seen[key] = struct{}{}
	if err := x.sane(m, e); err != nil {
		return x.fail(err)
	}
	if x.limit > 0 && x.moved > x.limit {
		return x.fail(broken("there is no end to it"))
	}
	if x.inert {
		if err := x.stale(m, e); err != nil {
			return x.fail(err)
		}
	}
	moves := x.moves(m, e)
	if len(moves) == 0 || moves[0].deed > deedHarm && !anyOf(moves) {
		if err := e.final(); err != nil {
			return x.fail(err)
		}
	}
	for i, v := range moves {
		n, f := m, e
		if i < len(moves)-1 {
			n, f = m.clone(), e.clone()
		}
		x.moved++
		x.path = append(x.path, v)
		if err := x.play(n, f, v); err != nil {
			return x.fail(err)
		}
		if err := x.visit(n, f); err != nil {
			return err
		}
		x.path = x.path[:len(x.path)-1]
	}
	return nil
}

// anyOf says whether one of the moves is no disturbance.
func anyOf(moves []move) bool {
	for _, v := range moves {
		if v.deed < deedHarm {
			return true
		}
	}
	return false
}

// key tells states apart.
func (x *explorer) key(m *Machine, e *env) [16]byte {
	x.dump.b = x.dump.b[:0]
	x.dump.machine(m)
	x.dump.env(e)
	sum := sha256.Sum256(x.dump.b)
	return [16]byte(sum[:16])
}

func (d *dumper) env(e *env) {
	for _, p := range e.all() {
		d.flags(p.submitted, p.gone, p.early, p.ok, p.answer, p.undo, p.approved, p.lost, p.resting, p.lease, p.doubt, p.wide)
		d.int(int64(p.skill))
		d.int(int64(p.op) | int64(p.what)<<8 | int64(p.acts[0])<<16 | int64(p.acts[1])<<24)
		d.text(p.log)
		d.text(string(p.phase))
		d.states(p.asked)
		d.states(p.before)
	}
	d.states(e.world[:])
	for _, s := range e.sess {
		d.flags(s.writing, s.open, s.paused, s.ended, s.logged, s.over)
		d.int(int64(s.what) | int64(s.skill)<<8)
		d.text(s.subject)
	}
	d.flags(e.dead, e.held, e.quiet, e.evicted[0], e.evicted[1], e.told, e.lowered, e.secret)
	d.int(int64(e.used))
	d.int(int64(e.left))
}

func (d *dumper) states(list []int8) {
	for _, n := range list {
		d.int(int64(n))
	}
	d.int(-1)
}

// stale tries every event of a call that nobody waits for: it changes nothing,
// and nothing is said but that an answer is late.
func (x *explorer) stale(m *Machine, e *env) error {
	before := x.key(m, e)
	for i := range e.parts {
		id, o := idOf(i), e.parts[i].op
		for _, try := range []struct {
			fits bool
			e    Event
		}{
			{o == opPreview || o == opPlan, Planned{ID: id}},
			{o == opAsk, Answered{ID: id, Approve: true}},
			{o == opAppend, Appended{ID: id}},
			{o == opDo || o == opHung, Finished{ID: id}},
			{o == opDo, Overdue{ID: id}},
			{o == opWait, WaitedEnough{ID: id}},
			{e.parts[i].doubt, Settled{ID: id}},
			{!e.parts[i].submitted || e.parts[i].gone, Submitted{Facts{ID: id, Session: "d"}}},
		} {
			if try.fits {
				continue
			}
			for _, c := range m.Step(try.e) {
				if _, late := c.(Late); !late {
					return broken("%T makes %T, though nobody waits for it", try.e, c)
				}
			}
			if x.key(m, e) != before {
				return broken("%T changes something, though nobody waits for it", try.e)
			}
		}
	}
	return nil
}
