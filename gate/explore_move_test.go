package gate

import (
	"fmt"
	"slices"

	"github.com/iff-run/iff/capability"
)

// deed is what may happen next. Those behind harm are disturbances: each happens
// at most once, and a scenario says how many.
type deed uint8

const (
	deedSubmit deed = iota
	deedPreview
	deedPlan
	deedAppended
	deedAnswer
	deedDid
	deedBack
	deedWaited
	deedWritten
	deedConfirm
	deedUnhold
	deedResume
	deedHarm
	deedBadPreview
	deedBadPlan
	deedBadAppend
	deedDeadAppend
	deedBadHost
	deedPartly
	deedHang
	deedPause
	deedEnd
	deedRevoke
	deedHold
	deedUndo
	deedAgain
	deedGive
	deedCrash
	deedBadWrite
	deedSettled
	deedWide
)

var deedNames = [...]string{
	"submit", "preview", "plan", "appended", "answer", "did", "back", "waited", "written", "confirm", "unhold", "resume", "",
	"bad-preview", "bad-plan", "bad-append", "dead-append", "bad-host", "partly", "hang", "pause", "end", "revoke", "hold", "undo",
	"again", "give", "crash", "bad-write", "settled", "wide",
}

// move is one thing that happens, to one call or session, in one of several ways.
type move struct {
	deed deed
	to   int
	how  int
}

func (v move) String() string { return fmt.Sprintf("%s %d/%d", deedNames[v.deed], v.to, v.how) }

// moves lists what may happen next, disturbances last.
func (x *explorer) moves(m *Machine, e *env) []move {
	var out []move
	add := func(d deed, to int, hows ...int) {
		if d > deedHarm && (e.left == 0 || e.used>>d&1 == 1 || x.without>>d&1 == 1) {
			return
		}
		if len(hows) == 0 {
			hows = []int{0}
		}
		for _, how := range hows {
			out = append(out, move{d, to, how})
		}
	}
	for i, p := range e.parts {
		x.movesOf(e, i, p, add)
	}
	if e.other.kind != nil {
		x.movesOf(e, otherPart, e.other, add)
	}
	for i := range e.sess {
		x.movesIn(m, e, i, add)
	}
	if e.held {
		add(deedUnhold, 0)
	} else {
		add(deedHold, 0)
	}
	for how := range e.crashes() {
		add(deedCrash, 0, how)
	}
	return out
}

// otherPart is the number of the call that comes with a used key.
const otherPart = 9

type adder func(d deed, to int, hows ...int)

func (x *explorer) movesOf(e *env, i int, p part, add adder) {
	switch {
	case !p.submitted:
		for j := range i {
			if !e.parts[j].submitted && e.parts[j].same(p.role) {
				return // the one before is no different
			}
		}
		add(deedSubmit, i)
		return
	case i == 0 && e.session(p.kind.session).open && (!p.gone || p.log != ""):
		add(deedAgain, 0, 0, 1)
	}
	if p.doubt {
		add(deedSettled, i)
	}
	switch p.op {
	case opPreview:
		add(deedPreview, i)
		add(deedBadPreview, i)
	case opPlan:
		add(deedPlan, i)
		add(deedBadPlan, i)
		if !p.approved && !p.undo {
			add(deedWide, i)
		}
	case opAppend:
		if !e.dead {
			add(deedAppended, i)
			add(deedBadAppend, i)
			add(deedDeadAppend, i, 0, 1)
		} else if add(deedAppended, i, 1); p.early {
			add(deedAppended, i)
		}
	case opAsk:
		add(deedAnswer, i, 0, 1)
	case opWait:
		add(deedWaited, i)
	case opDo:
		add(deedDid, i)
		add(deedBadHost, i)
		if len(p.on) > 0 && p.phase != Read {
			add(deedPartly, i)
		}
		add(deedHang, i)
	case opHung:
		add(deedBack, i, 0, 1)
	}
}

func (x *explorer) movesIn(m *Machine, e *env, i int, add adder) {
	s := e.sess[i]
	if s.over || !s.open && !s.writing {
		return
	}
	if s.writing {
		if e.dead {
			add(deedWritten, i, 1)
		} else {
			add(deedWritten, i)
			add(deedBadWrite, i, 0, 1)
		}
	}
	if !x.uses(i) {
		return
	}
	if s.open && !s.paused && !s.ended && slices.ContainsFunc(e.parts, func(p part) bool { return p.rests() && seat(p.kind.session) == i }) {
		add(deedConfirm, i)
	}
	if s.open && !s.ended {
		if s.paused {
			add(deedResume, i)
		}
		add(deedPause, i)
		if i == 0 {
			add(deedGive, i)
		}
	}
	if !e.evicted[i] {
		add(deedRevoke, i)
	}
	if slices.ContainsFunc(e.parts, func(p part) bool { return p.resting && seat(p.kind.session) == i }) {
		add(deedUndo, i)
		add(deedEnd, i, 2)
	}
	add(deedEnd, i, 0)
}

// rests says whether the call is staged and nothing is under way for it.
func (p part) rests() bool {
	return p.submitted && !p.gone && p.op == opNone && !p.resting && p.log == "qs"
}

// uses says whether the scenario has calls in a session.
func (x *explorer) uses(session int) bool {
	return slices.ContainsFunc(x.roles, func(p role) bool { return seat(p.kind.session) == session })
}

// crashes is in how many ways a crash may leave what is in flight.
func (e *env) crashes() int {
	n := 1
	for _, p := range e.all() {
		n *= p.fates()
	}
	for _, s := range e.sess {
		if s.writing && s.open {
			n *= 2
		}
	}
	return n
}

// fates: records in flight may be lost or not, an effect may not have begun, be
// there in part or whole.
func (p *part) fates() int {
	switch {
	case p.op == opAppend:
		return 2
	case p.op != opDo && p.op != opHung, p.phase == Read, p.kind.class.Effect() == capability.None:
		return 1
	case len(p.on) == 1:
		return 2
	}
	return 3
}
