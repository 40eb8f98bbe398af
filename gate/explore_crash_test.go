package gate

import (
	"maps"
	"strings"

	"github.com/iff-run/iff/corpus"
)

// crash ends the machine and whatever was in flight, in the way that how says,
// recovers from the log and the world, and begins anew.
func (x *explorer) crash(m *Machine, e *env, how int) error {
	for _, p := range e.all() {
		n := p.fates()
		fate := how % n
		how /= n
		if err := e.die(p, fate); err != nil {
			return err
		}
	}
	for i := range e.sess {
		if s := &e.sess[i]; s.writing && s.open {
			if how%2 == 1 {
				s.durable()
				s.over, s.open = s.what == RecordEnded, s.what != RecordEnded
			}
			how /= 2
		}
	}
	doubts := make(map[string][]corpus.Object)
	for _, p := range e.all() {
		if p.submitted {
			id := "x"
			for i := range e.parts {
				if p == &e.parts[i] {
					id = idOf(i)
				}
			}
			if e.recover(p); p.doubt {
				doubts[id] = p.objects()
			}
		}
	}
	return x.restart(m, e, doubts)
}

// die is what becomes of what was in flight.
func (e *env) die(p *part, fate int) error {
	defer func() { p.op = opNone }()
	switch {
	case p.fates() == 1:
		return nil
	case p.op == opAppend && fate == 1:
		return e.durable(p)
	case p.op != opAppend && fate > 0:
		return e.act(p, e.valueOf(p), fate == 1)
	}
	return nil
}

// recover closes the life of a call (DESIGN section 5). What was intended is
// found out by looking.
func (e *env) recover(p *part) {
	p.gone, p.lease, p.resting = true, false, false
	switch {
	case p.log == "" || e.words(p).complete[p.log]:
	case strings.HasSuffix(p.log, "i"), strings.HasSuffix(p.log, "u"):
		if p.doubt = e.unclear(p); !p.doubt {
			p.log += "R"
		}
	case strings.Contains(p.log, "s"):
		p.log += "X"
	case strings.Contains(p.log, "a"):
		p.log += "E"
	default:
		p.log += "D"
	}
}

// unclear says whether the objects are neither all as they were nor all as they
// were to be.
func (e *env) unclear(p *part) bool {
	written, untouched := true, true
	for i, is := range e.states(p) {
		written = written && is == e.valueOf(p)
		untouched = untouched && is == p.before[i]
	}
	return !written && !untouched
}

// restart makes a machine from what the log says.
func (x *explorer) restart(m *Machine, e *env, doubts map[string][]corpus.Object) error {
	rules := x.stage.rules()
	rules.Skills = maps.Clone(rules.Skills)
	for i, id := range seats {
		if e.evicted[i] {
			delete(rules.Skills, skillIn(id))
		}
	}
	*m = *NewMachine(rules, doubts)
	e.dead, e.held, e.quiet, e.told = false, false, false, true
	for i := range e.parts {
		if p := &e.parts[i]; p.log != "" {
			m.keys[keyed{agentIn(p.kind.session), "k" + idOf(i)}] = recorded{idOf(i), [32]byte{byte(i + 1)}}
		}
	}
	return x.open(m, e)
}
