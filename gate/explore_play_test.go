package gate

import (
	"github.com/iff-run/iff/level"
)

// play has a move happen: first in the world, then as an event of the machine,
// whose commands the world takes.
func (x *explorer) play(m *Machine, e *env, v move) error {
	if v.deed > deedHarm {
		e.used |= 1 << v.deed
		e.left--
	}
	if v.deed == deedCrash {
		return x.crash(m, e, v.how)
	}
	event, err := x.happen(e, v)
	if err != nil || event == nil {
		return err
	}
	return x.step(m, e, event)
}

func (x *explorer) step(m *Machine, e *env, event Event) error {
	for _, c := range m.Step(event) {
		if err := e.take(c, event); err != nil {
			return err
		}
	}
	return nil
}

func (x *explorer) happen(e *env, v move) (Event, error) {
	switch v.deed {
	case deedWritten, deedConfirm, deedResume, deedPause, deedEnd, deedRevoke, deedUndo, deedGive, deedBadWrite:
		return x.happenIn(e, v)
	case deedHold:
		e.held, e.quiet = true, false
		return Held{}, nil
	case deedUnhold:
		e.held, e.quiet = false, false
		return Unheld{}, nil
	case deedAgain:
		return x.again(e, v.how)
	}
	p, id := &e.other, "x"
	if v.to != otherPart {
		p, id = &e.parts[v.to], idOf(v.to)
	}
	switch v.deed {
	case deedSubmit:
		p.submitted, p.skill = true, e.session(p.kind.session).skill
		if p.kind.secret {
			e.secret = true
		}
		return Submitted{x.stage.facts(id, "k"+id, byte(v.to+1), p.role)}, nil
	case deedPreview:
		p.op, p.asked = opNone, e.states(p)
		return Planned{ID: id, Size: 2}, nil
	case deedBadPreview, deedBadPlan:
		p.op = opNone
		return Planned{ID: id, Refused: NotFound}, nil
	case deedPlan:
		return e.plan(p, id, int8(v.to+1)), nil
	case deedWide:
		p.op, p.wide = opNone, true
		return Planned{ID: id, Size: 1, Wider: true}, nil
	case deedAppended, deedBadAppend, deedDeadAppend:
		return e.append(p, id, v)
	case deedAnswer:
		p.op, p.answer = opNone, v.how == 0
		return Answered{ID: id, Approve: p.answer, Why: Reason(either(p.answer, "", string(DeniedByBroker)))}, nil
	case deedWaited:
		p.op = opNone
		return WaitedEnough{ID: id}, nil
	case deedSettled:
		p.doubt = false
		return Settled{ID: id}, nil
	case deedHang:
		return Overdue{ID: id}, nil
	}
	return e.finish(p, id, v)
}

// plan is made from what is there now. What was asked about has to be the same
// still, and what is undone as it was done.
func (e *env) plan(p *part, id string, value int8) Event {
	p.op = opNone
	now, refused := e.states(p), Reason("")
	switch {
	case p.undo:
		for _, is := range now {
			if is != value {
				refused = Conflict
			}
		}
	case p.approved:
		for i, is := range now {
			if is != p.asked[i] {
				refused = Conflict
			}
		}
		fallthrough
	default:
		p.before = now
	}
	return Planned{ID: id, Refused: refused, Size: 1}
}

func (e *env) append(p *part, id string, v move) (Event, error) {
	p.op = opNone
	bad := v.deed != deedAppended || v.how == 1
	fatal := v.deed == deedDeadAppend || v.how == 1
	e.dead = e.dead || fatal
	if bad {
		p.lost = true
	}
	if !bad || v.deed == deedDeadAppend && v.how == 1 {
		if err := e.durable(p); err != nil {
			return nil, err
		}
	}
	return Appended{ID: id, Failed: bad, Fatal: fatal}, nil
}

// finish is the host coming back, now or late: it did it, refused, or did some of
// it.
func (e *env) finish(p *part, id string, v move) (Event, error) {
	p.op, p.ok = opNone, v.deed == deedDid || v.deed == deedBack && v.how == 0
	why := Reason("")
	if !p.ok {
		why = HostFailed
	}
	if p.phase == Read || !p.ok && v.deed != deedPartly {
		return Finished{ID: id, Failed: why}, nil
	}
	return Finished{ID: id, Failed: why}, e.act(p, e.valueOf(p), v.deed != deedPartly)
}

// valueOf is what a call writes.
func (e *env) valueOf(p *part) int8 {
	for i := range e.parts {
		if p == &e.parts[i] {
			return int8(i + 1)
		}
	}
	return otherPart + 1
}

// again asks with the key of the first call: for the same, or for another.
func (x *explorer) again(e *env, how int) (Event, error) {
	p := e.parts[0]
	if how == 0 {
		return Submitted{x.stage.facts("y", "kc0", 1, p.role)}, nil
	}
	e.other = part{role: p.role, submitted: true, skill: e.session(p.kind.session).skill}
	return Submitted{x.stage.facts("x", "kc0", otherPart, p.role)}, nil
}

func (x *explorer) happenIn(e *env, v move) (Event, error) {
	id := seats[v.to]
	s := e.session(id)
	switch v.deed {
	case deedWritten, deedBadWrite:
		return e.written(s, id, v), nil
	case deedConfirm:
		return Confirming{Session: id}, nil
	case deedResume:
		return Resuming{Session: id}, nil
	case deedPause:
		s.paused = true
		return Pausing{Session: id}, nil
	case deedEnd:
		s.ended = true
		return Ended{Session: id, How: Ending(v.how), Undo: v.how == int(Aborting)}, nil
	case deedRevoke:
		e.evicted[v.to], e.told = true, false
		return Narrowed{Subjects: []string{skillIn(id)}}, nil
	case deedGive:
		e.lowered = e.lowered || !e.evicted[1] && !s.paused
		return Given{Session: id, Subject: skillIn("u")}, nil
	}
	return Undoing{Session: id}, nil
}

var seats = [...]string{"d", "u"}

// written is a record of a session becoming durable, or not.
func (e *env) written(s *sess, id string, v move) Event {
	bad, fatal := v.deed == deedBadWrite || v.how == 1, v.how == 1
	s.writing, e.dead = false, e.dead || fatal
	if !bad {
		s.durable()
	}
	return Recorded{Session: id, Failed: bad, Fatal: fatal}
}

func (s *sess) durable() {
	switch s.what {
	case RecordOpened:
		s.open = true
	case RecordPaused:
		s.logged = true
	case RecordResumed:
		s.paused, s.logged = false, false
	case RecordSkill:
		s.skill = int8(seat(s.subject))
	}
}

// open has both sessions begin. What the log says of them comes with it.
func (x *explorer) open(m *Machine, e *env) error {
	for i, id := range seats {
		s := &e.sess[i]
		if s.over {
			continue
		}
		lv := level.Declared
		if e.lowered || id == "u" {
			lv = level.Unverified
		}
		mark := x.stage.low
		if e.secret && id == "d" {
			mark = x.stage.high
		}
		event := Opened{Session: id, Agent: agentIn(id), Skill: skillIn(seats[s.skill]), Level: lv, Given: true, Mark: mark, Paused: s.logged}
		*s = sess{logged: s.logged, paused: s.logged, skill: s.skill}
		if err := x.step(m, e, event); err != nil {
			return err
		}
		if x.opening {
			continue
		}
		for s.writing {
			if err := x.step(m, e, e.written(s, id, move{deed: deedWritten})); err != nil {
				return err
			}
		}
	}
	return nil
}
