package gate

import (
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
)

func (m *Machine) claim(s *session, c *call) claim {
	grants := m.rules.Skills[c.skill].Grants
	class := c.Target.Capability()
	covered := grants.Covers(c.Target)
	for _, t := range c.Also {
		covered = covered && grants.Covers(t)
	}
	return claim{
		effect: class.Effect(), declared: grants.Declares(class), covered: covered,
		level: m.agentOf(s).under(m.rules.Skills[c.skill].Level), guarded: c.Guarded,
	}
}

// standing says why a session or its skill may do nothing now; empty if they
// may.
func (m *Machine) standing(s *session, c *call) Reason {
	_, loaded := m.rules.Skills[c.skill]
	switch {
	case m.dead:
		return LogFailed
	case s.idle() != "":
		return s.idle()
	case m.evicted[c.skill] || !loaded:
		return SkillRevoked
	}
	return ""
}

// idle says why a session does nothing now; empty if it may. A session that is
// not there does nothing.
func (s *session) idle() Reason {
	switch {
	case s == nil || s.state == opening:
		return SessionUnknown
	case s.state == paused:
		return SessionPaused
	case s.state != active:
		return SessionEnded
	}
	return ""
}

// flow joins what the call would tell into the mark, and says what its labels
// forbid. What has no label at all is refused.
func (m *Machine) flow(s *session, c *call) Reason {
	a := m.agentOf(s)
	if reads := c.Target.Capability().Effect() == capability.None; reads && len(c.Reads) == 0 {
		return Unlabelled
	}
	for _, l := range c.Reads {
		if l.IsAbsent() {
			return Unlabelled
		}
		if !l.LessEq(m.rules.Clearance) {
			return AboveClearance
		}
		a.mark = a.mark.Join(l)
	}
	return m.sinks(s, c)
}

// sinks says whether what the session has read may flow to where the call
// writes.
func (m *Machine) sinks(s *session, c *call) Reason {
	mark := m.agentOf(s).mark
	writes := c.Target.Capability().Effect() != capability.None
	if mark.IsAbsent() || writes && len(c.Sinks) == 0 || slices.ContainsFunc(c.Sinks, label.Label.IsAbsent) {
		return Unlabelled
	}
	for _, sink := range c.Sinks {
		if !mark.LessEq(sink) {
			return SinkBelowMark
		}
	}
	return ""
}

// inDoubt says whether the call would change what a call in doubt may have
// changed.
func (m *Machine) inDoubt(c *call) bool {
	for _, other := range m.doubts {
		if overlap(other.Changes, c.Changes) {
			return true
		}
	}
	return false
}

// level is that of a session: the lowest of the skills its agent was given, else
// the base manifest's.
func (m *Machine) level(s *session) level.Level {
	return m.agentOf(s).under(m.rules.Skills[s.skill].Level)
}

// under is the level at which the agent acts under a skill of a level.
func (a *agent) under(lv level.Level) level.Level {
	if a != nil && a.given && !a.level.AtLeast(lv) {
		return a.level
	}
	return lv
}

// lower takes a level into account that the agent's sessions have from now on.
func (a *agent) lower(lv level.Level) {
	if !a.given || !lv.AtLeast(a.level) {
		a.level, a.given = lv, true
	}
}

// taint is what the content of a skill does to whoever is given it. The base
// manifest has none; one that is not loaded says nothing for itself.
func (m *Machine) taint(a *agent, subject string) {
	if subject == "" {
		return
	}
	k, loaded := m.rules.Skills[subject]
	a.lower(k.Level)
	if loaded {
		a.mark = a.mark.Join(k.Label)
	}
}
