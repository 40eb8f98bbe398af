package gate

import (
	"github.com/iff-run/iff/level"
)

// read has the host read. What would tell files of skills does to the agent first
// what the delivery of the skills does, and that is recorded; no skill is active
// by it.
func (m *Machine) read(s *session, c *call) {
	if len(c.Tells) == 0 {
		m.tell(c)
		return
	}
	c.at = tainting
	m.record(s, pendingRecord{what: RecordTold, level: m.told(m.agentOf(s), c), call: c.ID})
}

func (m *Machine) tell(c *call) {
	c.at = reading
	m.emit(DoIt{ID: c.ID, Phase: Read})
}

// told is what the files of skills do to whoever reads them, and the lowest level
// of the skills. One that is not loaded, or not trusted any more, is unverified.
func (m *Machine) told(a *agent, c *call) level.Level {
	lowest := level.Formal
	for _, subject := range c.Tells {
		k, loaded := m.rules.Skills[subject]
		loaded = loaded && subject != ""
		lv := k.Level
		if !loaded || m.evicted[subject] {
			lv = level.Unverified
		}
		if loaded {
			a.mark = a.mark.Join(k.Label)
		}
		a.lower(lv)
		if !lv.AtLeast(lowest) {
			lowest = lv
		}
	}
	return lowest
}

// tainted goes on with a read when what it does to the agent is in the log, or
// ends it if it is not.
func (m *Machine) tainted(s *session, r pendingRecord, failed bool) {
	c := m.calls[r.call]
	if c == nil || c.at != tainting {
		return
	}
	if failed {
		m.unrecorded(c)
		return
	}
	m.told(m.agentOf(s), c) // it may have been forgiven meanwhile
	if why := m.standing(s, c); why != "" {
		m.stop(c, why)
		return
	}
	m.tell(c)
}

// retold is what a read does to the agent whose earlier answer it is given again.
func (m *Machine) retold(s *session, c *call) {
	if reads := len(c.Reads) > 0; reads {
		m.flow(s, c)
		m.told(m.agentOf(s), c)
	}
}

// retaint counts after a reset what a read is about to tell.
func (m *Machine) retaint(a *agent, c *call) {
	switch c.at {
	case tainting, reading, settling:
		m.told(a, c)
	}
}
