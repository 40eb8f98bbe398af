package gate

import (
	"fmt"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/level"
)

// law is a rule that is checked apart from the exploration.
type law struct {
	name  string
	check func() error
}

var laws = []law{
	{"route", checkRoute}, {"labels at the request", checkLabelsAtRequest}, {"labels at the intent", checkLabelsAtIntent},
	{"what was read", checkMark}, {"levels", checkLevels}, {"reads of skills", checkReadSkills}, {"levels at the intent", checkLevelAtIntent}, {"limits", checkLimits}, {"places", checkPlaces}, {"what nobody approves", checkUnwanted},
	{"buffer", checkBuffer}, {"keys", checkKeys}, {"who came first", checkQueue}, {"leases", checkLeases}, {"undoing", checkUndo},
	{"staged in order", checkStaged}, {"sessions", checkSessions}, {"refusals", checkRefusals}, {"overdue", checkOverdue},
	{"doubts", checkDoubts}, {"revocation", checkRevocation}, {"zero values", checkZero},
}

// checkRoute holds the routing against the table of DESIGN section 2, row by row.
func checkRoute() error {
	rows := []struct {
		effect                capability.Effect
		declaredUp            bool
		missing, out, covered way
	}{
		{capability.None, false, deny, ask, run},
		{capability.None, true, deny, ask, run},
		{capability.Reversible, false, deny, ask, stage},
		{capability.Reversible, true, deny, ask, commit},
		{capability.Irreversible, false, deny, ask, ask},
		{capability.Irreversible, true, deny, ask, auto},
	}
	beyond := level.Formal + 1 // no level, so at least nothing
	for _, row := range rows {
		for lv := level.Unverified; lv <= beyond; lv++ {
			if up := lv == level.Declared || lv == level.Tested || lv == level.Formal; up != row.declaredUp {
				continue
			}
			for n := range 8 {
				c := claim{effect: row.effect, level: lv, declared: n&1 != 0, covered: n&2 != 0, guarded: n&4 != 0}
				want := row.covered
				switch {
				case c.guarded:
					want = ask
				case !c.declared:
					want = row.missing
				case !c.covered:
					want = row.out
				}
				if got := route(c); got != want {
					return fmt.Errorf("%+v goes %d, want %d", c, got, want)
				}
			}
		}
	}
	return nil
}

func checkLabelsAtRequest() error {
	r := newRig(func(r *Rules) { r.Clearance = r.Bottom })
	r.does(r.call("a", "d", "read", reads()), refused("a", Unlabelled))
	r.does(r.call("b", "d", "read", reads(r.low, r.none())), refused("b", Unlabelled))
	r.does(r.call("c", "d", "read", reads(r.high)), refused("c", AboveClearance))
	r.does(r.call("e", "d", "auto", writesTo()), refused("e", Unlabelled))
	r.does(r.call("f", "d", "auto", writesTo(r.low, r.none())), refused("f", Unlabelled))
	r.does(r.call("g", "d", "read"), DoIt{ID: "g", Phase: Read})
	r.does(r.call("h", "d", "read-asked", reads(r.high)), refused("h", AboveClearance))
	if r.err != nil {
		return r.err
	}
	r = newRig(nil)
	r.does(r.call("a", "d", "read-secret"), DoIt{ID: "a", Phase: Read})
	r.does(r.call("b", "d", "auto"), refused("b", SinkBelowMark))
	r.does(r.call("c", "d", "auto", writesTo(r.high, r.low)), refused("c", SinkBelowMark))
	r.does(r.call("e", "d2", "asked"), refused("e", SinkBelowMark))
	r.does(r.call("f", "u", "unverified"), Preview{ID: "f"})
	r.does(r.call("g", "d", "auto", writesTo(r.high)), PlanIt{ID: "g"})
	return r.err
}

func checkLabelsAtIntent() error {
	r := newRig(nil)
	r.does(r.call("a", "d", "auto"), PlanIt{ID: "a"})
	r.toLease(r.call("b", "d", "asked", changes(stageObjects[1])))
	r.does(r.call("s", "d2", "read-secret"), DoIt{ID: "s", Phase: Read})
	r.does(Planned{ID: "a"}, Append{ID: "a", What: Denial, Why: SinkBelowMark})
	r.does(Planned{ID: "b"}, Append{ID: "b", What: NotTried, Why: SinkBelowMark})
	return r.err
}

func checkMark() error {
	r := newRig(nil)
	mark := func(agent string) func() bool { return func() bool { return r.m.agents[agent].mark == r.high } }
	r.wants("nothing is read at first", func() bool { return r.m.agents["D"].mark == r.low })
	r.does(r.call("a", "d", "read-asked", reads(r.high)), Append{ID: "a", What: AskedFor})
	r.wants("what is denied counts as read", mark("D"))
	r.wants("another agent did not read it", func() bool { return !mark("U")() })
	r.does(Forgiven{Agent: "D"})
	r.wants("what will be told counts after a reset", mark("D"))
	r.does(Appended{ID: "a", Failed: true}, Tell{ID: "a", Status: Refused, Reason: LogFailed, Last: true})
	r.does(Forgiven{Agent: "D"})
	r.wants("a reset forgets what was read", func() bool { return r.m.agents["D"].mark == r.low })
	r.does(Opened{Session: "d3", Agent: "D", Mark: r.high}, RecordSession{Session: "d3", What: RecordOpened})
	r.wants("what the log says was read counts", mark("D"))
	if r.err != nil {
		return r.err
	}
	r = newRig(func(r *Rules) {
		k := r.Skills["uu"]
		k.Label = r.Clearance
		r.Skills["uu"] = k
	})
	r.does(Given{Session: "d", Subject: "uu"}, RecordSession{Session: "d", What: RecordSkill, Subject: "uu"})
	r.wants("a skill counts as read before it is delivered", mark("D"))
	r.does(Forgiven{Agent: "D"})
	r.does(Recorded{Session: "d"}, TellSession{Session: "d"})
	r.wants("a skill counts as read when it is delivered", mark("D"))
	r.does(Forgiven{Agent: "D"})
	r.wants("an active skill counts as read after a reset", mark("D"))
	r.does(r.call("a", "u", "unverified"), refused("a", SinkBelowMark))
	return r.err
}

func checkLevels() error {
	r := newRig(func(r *Rules) {
		k := r.Skills["dd"]
		k.Level = level.Tested
		r.Skills["dd"] = k
	})
	at := func(session string, lv level.Level) func() bool {
		return func() bool { return r.m.level(r.m.sessions[session]) == lv }
	}
	r.wants("the base manifest has its level", at("b", level.Declared))
	r.does(Given{Session: "b", Subject: ""}, RecordSession{Session: "b", What: RecordSkill})
	r.does(Recorded{Session: "b"}, TellSession{Session: "b"})
	r.wants("the base manifest lowers nothing", at("d", level.Tested))
	r.does(Given{Session: "b", Subject: "uu"}, RecordSession{Session: "b", What: RecordSkill, Subject: "uu"})
	r.wants("a skill lowers before it is delivered", at("d", level.Unverified))
	r.does(r.call("a", "d", "auto"), Preview{ID: "a"})
	r.does(Forgiven{Agent: "D"})
	r.does(Recorded{Session: "b"}, TellSession{Session: "b"})
	r.wants("a skill lowers when it is delivered", at("d", level.Unverified))
	r.does(Given{Session: "b", Subject: ""}, RecordSession{Session: "b", What: RecordSkill})
	r.does(Recorded{Session: "b"}, TellSession{Session: "b"})
	r.wants("going back raises nothing", at("b", level.Unverified))
	r.does(Given{Session: "b", Subject: "dd"}, RecordSession{Session: "b", What: RecordSkill, Subject: "dd"})
	r.does(Recorded{Session: "b"}, TellSession{Session: "b"})
	r.wants("a verified skill raises nothing", at("b", level.Unverified))
	r.does(Forgiven{Agent: "D"})
	r.wants("a reset raises", at("b", level.Tested))
	r.does(Opened{Session: "d3", Agent: "D", Level: level.Unverified, Given: true}, RecordSession{Session: "d3", What: RecordOpened})
	r.wants("what the log says was given counts", at("d", level.Unverified))
	r.does(Given{Session: "d", Subject: "zz"}, TellSession{Session: "d", Failed: SkillUnknown})
	r.does(Given{Session: "d3", Subject: "dd"}, TellSession{Session: "d3", Failed: SessionUnknown})
	return r.err
}

func checkLevelAtIntent() error {
	r := newRig(nil)
	r.does(r.call("a", "d", "auto"), PlanIt{ID: "a"})
	r.does(r.call("b", "d", "commit", changes(stageObjects[1])), PlanIt{ID: "b"})
	r.toLease(r.call("c", "d", "asked", changes(corpus.Object("work/z"))))
	r.does(Given{Session: "b", Subject: "uu"}, RecordSession{Session: "b", What: RecordSkill, Subject: "uu"})
	r.does(Planned{ID: "a"}, Append{ID: "a", What: Denial, Why: LevelLowered})
	r.does(Planned{ID: "b"}, Append{ID: "b", What: Denial, Why: LevelLowered})
	r.does(Planned{ID: "c"}, Append{ID: "c", What: IntendedToAct})
	return r.err
}
