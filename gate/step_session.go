package gate

import (
	"cmp"
	"maps"
	"slices"
)

func (e Opened) apply(m *Machine) {
	if m.sessions[e.Session] != nil || m.dead {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionUnknown})
		return
	}
	a := m.agents[e.Agent]
	if a == nil {
		a = &agent{mark: m.rules.Bottom}
		m.agents[e.Agent] = a
	}
	if e.Given && (!a.given || !e.Level.AtLeast(a.level)) {
		a.level, a.given = e.Level, true
	}
	if !e.Mark.IsAbsent() {
		a.mark = a.mark.Join(e.Mark)
	}
	s := &session{id: e.Session, agent: e.Agent, skill: e.Skill, state: opening}
	m.sessions[e.Session] = s
	m.record(s, pendingRecord{what: RecordOpened, ticket: e.Ticket})
	if e.Paused {
		m.record(s, pendingRecord{what: RecordPaused})
	}
}

func (e Given) apply(m *Machine) {
	s := m.session(e.Session)
	k, loaded := m.rules.Skills[e.Subject]
	switch {
	case s == nil || s.state != active:
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionEnded})
	case !loaded:
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SkillUnknown})
	case m.evicted[e.Subject]:
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SkillRevoked})
	default:
		// What lowers counts before it is recorded.
		a := m.agentOf(s)
		if e.Subject != "" && (!a.given || !k.Level.AtLeast(a.level)) {
			a.level, a.given = k.Level, true
		}
		a.mark = a.mark.Join(k.Label)
		m.record(s, pendingRecord{RecordSkill, e.Subject, e.Ticket})
	}
}

// record writes the session's records one after the other.
func (m *Machine) record(s *session, r pendingRecord) {
	if s.records = append(s.records, r); len(s.records) == 1 {
		m.write(s)
	}
}

func (m *Machine) write(s *session) {
	r := s.records[0]
	m.emit(RecordSession{Session: s.id, What: r.what, Subject: r.subject, How: s.how})
}

func (e Recorded) apply(m *Machine) {
	m.dead = m.dead || e.Fatal
	s := m.session(e.Session)
	if s == nil || len(s.records) == 0 {
		return
	}
	r := s.records[0]
	s.records = s.records[1:]
	why := Reason("")
	if e.Failed {
		why = LogFailed
	}
	m.emit(TellSession{Session: s.id, Ticket: r.ticket, Failed: why})
	switch {
	case r.what == RecordEnded, r.what == RecordOpened && e.Failed:
		m.forget(s, why)
		return
	case r.what == RecordOpened && s.state == opening:
		s.state = active
	case r.what == RecordPaused && s.state == active:
		s.state = paused
	case r.what == RecordSkill && !e.Failed:
		s.skill = r.subject
	}
	if len(s.records) > 0 {
		m.write(s)
	}
	m.touched = append(m.touched, s)
}

// forget ends a session for good: what it committed stays, and can no longer be
// put back.
func (m *Machine) forget(s *session, why Reason) {
	s.state = ended
	for _, t := range s.leavers {
		m.emit(TellSession{Session: s.id, Ticket: t, Failed: why})
	}
	m.emit(TellSession{Session: s.id, Over: true})
	delete(m.sessions, s.id)
	for _, id := range s.done {
		delete(m.calls, id)
	}
	for _, k := range s.keys {
		delete(m.keys, k)
	}
}

func (e Pausing) apply(m *Machine) {
	s := m.session(e.Session)
	if s == nil || s.state != active {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionEnded})
		return
	}
	s.state = paused
	m.record(s, pendingRecord{what: RecordPaused, ticket: e.Ticket})
}

func (e Resuming) apply(m *Machine) {
	s := m.session(e.Session)
	if s == nil || s.state != paused {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionEnded})
		return
	}
	s.state = active
	m.record(s, pendingRecord{what: RecordResumed, ticket: e.Ticket})
}

func (e Ended) apply(m *Machine) {
	s := m.session(e.Session)
	switch {
	case s == nil:
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionUnknown})
		return
	case s.state == ending:
		s.leavers = append(s.leavers, e.Ticket)
		return
	}
	s.leavers = append(s.leavers, e.Ticket)
	s.state, s.how, s.undo = ending, e.How, e.Undo
	m.touched = append(m.touched, s)
	for _, c := range m.callsOf(func(c *call) bool { return c.Session == s.id }) {
		m.cancel(s, c, SessionEnded)
	}
}

// callsOf lists calls in the order of their ids.
func (m *Machine) callsOf(wanted func(*call) bool) []*call {
	var out []*call
	for c := range maps.Values(m.calls) {
		if wanted(c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *call) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// cancel ends a call that waits for somebody. One that is on its way is looked
// at again before its intent.
func (m *Machine) cancel(s *session, c *call, why Reason) {
	switch {
	case c.at == asked || c.at == confirming:
		m.interrupt(s, c)
	case c.at == staged:
		m.unstage(c, why)
	case c.at == waiting && !c.undoing:
		m.unqueue(c)
		m.stop(c, why)
	case c.at == ready:
		m.stop(c, why)
	}
}

// unstage drops what is staged.
func (m *Machine) unstage(c *call, why Reason) {
	m.wake(c, refusing)
	c.cause = why
	m.emit(Append{ID: c.ID, What: Dropped, Why: why})
}

func (e Confirming) apply(m *Machine) {
	s := m.session(e.Session)
	if s == nil || s.state != active {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionEnded})
		return
	}
	for _, id := range s.staged {
		if c := m.calls[id]; c.at == staged {
			m.wake(c, confirming)
			m.emit(Ask{ID: id})
		}
	}
	m.emit(TellSession{Session: e.Session, Ticket: e.Ticket})
}

func (e Undoing) apply(m *Machine) {
	s := m.session(e.Session)
	if s == nil || s.state == ending || s.state == opening {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionEnded})
		return
	}
	m.putBack(s)
	m.emit(TellSession{Session: e.Session, Ticket: e.Ticket})
}

// putBack lines up what a session committed, the newest first.
func (m *Machine) putBack(s *session) {
	for _, id := range slices.Backward(s.done) {
		if !slices.Contains(s.undos, id) {
			s.undos = append(s.undos, id)
		}
	}
	m.touched = append(m.touched, s)
}

func (m *Machine) undoPlanned(_ *session, c *call, e Planned) {
	if e.Refused != "" {
		m.notUndone(c, e.Refused)
		return
	}
	c.at = intending
	m.emit(Append{ID: c.ID, What: IntendedToUndo})
}

// notUndone leaves a call as it was before it was to be put back.
func (m *Machine) notUndone(c *call, why Reason) {
	m.release(c)
	c.undoing = false
	m.turn(c)
	m.rest(c, committed)
	m.emit(Tell{ID: c.ID, Status: Failed, Reason: why})
}

func (e Forgiven) apply(m *Machine) {
	a := m.agents[e.Agent]
	if a == nil {
		return
	}
	*a = agent{mark: m.rules.Bottom, asked: a.asked}
	for _, id := range slices.Sorted(maps.Keys(m.sessions)) {
		// What is active is still in front of the agent.
		if s := m.sessions[id]; s.agent == e.Agent && s.skill != "" {
			k := m.rules.Skills[s.skill]
			if !a.given || !k.Level.AtLeast(a.level) {
				a.level, a.given = k.Level, true
			}
			a.mark = a.mark.Join(k.Label)
		}
	}
}

func (e Narrowed) apply(m *Machine) {
	for _, subject := range e.Subjects {
		m.evicted[subject] = true
	}
	m.narrowing = true
	for _, c := range m.callsOf(func(c *call) bool { return m.evicted[c.skill] }) {
		if s := m.session(c.Session); s != nil {
			m.cancel(s, c, SkillRevoked)
		}
	}
}

func (Held) apply(m *Machine)   { m.held, m.quiet = true, false }
func (Unheld) apply(m *Machine) { m.held, m.quiet = false, false }

// turn lets the next of a session's confirmed or undone calls come.
func (m *Machine) turn(c *call) {
	if s := m.session(c.Session); s != nil && s.running == c.ID {
		s.running = ""
		m.touched = append(m.touched, s)
	}
}

// settle does what became possible for sessions, revocation and barrier.
func (m *Machine) settle() {
	for len(m.touched) > 0 {
		s := m.touched[0]
		m.touched = m.touched[1:]
		m.advance(s)
	}
	m.touched = nil
	if m.narrowing && !m.intendsEvicted() {
		m.narrowing = false
		m.emit(Evict{})
	}
	if m.held && !m.quiet && m.leased == 0 {
		m.quiet = true
		m.emit(Quiet{})
	}
}

func (m *Machine) intendsEvicted() bool {
	for _, c := range m.calls {
		if c.at == intending && m.evicted[c.skill] {
			return true
		}
	}
	return false
}

// advance starts the session's next confirmed or undone call, or ends it.
func (m *Machine) advance(s *session) {
	if m.sessions[s.id] != s || s.running != "" {
		return
	}
	switch {
	case len(s.undos) > 0:
		c := m.calls[s.undos[0]]
		s.undos = s.undos[1:]
		if c == nil || c.at != committed {
			m.advance(s)
			return
		}
		m.wake(c, waiting)
		c.undoing, s.running = true, c.ID
		m.acquire(c)
	case len(s.staged) > 0 && m.calls[s.staged[0]].at == ready:
		c := m.calls[s.staged[0]]
		s.staged, s.running = s.staged[1:], c.ID
		m.acquire(c)
	case s.state == ending && s.open == 0:
		m.end(s)
	}
}

func (m *Machine) end(s *session) {
	if s.undo {
		s.undo = false
		m.putBack(s)
		return
	}
	if len(s.records) == 0 || s.records[len(s.records)-1].what != RecordEnded {
		m.record(s, pendingRecord{what: RecordEnded})
	}
}
