package gate

import (
	"strings"

	"github.com/iff-run/iff/capability"
)

// barred says whether nothing new may be begun for a call: its session is paused
// or ends, its skill is revoked, or the log takes no more, and the machine was
// told.
func (e *env) barred(p *part) bool {
	s := e.session(p.kind.session)
	return s.paused || s.ended || e.evicted[p.skill] || e.dead
}

// mayAppend is what must hold when the machine wants records made durable.
func (e *env) mayAppend(p *part, what What) error {
	name := p.kind.name
	switch {
	case intends(what) && e.barred(p):
		return broken("an intent where nothing may be intended (log %q)", p.log)
	case intends(what) && !p.lease:
		return broken("an intent without a lease")
	case intends(what) && e.secret && p.kind.session == "d":
		return broken("an intent to write what was read in secret to where it may not be")
	case what == IntendedByLevel && e.lowered && p.kind.session == "d":
		return broken("approved by a level that the session has not any more")
	case what == IntendedByLevel && p.wide:
		return broken("approved by level, though no grant covers all of it")
	case what == IntendedByLevel && name != "auto" && name != "commit":
		return broken("%s approved by level", name)
	case what == ReadByLevel && name != "read" && name != "read-secret":
		return broken("%s read by level", name)
	case what == StagedFor && name != "staged" && !(name == "commit" && e.lowered):
		return broken("%s is staged", name)
	case what == IntendedToUndo && (!p.undo || !p.lease):
		return broken("an undoing intent without a lease")
	}
	return nil
}

// mayRefuse is what must hold when the machine refuses for a reason.
func (e *env) mayRefuse(p *part, why Reason) error {
	s := e.session(p.kind.session)
	ok := false
	switch why {
	case SessionPaused:
		ok = s.paused
	case SessionEnded:
		ok = s.ended
	case SkillRevoked:
		ok = e.evicted[p.skill]
	case LevelLowered:
		ok = e.lowered
	case SinkBelowMark:
		ok = e.secret && p.kind.session == "d"
	case InDoubt:
		for _, q := range e.all() {
			ok = ok || q.doubt
		}
	case Undeclared:
		ok = p.kind.name == "undeclared"
	case SpellingHides:
		ok = p.kind.hides
	case KeyReused:
		ok = p == &e.other
	case LogFailed:
		ok = e.dead
	case Busy, NotFound, Conflict:
		ok = true // of the lease and of the plan
	}
	if !ok {
		return broken("refused as %s, for no reason (log %q)", why, p.log)
	}
	return nil
}

// mayDo is what must hold when the machine has the host do something.
func (e *env) mayDo(p *part) error {
	switch p.phase {
	case Read:
		if p.kind.class.Effect() != capability.None || e.barred(p) || p.log != "" && p.log != "qa" {
			return broken("a read that may not be (log %q)", p.log)
		}
		return nil
	case Execute, Commit:
		if (p.phase == Commit) != (p.kind.class == capability.FSWriteRev) {
			return broken("%s is done as %s", p.kind.name, p.phase)
		}
		if !strings.HasSuffix(p.log, "i") || p.acts[0] != 0 {
			return broken("an effect without an intent of its own (log %q)", p.log)
		}
	case Rollback:
		if !strings.HasSuffix(p.log, "u") || p.acts != [2]int8{1, 0} {
			return broken("an undoing without an intent of its own (log %q)", p.log)
		}
	default:
		return broken("something is done under no phase")
	}
	if !p.lease || e.dead {
		return broken("an effect without a lease, or behind the end of the log")
	}
	return nil
}

// tell is what must hold when the agent is told something.
func (e *env) tell(p *part, t Tell) error {
	last := ""
	if p.log != "" {
		last = p.log[len(p.log)-1:]
	}
	ok := false
	switch t.Status {
	case StagedStatus:
		ok = last == "s" && !t.Last
	case Done:
		ok = last == "o" && t.Last == (p.kind.class != capability.FSWriteRev) || last == "v" && t.Last
		p.resting = !t.Last
	case Denied:
		ok = t.Last && (last == "d" || last == "x")
	case Failed:
		ok = t.Last && strings.Contains("fwe", last) && last != "" || !t.Last && strings.Contains(p.log, "o")
		p.resting = !t.Last
	case Refused:
		ok = t.Last && (p.lost || e.dead || p.log == "" && !e.session(p.kind.session).mayAsk())
	case Doubtful:
		ok = t.Last && p.lost || !t.Last && p.op == opDo
		p.doubt = t.Last
	}
	if !ok {
		return broken("told %s (last %v) with %q in the log", t.Status, t.Last, p.log)
	}
	if t.Status != Doubtful {
		p.lease = false
	}
	if !t.Last {
		return nil
	}
	p.gone, p.lease, p.resting = true, false, false
	if p.op == opWait {
		p.op = opNone
	}
	if p.op != opNone {
		return broken("told for the last time while %d is under way", p.op)
	}
	if !p.lost && !p.doubt && !e.dead && p.log != "" && !e.words(p).complete[p.log] {
		return broken("ended with %q in the log", p.log)
	}
	return nil
}

func (s *sess) mayAsk() bool { return s.open && !s.ended }

// durable adds records of a call to the log.
func (e *env) durable(p *part) error {
	p.log += p.letters()
	if !e.words(p).begun[p.log] {
		return broken("%s has %q in the log", p.kind.name, p.log)
	}
	return nil
}

// letters are the records that the append in flight makes.
func (p *part) letters() string {
	switch p.what {
	case Denial:
		return "qd"
	case AskedFor:
		return "q"
	case Decided:
		return either(p.answer, "a", "d")
	case StagedFor:
		return "qs"
	case IntendedByLevel:
		return either(p.kind.class == capability.FSWriteRev, "qasi", "qai")
	case IntendedToAct:
		return "i"
	case IntendedToUndo:
		return "u"
	case ReadByLevel:
		return "qa" + either(p.ok, "o", "f")
	case Came:
		if p.undo {
			return either(p.ok, "v", "w")
		}
		return either(p.ok, "o", "f")
	case NotTried:
		return "e"
	case Dropped:
		return "x"
	}
	return "?"
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// words are the lives that a call may have. One with a used key has none but a
// refused one.
func (e *env) words(p *part) lives {
	if p == &e.other {
		return refusedLives
	}
	return kindLives[p.kind]
}

// act changes the world as the host does: all of it, or the first object only.
func (e *env) act(p *part, value int8, whole bool) error {
	if p.phase == Rollback {
		p.acts[1]++
	} else {
		p.acts[0]++
	}
	for i, o := range p.on {
		is, becomes := p.before[i], value
		if p.phase == Rollback {
			is, becomes = value, p.before[i]
		}
		if e.world[o] != is {
			return broken("object %d is %d and not %d when it is written", o, e.world[o], is)
		}
		if i == 0 || whole {
			e.world[o] = becomes
		}
	}
	return nil
}

// states are what is there now of what the call changes.
func (e *env) states(p *part) []int8 {
	out := make([]int8, len(p.on))
	for i, o := range p.on {
		out[i] = e.world[o]
	}
	return out
}
