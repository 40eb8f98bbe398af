package gate

import (
	"fmt"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
)

func (r *rig) none() label.Label { return label.Label{} }

func checkLimits() error {
	r := newRig(func(r *Rules) { r.Calls, r.Asked = 2, 1 })
	r.toAsked(r.call("a", "d", "asked"))
	r.does(r.call("b", "d2", "asked"), Preview{ID: "b"})
	r.does(Planned{ID: "b"}, refused("b", TooManyCalls))
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Denied, Reason: TooManyCalls, Last: true})
	r.does(r.call("c", "u", "unverified"), Preview{ID: "c"})
	r.does(Planned{ID: "c"}, Append{ID: "c", What: AskedFor})
	r.does(Appended{ID: "c", Failed: true}, Tell{ID: "c", Status: Refused, Reason: LogFailed, Last: true})
	r.toAsked(r.call("e", "u", "unverified"))
	r.does(r.call("f", "d", "read"), DoIt{ID: "f", Phase: Read})
	r.does(r.call("g", "d", "read"), refused("g", TooManyCalls))
	r.does(Appended{ID: "g"}, Tell{ID: "g", Status: Denied, Reason: TooManyCalls, Last: true})
	r.does(Answered{ID: "a", Why: DeniedByBroker}, Append{ID: "a", What: Decided, Why: DeniedByBroker})
	r.does(Answered{ID: "a", Approve: true}, Late{ID: "a"})
	r.does(Appended{ID: "a"}, Tell{ID: "a", Status: Denied, Reason: DeniedByBroker, Last: true})
	r.toLease(r.call("h", "d2", "asked"))
	r.toAsked(r.call("i", "d2", "asked"))
	return r.err
}

func checkBuffer() error {
	r := newRig(func(r *Rules) { r.Buffer = 10 })
	r.toStaged(r.call("a", "u", "staged"), 6)
	r.does(r.call("b", "u", "staged"), Preview{ID: "b"})
	r.does(Planned{ID: "b", Size: 5}, refused("b", BufferFull))
	r.does(Confirming{Session: "u"}, Ask{ID: "a"}, TellSession{Session: "u"})
	r.does(Answered{ID: "a", Approve: true}, Append{ID: "a", What: Decided})
	r.does(Appended{ID: "a"}, PlanIt{ID: "a", Approved: true})
	r.does(Planned{ID: "a", Size: 10}, Append{ID: "a", What: IntendedToAct})
	r.wants("what is kept is counted once", func() bool { return r.m.sessions["u"].buffer == 10 })
	r.toDone(r.call("c", "d", "commit", changes(stageObjects[1])), 8)
	r.does(r.call("e", "d", "commit", changes(stageObjects[1])), PlanIt{ID: "e"})
	r.does(Planned{ID: "e", Size: 3}, refused("e", BufferFull))
	r.does(r.call("f", "d2", "commit", changes("work/z")), PlanIt{ID: "f"})
	r.does(Planned{ID: "f", Size: 10}, Append{ID: "f", What: IntendedByLevel})
	return r.err
}

func checkKeys() error {
	r := newRig(nil)
	r.does(r.call("a", "d", "auto", keyIs("k", 1)), PlanIt{ID: "a"})
	r.does(r.call("b", "d2", "auto", keyIs("k", 1)), Repeat{ID: "b", Of: "a"})
	r.does(r.call("c", "d", "auto", keyIs("k", 2)), refused("c", KeyReused))
	r.does(r.call("e", "u", "unverified", keyIs("k", 1)), Preview{ID: "e"})
	r.does(r.call("f", "u", "unverified"), Preview{ID: "f"})
	r.does(r.call("g", "u", "unverified"), Preview{ID: "g"})
	r.does(Planned{ID: "a"}, Append{ID: "a", What: IntendedByLevel})
	r.does(Appended{ID: "a", Failed: true}, Tell{ID: "a", Status: Refused, Reason: LogFailed, Last: true})
	r.toDone(r.call("h", "d2", "auto", keyIs("k", 1)), 0)
	r.does(r.call("i", "d", "auto", keyIs("k", 1)), Repeat{ID: "i", Of: "h"})
	r.does(Ended{Session: "d2"}, RecordSession{Session: "d2", What: RecordEnded})
	r.does(Recorded{Session: "d2"}, TellSession{Session: "d2"}, TellSession{Session: "d2"}, TellSession{Session: "d2", Over: true})
	r.does(r.call("j", "d", "auto", keyIs("k", 1)), Repeat{ID: "j", Of: "h"})
	r.does(Appended{ID: "c", Failed: true, Fatal: true}, Tell{ID: "c", Status: Refused, Reason: LogFailed, Last: true})
	r.does(r.call("l", "d", "auto", keyIs("k", 1)), Repeat{ID: "l", Of: "h"})
	r.does(r.call("m", "d", "auto", keyIs("n", 1)), Tell{ID: "m", Status: Refused, Reason: LogFailed, Last: true})
	return r.err
}

func checkQueue() error {
	x, y, z := stageObjects[0], stageObjects[1], corpus.Object("work/z")
	r := newRig(nil)
	r.does(r.call("a", "d", "auto", changes(x)), PlanIt{ID: "a"})
	r.does(r.call("b", "d", "auto", changes(x, y)), Wait{ID: "b"})
	r.does(r.call("c", "d", "auto", changes(y)), Wait{ID: "c"})
	r.does(r.call("e", "d", "auto", changes(z)), PlanIt{ID: "e"})
	r.does(r.call("f", "d", "auto", changes("work/t")), Wait{ID: "f"})
	r.does(Planned{ID: "a", Refused: NotFound}, refused("a", NotFound))
	r.does(Appended{ID: "a"}, Tell{ID: "a", Status: Denied, Reason: NotFound, Last: true}, PlanIt{ID: "b"})
	r.does(Held{})
	r.does(Planned{ID: "b", Refused: NotFound}, refused("b", NotFound))
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Denied, Reason: NotFound, Last: true})
	r.does(Planned{ID: "e", Refused: NotFound}, refused("e", NotFound))
	r.does(Appended{ID: "e"}, Tell{ID: "e", Status: Denied, Reason: NotFound, Last: true}, Quiet{})
	r.does(r.call("g", "d", "auto", changes(z)), Wait{ID: "g"})
	r.does(WaitedEnough{ID: "f"}, refused("f", Busy))
	r.does(Unheld{}, PlanIt{ID: "c"}, PlanIt{ID: "g"})
	r.does(r.call("h", "d", "auto", changes("work/.")), Wait{ID: "h"})
	r.does(Ended{Session: "d"}, Append{ID: "h", What: Denial, Why: SessionEnded})
	return r.err
}

// checkLeases holds leases against a list of who holds what, for everything that
// three calls can do with a tree of seven objects.
func checkLeases() error {
	objects := []corpus.Object{"c/.", "c/a", "c/a/b", "c/a/b/c", "c/ab", "d/.", "d/a"}
	inWay := func(a, b corpus.Object) bool { return a == b || a.Below(b) || b.Below(a) }
	for n := range 7 * 7 * 7 * 7 {
		pick := func(i int) corpus.Object {
			for range i {
				n /= 7
			}
			return objects[n%7]
		}
		first, second, third := []corpus.Object{pick(0), pick(1)}, []corpus.Object{pick(1)}, []corpus.Object{pick(1)}
		l := newLeases()
		if !l.free(first) {
			return fmt.Errorf("%v is not free at first", first)
		}
		l.take("1", first)
		clash := inWay(first[0], second[0]) || inWay(first[1], second[0])
		if l.free(second) == clash || overlap(first, second) != clash {
			return fmt.Errorf("%v and %v: free is %v", first, second, !clash)
		}
		if !clash {
			l.take("2", second)
		}
		busy := inWay(first[0], third[0]) || inWay(first[1], third[0]) || !clash && inWay(second[0], third[0])
		if l.free(third) == busy {
			return fmt.Errorf("%v, %v and %v: free is %v", first, second, third, !busy)
		}
		l.release(first)
		if !clash {
			if l.free(third) == inWay(second[0], third[0]) {
				return fmt.Errorf("%v and %v once %v is released: free is not so", second, third, first)
			}
			l.release(second)
		}
		if len(l.owner)+len(l.shared) > 0 {
			return fmt.Errorf("%v and %v leave %v", first, second, l)
		}
	}
	return nil
}

func checkRefusals() error {
	r := newRig(nil)
	r.does(r.call("a", "d", "undeclared"), refused("a", Undeclared))
	r.does(r.call("b", "d", "undeclared", void(NoHost)), refused("b", Undeclared))
	r.does(r.call("c", "d", "auto", void(NoHost)), refused("c", NoHost))
	r.does(r.call("e", "d", "auto", void(CallMalformed)), refused("e", CallMalformed))
	r.does(r.call("f", "d", "commit", func(f *Facts) { f.Reversible = false }), refused("f", NotReversible))
	r.does(r.call("g", "nowhere", "auto"), Tell{ID: "g", Status: Refused, Reason: SessionUnknown, Last: true})
	r.does(r.call("h", "d", "hidden"), Append{ID: "h", What: AskedFor})
	r.does(r.call("l", "d", "guarded", void(HardLinked)), Append{ID: "l", What: AskedFor})
	r.does(Appended{ID: "l"}, Ask{ID: "l"})
	r.does(Answered{ID: "l", Approve: true}, Append{ID: "l", What: Decided})
	r.does(Appended{ID: "l"}, Append{ID: "l", What: NotTried, Why: HardLinked})
	r.does(r.call("n", "d", "guarded"), Preview{ID: "n"})
	r.does(Planned{ID: "n", Refused: IsLink}, Append{ID: "n", What: AskedFor})
	r.does(Appended{ID: "n"}, Ask{ID: "n"})
	r.does(Answered{ID: "n", Approve: true}, Append{ID: "n", What: Decided})
	r.does(Appended{ID: "n"}, Append{ID: "n", What: NotTried, Why: IsLink})
	r.does(r.call("o", "d", "auto"), PlanIt{ID: "o"})
	r.does(Planned{ID: "o", Wider: true}, Preview{ID: "o"})
	r.does(r.call("p", "d2", "auto"), PlanIt{ID: "p"})
	r.does(Planned{ID: "o", Wider: true}, Append{ID: "o", What: AskedFor})
	r.does(r.call("i", "d", "undeclared", func(f *Facts) { f.Guarded = true }), Preview{ID: "i"})
	r.does(r.call("j", "d", "auto", target(capability.FSWriteIrrev, "out/y")), Preview{ID: "j"})
	r.does(r.call("j", "d", "auto"))
	return r.err
}

func checkZero() error {
	var m Machine
	if got := m.Step(Opened{Session: "d"}); got != nil {
		return fmt.Errorf("the zero machine does %s", list(got))
	}
	n := NewMachine(Rules{}, nil)
	n.Step(Opened{Session: "d", Agent: "D"})
	n.Step(Recorded{Session: "d"})
	got := n.Step(Submitted{Facts{ID: "a", Session: "d"}})
	if want := refused("a", SkillRevoked); len(got) != 1 || got[0] != Command(want) {
		return fmt.Errorf("a machine without rules does %s, want %s", list(got), list([]Command{want}))
	}
	return nil
}
