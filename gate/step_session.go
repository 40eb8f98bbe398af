package gate

import (
	"cmp"
	"maps"
	"slices"
)

func (e Opened) apply(m *Machine) {
	switch {
	case m.sessions[e.Session] != nil:
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionUnknown})
		return
	case m.dead:
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: LogFailed, Over: true})
		return
	}
	a := m.agents[e.Agent]
	if a == nil {
		a = &agent{mark: m.rules.Bottom}
		m.agents[e.Agent] = a
	}
	if e.Given {
		a.lower(e.Level)
	}
	if !e.Mark.IsAbsent() {
		a.mark = a.mark.Join(e.Mark)
	}
	m.taint(a, e.Skill)
	s := &session{id: e.Session, agent: e.Agent, skill: e.Skill, state: opening}
	m.sessions[e.Session] = s
	m.record(s, pendingRecord{what: RecordOpened, ticket: e.Ticket})
	if e.Paused {
		m.record(s, pendingRecord{what: RecordPaused})
	}
}

func (e Given) apply(m *Machine) {
	s := m.session(e.Session)
	_, loaded := m.rules.Skills[e.Subject]
	why := s.idle()
	switch {
	case why != "":
	case !loaded:
		why = SkillUnknown
	case m.evicted[e.Subject]:
		why = SkillRevoked
	default:
		// What lowers counts before it is recorded.
		m.taint(m.agentOf(s), e.Subject)
		m.record(s, pendingRecord{what: RecordSkill, subject: e.Subject, ticket: e.Ticket})
		return
	}
	m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: why})
}

// record writes the session's records one after the other.
func (m *Machine) record(s *session, r pendingRecord) {
	if s.records = append(s.records, r); len(s.records) == 1 {
		m.write(s)
	}
}

func (m *Machine) write(s *session) {
	r := s.records[0]
	m.emit(RecordSession{Session: s.id, What: r.what, Subject: r.subject, Level: r.level, How: s.how})
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
	switch {
	case e.Failed:
		why = LogFailed
	case r.what == RecordSkill && m.evicted[r.subject]:
		why = SkillRevoked
	}
	if r.what == RecordTold {
		m.tainted(s, r, e.Failed)
	} else {
		m.emit(TellSession{Session: s.id, Ticket: r.ticket, Failed: why})
	}
	if r.what == RecordEnded || r.what == RecordOpened && e.Failed {
		m.forget(s, why)
		return
	}
	if !e.Failed {
		m.changed(s, r)
	}
	if len(s.records) > 0 {
		m.write(s)
	}
	m.touched = append(m.touched, s)
}

// changed is what a record that is durable does to the session.
func (m *Machine) changed(s *session, r pendingRecord) {
	switch {
	case r.what == RecordOpened && s.state == opening && s.pausing():
		s.state = paused
	case r.what == RecordOpened && s.state == opening:
		s.state = active
	case r.what == RecordResumed && s.state == paused && !s.pausing():
		s.state = active
	case r.what == RecordSkill:
		s.skill = r.subject
		m.taint(m.agentOf(s), r.subject) // it may have been forgiven meanwhile
	}
}

// pausing says whether a pause is to be recorded.
func (s *session) pausing() bool {
	return slices.ContainsFunc(s.records, func(r pendingRecord) bool { return r.what == RecordPaused })
}

// toPause says whether the operators' last word was to pause the session,
// recorded or not.
func (s *session) toPause() bool {
	for _, r := range slices.Backward(s.records) {
		if r.what == RecordPaused || r.what == RecordResumed {
			return r.what == RecordPaused
		}
	}
	return s.state == paused
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
}

func (e Pausing) apply(m *Machine) {
	s := m.session(e.Session)
	why := s.idle()
	if s != nil && s.state == paused && !s.toPause() {
		why = "" // it is about to be resumed
	}
	if why != "" {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: why})
		return
	}
	s.state = paused
	m.record(s, pendingRecord{what: RecordPaused, ticket: e.Ticket})
}

// apply resumes a session when that is recorded, if nobody paused it again until
// then. One that is not paused is left as it is.
func (e Resuming) apply(m *Machine) {
	s := m.session(e.Session)
	if why := s.idle(); why != SessionPaused || !s.toPause() {
		if why == SessionPaused {
			why = ""
		}
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: why})
		return
	}
	m.record(s, pendingRecord{what: RecordResumed, ticket: e.Ticket})
}

// apply lets a session end. Who wants more than the one before, such as to have
// everything put back, gets it.
func (e Ended) apply(m *Machine) {
	s := m.session(e.Session)
	if s == nil {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: SessionUnknown})
		return
	}
	s.leavers = append(s.leavers, e.Ticket)
	if s.state == ended {
		return
	}
	s.state, s.how, s.undo = ending, max(s.how, e.How), s.undo || e.Undo
	m.touched = append(m.touched, s)
	for _, c := range m.callsOf(func(c *call) bool { return c.Session == s.id }) {
		m.cancel(c, SessionEnded)
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
func (m *Machine) cancel(c *call, why Reason) {
	switch {
	case c.at == asked || c.at == confirming:
		m.emit(Abandon{ID: c.ID})
		m.decide(c, false, why)
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
	if why := s.idle(); why != "" {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: why})
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
	if why := s.idle(); why != "" && why != SessionPaused {
		m.emit(TellSession{Session: e.Session, Ticket: e.Ticket, Failed: why})
		return
	}
	m.putBack(s)
	m.emit(TellSession{Session: e.Session, Ticket: e.Ticket})
}

// putBack lines up what a session committed, the newest first.
func (m *Machine) putBack(s *session) {
	s.undos = slices.Clone(s.done)
	slices.Reverse(s.undos)
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
	*a = agent{mark: m.rules.Bottom, asked: a.asked, keys: a.keys}
	for _, id := range slices.Sorted(maps.Keys(m.sessions)) {
		// What is active is still in front of the agent.
		if s := m.sessions[id]; s.agent == e.Agent {
			m.taint(a, s.skill)
			s.unwanted = tally{}
		}
	}
	for _, c := range m.callsOf(func(c *call) bool { return c.unwanted > 0 }) {
		if s := m.session(c.Session); s != nil && s.agent == e.Agent {
			c.unwanted = 0 // it is forgotten, and not to be given back
		}
	}
	for _, c := range m.callsOf((*call).underWay) {
		// What it will be told is ahead of it.
		if s := m.session(c.Session); s.agent == e.Agent {
			m.flow(s, c)
			m.retaint(a, c)
		}
	}
}

func (e Narrowed) apply(m *Machine) {
	for _, subject := range e.Subjects {
		m.evicted[subject] = true
	}
	m.narrowing = true
	for _, c := range m.callsOf(func(c *call) bool { return m.evicted[c.skill] }) {
		m.cancel(c, SkillRevoked)
	}
}

func (Held) apply(m *Machine)   { m.held, m.quiet = true, false }
func (Unheld) apply(m *Machine) { m.held, m.quiet, m.stale = false, false, true }

// turn lets the next of a session's confirmed or undone calls come.
func (m *Machine) turn(c *call) {
	if s := m.session(c.Session); s != nil && s.running == c.ID {
		s.running = ""
		m.touched = append(m.touched, s)
	}
}

// settle does what became possible for sessions, revocation and barrier.
func (m *Machine) settle() {
	for i := 0; i < len(m.touched); i++ { // which may touch more of them
		m.advance(m.touched[i])
	}
	clear(m.touched)
	m.touched = m.touched[:0]
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
		c.undoing, c.overdue, s.running = true, false, c.ID
		m.acquire(c)
	case len(s.staged) > 0 && m.calls[s.staged[0]].at == ready:
		c := m.calls[s.staged[0]]
		s.running = c.ID
		m.acquire(c)
	case s.state == ending && s.open == 0:
		m.end(s)
	}
}

// end records the end of a session for which nothing is under way. What comes
// behind that is refused without a record.
func (m *Machine) end(s *session) {
	if s.undo {
		s.undo = false
		m.putBack(s)
		return
	}
	s.state = ended
	m.record(s, pendingRecord{what: RecordEnded})
}
