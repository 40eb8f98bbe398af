package gate

import (
	"github.com/iff-run/iff/level"
)

func tells(subjects ...string) func(*Facts) { return func(f *Facts) { f.Tells = subjects } }

// checkReadSkills: a read that tells files of skills is a delivery of them.
func checkReadSkills() error {
	for _, c := range []struct {
		subjects []string
		change   func(*Rules)
		evict    bool
		level    level.Level
		high     bool
	}{
		{subjects: []string{"uu"}, level: level.Unverified},
		{subjects: []string{"dd"}, level: level.Declared},
		{subjects: []string{"dd", "uu"}, level: level.Unverified},
		{subjects: []string{"uu", "dd"}, level: level.Unverified},
		{subjects: []string{""}, level: level.Unverified},
		{subjects: []string{"zz"}, level: level.Unverified},
		{subjects: []string{"ee"}, change: extra, evict: true, level: level.Unverified, high: true},
		{subjects: []string{"ee"}, change: extra, level: level.Declared, high: true},
	} {
		r := newRig(c.change)
		if c.evict {
			r.does(Narrowed{Subjects: []string{"ee"}}, Evict{})
		}
		has := func() bool {
			a := r.m.agents["D"]
			return a.given && a.level == c.level && (a.mark == r.high) == c.high
		}
		r.does(r.call("a", "d", "read", tells(c.subjects...)), RecordSession{Session: "d", What: RecordTold, Level: c.level})
		r.wants("a read of a skill lowers before it is recorded", has)
		r.does(Forgiven{Agent: "D"})
		r.wants("a reset does not forget what is about to be told", has)
		r.does(Recorded{Session: "d"}, DoIt{ID: "a", Phase: Read})
		r.wants("no skill is active by being read", func() bool { return r.m.sessions["d"].skill == "dd" })
		r.does(Forgiven{Agent: "D"})
		r.wants("a reset does not forget what is being told", has)
		r.does(Finished{ID: "a"}, Append{ID: "a", What: ReadByLevel})
		r.does(Appended{ID: "a"}, Tell{ID: "a", Status: Done, Last: true})
		if r.err != nil {
			return r.err
		}
	}
	return checkReadSkillFails()
}

func extra(r *Rules) {
	k := r.Skills["dd"]
	k.Subject, k.Label = "ee", r.Clearance
	r.Skills["ee"] = k
}

func checkReadSkillFails() error {
	r := newRig(nil)
	told := RecordSession{Session: "d", What: RecordTold}
	r.does(r.call("a", "d", "read", tells("uu"), keyIs("k", 1)), told)
	r.does(Recorded{Session: "d", Failed: true}, Tell{ID: "a", Status: Refused, Reason: LogFailed, Last: true})
	r.does(r.call("b", "d", "read", tells("uu"), keyIs("k", 1)), told)
	r.does(Pausing{Session: "d"})
	r.does(Recorded{Session: "d"}, refused("b", SessionPaused), RecordSession{Session: "d", What: RecordPaused})
	r.does(Recorded{Session: "d"}, TellSession{Session: "d"})
	r.does(Appended{ID: "b"}, Tell{ID: "b", Status: Denied, Reason: SessionPaused, Last: true})
	r.does(r.call("c", "d2", "read-asked", tells("uu")), Append{ID: "c", What: AskedFor})
	r.does(Appended{ID: "c"}, Ask{ID: "c"})
	r.does(Answered{ID: "c", Approve: true}, Append{ID: "c", What: Decided})
	r.does(Appended{ID: "c"}, RecordSession{Session: "d2", What: RecordTold})
	r.does(Recorded{Session: "d2"}, DoIt{ID: "c", Phase: Read})
	r.does(Forgiven{Agent: "D"})
	r.does(Finished{ID: "c"}, Append{ID: "c", What: Came})
	r.does(Appended{ID: "c"}, Tell{ID: "c", Status: Done, Last: true})
	r.wants("what is told counts after a reset", func() bool { return r.m.level(r.m.sessions["d2"]) == level.Unverified })
	r.does(Forgiven{Agent: "D"})
	again := r.call("e", "d2", "read", tells("uu"), reads(r.high), keyIs("k", 1))
	r.does(again, Repeat{ID: "e", Of: "b"})
	r.wants("what is told again counts again", func() bool {
		return r.m.level(r.m.sessions["d2"]) == level.Unverified && r.m.agents["D"].mark == r.high
	})
	return r.err
}
