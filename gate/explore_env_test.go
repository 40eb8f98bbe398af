package gate

import (
	"fmt"
	"slices"
	"strings"
)

// op is what the shell is doing for a call.
type op uint8

const (
	opNone op = iota
	opPreview
	opPlan
	opAppend
	opAsk
	opWait
	opDo
	opHung
)

// part is a call as the world outside of the machine sees it.
type part struct {
	role
	skill     int8 // that was active when it was asked for: dd, uu
	submitted bool
	gone      bool // told for the last time, or forgotten with its session
	early     bool // the append was begun before the log was known to take no more
	op        op
	what      What // that is being appended
	phase     Phase
	ok        bool // the outcome that is being appended says that it was done
	answer    bool
	undo      bool // a plan to undo is wanted
	wide      bool // the plan showed more than a grant covers
	approved  bool // the plan has to be the one that was asked about
	log       string
	lost      bool // an append failed
	resting   bool // told that it is done and can be undone
	lease     bool
	doubt     bool    // in doubt: leased until that is settled
	asked     []int8  // states when it was asked for
	before    []int8  // states before, from the plan under the lease
	acts      [2]int8 // how often it was done and undone
}

// sess is a session as the world outside sees it.
type sess struct {
	skill         int8 // that is active: dd, uu
	writing       bool
	what          SessionRecord
	subject       string
	open          bool
	paused, ended bool // known to the machine, so that nothing new may be intended
	logged        bool // that it is paused is in the log
	over          bool
}

// env is the world, the log, the broker, the hosts and the operators.
type env struct {
	parts   []part
	other   part // asked for with the key of another call
	world   [3]int8
	sess    [2]sess // d, u
	dead    bool
	held    bool
	quiet   bool
	evicted [2]bool // dd, uu are known to be revoked
	told    bool    // all evictions are recorded
	lowered bool    // the agent of d was given what is unverified
	secret  bool    // the agent of d read what is secret
	used    uint32  // disturbances that were used up
	left    int8
}

func (e *env) clone() *env {
	n := *e
	n.parts = slices.Clone(e.parts)
	return &n
}

func (e *env) session(id string) *sess {
	if id == "d" {
		return &e.sess[0]
	}
	return &e.sess[1]
}

// part finds a call by its id: c0, c1, ..., and x for the one that comes with a
// key of another.
func (e *env) part(id string) *part {
	if id == "x" {
		return &e.other
	}
	return &e.parts[id[1]-'0']
}

func (e *env) all() []*part {
	out := make([]*part, 0, len(e.parts)+1)
	for i := range e.parts {
		out = append(out, &e.parts[i])
	}
	if e.other.kind != nil {
		out = append(out, &e.other)
	}
	return out
}

func idOf(i int) string { return "c" + string(rune('0'+i)) }

// violation is a broken promise.
type violation string

func (v violation) Error() string { return string(v) }

func broken(format string, args ...any) error { return violation(fmt.Sprintf(format, args...)) }

// take does what a command says, and says if it may not be said here.
func (e *env) take(c Command, now Event) error {
	switch c := c.(type) {
	case RecordSession:
		s := e.session(c.Session)
		if s.writing || s.over {
			return broken("session %s: a record is written while another is, or after its end", c.Session)
		}
		s.writing, s.what, s.subject = true, c.What, c.Subject
		return nil
	case TellSession:
		if c.Over {
			return e.over(c.Session)
		}
		return nil
	case Evict:
		return e.evict()
	case Quiet:
		return e.becomeQuiet()
	case Repeat:
		if _, ok := now.(Submitted); !ok || c.Of == c.ID {
			return broken("a call is answered with another one's outcome")
		}
		return nil
	case Late:
		if _, ok := now.(Answered); !ok {
			return broken("late without an answer")
		}
		return nil
	}
	if c.of() == "y" {
		return broken("a used key is not answered with what became of its call")
	}
	p := e.part(c.of())
	if !p.submitted || p.gone {
		return broken("%T for a call that has ended", c)
	}
	return e.takeCall(p, c)
}

func (e *env) takeCall(p *part, c Command) error {
	if t, ok := c.(Tell); ok {
		return e.tell(p, t)
	}
	if _, ok := c.(Abandon); ok {
		if p.op != opAsk {
			return broken("a question is abandoned that was not asked")
		}
		p.op = opNone
		return nil
	}
	if _, ok := c.(PlanIt); ok && p.op == opWait {
		p.op = opNone
	}
	if _, ok := c.(Append); ok && p.op == opWait {
		p.op = opNone
	}
	if p.op != opNone {
		return broken("%T while %d is under way", c, p.op)
	}
	switch c := c.(type) {
	case Preview:
		p.op, p.lease = opPreview, false
	case Wait:
		p.op, p.resting = opWait, false
	case PlanIt:
		return e.lease(p, c)
	case Ask:
		if !strings.HasPrefix(p.log, "q") {
			return broken("asked before the request is durable")
		}
		if e.session(p.kind.session).ended || e.evicted[p.skill] {
			return broken("asked for a session or under a skill that is no more")
		}
		p.op = opAsk
	case Append:
		p.op, p.what, p.early = opAppend, c.What, !e.dead
		if c.What == Came && c.Undo != p.undo {
			return broken("the outcome of another phase")
		}
		if c.What == Denial || c.What == NotTried || c.What == Dropped {
			return e.mayRefuse(p, c.Why)
		}
		return e.mayAppend(p, c.What)
	case DoIt:
		p.op, p.phase = opDo, c.Phase
		return e.mayDo(p)
	}
	return nil
}

// lease gives a call its objects, which nobody else may have.
func (e *env) lease(p *part, c PlanIt) error {
	if e.held {
		return broken("a lease while a barrier is held")
	}
	for _, q := range e.all() {
		if q != p && (q.lease || q.doubt) && overlap(q.objects(), p.objects()) {
			return broken("two leases on %v", p.objects())
		}
	}
	p.op, p.lease, p.undo, p.approved, p.resting = opPlan, true, c.Undo, c.Approved, false
	if !c.Undo && c.Approved != strings.Contains(p.log, "a") {
		return broken("plan: approved is %v with %q in the log", c.Approved, p.log)
	}
	return nil
}

func (e *env) evict() error {
	if e.told {
		return broken("an eviction is recorded twice")
	}
	e.told = true
	for _, p := range e.all() {
		if p.op == opAppend && intends(p.what) && e.evicted[p.skill] {
			return broken("an eviction is recorded while an intent under it is")
		}
	}
	return nil
}

func (e *env) becomeQuiet() error {
	if !e.held || e.quiet {
		return broken("quiet, and nobody wants it")
	}
	e.quiet = true
	for _, p := range e.all() {
		if p.lease {
			return broken("quiet while a lease is held")
		}
	}
	return nil
}

func (e *env) over(id string) error {
	s := e.session(id)
	s.over, s.open = true, false
	for i, p := range e.parts {
		if p.submitted && !p.gone && p.kind.session == id {
			if !p.resting {
				return broken("session %s is over while %s is not", id, idOf(i))
			}
			e.parts[i].gone, e.parts[i].resting = true, false
		}
	}
	if e.other.kind != nil && e.other.submitted && !e.other.gone && e.other.kind.session == id {
		return broken("session %s is over while x is not", id)
	}
	return nil
}

func seat(session string) int { return int(session[0]-'d') % 2 }

func intends(w What) bool { return w == IntendedByLevel || w == IntendedToAct }
