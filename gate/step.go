package gate

import (
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/label"
)

func (e Submitted) apply(m *Machine) {
	s := m.session(e.Session)
	switch {
	case m.calls[e.ID] != nil:
		return
	case m.dead:
		m.emit(Tell{ID: e.ID, Status: Refused, Reason: LogFailed, Last: true})
		return
	case s == nil || s.state == opening || s.state == ended:
		m.emit(Tell{ID: e.ID, Status: Refused, Reason: SessionUnknown, Last: true})
		return
	}
	c := &call{Facts: e.Facts, skill: s.skill}
	k := keyed{s.agent, e.Key}
	if old, ok := m.keys[k]; ok && e.Key != "" {
		if old.envelope == e.Envelope {
			m.emit(Repeat{ID: e.ID, Of: old.id})
			return
		}
		c.Void = KeyReused
	} else if e.Key != "" {
		m.keys[k] = recorded{e.ID, e.Envelope}
		s.keys = append(s.keys, k)
	}
	m.calls[c.ID] = c
	s.open++
	m.begin(s, c)
}

// begin decides how a call goes.
func (m *Machine) begin(s *session, c *call) {
	c.way = route(m.claim(s, c))
	flow := m.flow(s, c)
	switch {
	case c.Void == KeyReused, c.Void == CallMalformed && !c.Spelled:
		m.refuse(c, c.Void)
	case m.standing(s, c) != "":
		m.refuse(c, m.standing(s, c))
	case s.open > m.rules.Calls:
		m.refuse(c, TooManyCalls)
	case c.Guarded && (c.Spelled || c.Void != ""):
		m.askHidden(s, c)
	case c.way == deny:
		m.refuse(c, Undeclared)
	case c.Void != "":
		m.refuse(c, c.Void)
	case flow != "":
		m.refuse(c, flow)
	case c.Target.Capability().Effect() == capability.Reversible && !c.Reversible:
		m.refuse(c, NotReversible)
	case m.inDoubt(c):
		m.refuse(c, InDoubt)
	case c.way == run:
		c.at = reading
		m.emit(DoIt{ID: c.ID, Phase: Read})
	case c.way == ask && c.Target.Capability().Effect() == capability.None:
		m.request(s, c)
	case c.way == ask, c.way == stage:
		c.at = previewing
		m.emit(Preview{ID: c.ID})
	default:
		m.acquire(c)
	}
}

// askHidden asks a human about a call that reaches for something guarded in a way
// that is refused whatever the answer.
func (m *Machine) askHidden(s *session, c *call) {
	if c.Void == "" || c.Spelled {
		c.Void = SpellingHides
	}
	c.way, c.hidden = ask, true
	m.request(s, c)
}

func (m *Machine) claim(s *session, c *call) claim {
	grants := m.rules.Skills[c.skill].Grants
	class := c.Target.Capability()
	return claim{
		effect: class.Effect(), declared: grants.Declares(class), covered: grants.Covers(c.Target),
		level: m.level(s), guarded: c.Guarded,
	}
}

// standing says why a session or its skill may do nothing now; empty if they
// may.
func (m *Machine) standing(s *session, c *call) Reason {
	_, loaded := m.rules.Skills[c.skill]
	switch {
	case s == nil:
		return SessionUnknown
	case s.state == paused:
		return SessionPaused
	case s.state != active:
		return SessionEnded
	case m.evicted[c.skill] || !loaded:
		return SkillRevoked
	}
	return ""
}

// flow joins what the call would tell into the mark, and says what its labels
// forbid.
func (m *Machine) flow(s *session, c *call) Reason {
	a := m.agentOf(s)
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
	if mark.IsAbsent() || slices.ContainsFunc(c.Sinks, label.Label.IsAbsent) {
		return Unlabelled
	}
	for _, sink := range c.Sinks {
		if !mark.LessEq(sink) {
			return SinkBelowMark
		}
	}
	return ""
}

func (m *Machine) inDoubt(c *call) bool {
	for _, other := range m.calls {
		if other.at == doubtful && overlap(other.Changes, c.Changes) {
			return true
		}
	}
	return false
}

// refuse records that a call is denied before anybody was asked.
func (m *Machine) refuse(c *call, why Reason) {
	c.at, c.cause = refusing, why
	m.emit(Append{ID: c.ID, What: Denial, Why: why})
}

// request records a call that somebody is to be asked about.
func (m *Machine) request(s *session, c *call) {
	if a := m.agentOf(s); a.asked >= m.rules.Asked {
		m.refuse(c, TooManyCalls)
		return
	}
	m.agentOf(s).asked++
	c.at = requesting
	m.emit(Append{ID: c.ID, What: AskedFor})
}

func (e Planned) apply(m *Machine) {
	c := m.calls[e.ID]
	if c == nil {
		return
	}
	s := m.session(c.Session)
	switch {
	case c.at == previewing:
		m.previewed(s, c, e)
	case c.at == planning && c.undoing:
		m.undoPlanned(s, c, e)
	case c.at == planning:
		m.planned(s, c, e)
	}
}

func (m *Machine) previewed(s *session, c *call, e Planned) {
	why := e.Refused
	if why == "" {
		why = m.standing(s, c)
	}
	switch {
	case e.Refused != "" && c.Guarded && why == e.Refused:
		c.Void = why
		m.askHidden(s, c)
	case why != "":
		m.refuse(c, why)
	case c.way == ask:
		m.request(s, c)
	case s.buffer+e.Size > m.rules.Buffer:
		m.refuse(c, BufferFull)
	default:
		c.size, c.at = e.Size, staging
		s.buffer += e.Size
		m.emit(Append{ID: c.ID, What: StagedFor})
	}
}

// planned is the last look before the intent: everything that was checked when
// the call was asked for is checked again.
func (m *Machine) planned(s *session, c *call, e Planned) {
	why := e.Refused
	if why == "" {
		why = m.standing(s, c)
	}
	if why == "" {
		why = m.sinks(s, c)
	}
	if why == "" && c.reversible() {
		if more := e.Size - c.size; s.buffer+more > m.rules.Buffer {
			why = BufferFull
		} else {
			s.buffer += more
			c.size = e.Size
		}
	}
	if why != "" {
		m.stop(c, why)
		return
	}
	c.at = intending
	what := IntendedByLevel
	if c.approved {
		what = IntendedToAct
	}
	m.emit(Append{ID: c.ID, What: what})
}

// stop ends a call before its intent.
func (m *Machine) stop(c *call, why Reason) {
	if !c.approved {
		m.refuse(c, why)
		return
	}
	c.at, c.cause = refusing, why
	m.emit(Append{ID: c.ID, What: NotTried, Why: why})
}

// reversible says whether the call goes through the buffer.
func (c *call) reversible() bool { return c.Target.Capability().Effect() == capability.Reversible }

func (e Appended) apply(m *Machine) {
	m.dead = m.dead || e.Fatal
	c := m.calls[e.ID]
	if c == nil {
		return
	}
	if e.Failed {
		m.unrecorded(c)
		return
	}
	s := m.session(c.Session)
	switch c.at {
	case refusing:
		status := Denied
		if c.approved {
			status = Failed
		}
		m.finish(c, status, c.cause)
	case requesting:
		c.at = asked
		m.emit(Ask{ID: c.ID})
		m.interrupt(s, c)
	case deciding:
		m.decided(s, c)
	case staging:
		m.rest(c, staged)
		s.staged = append(s.staged, c.ID)
		m.emit(Tell{ID: c.ID, Status: StagedStatus})
		if why := m.standing(s, c); why != "" && why != SessionPaused {
			m.unstage(c, why)
		}
	case intending:
		m.act(c)
	case settling:
		m.came(s, c)
	}
}

func (m *Machine) act(c *call) {
	c.at = doing
	p := Execute
	switch {
	case c.undoing:
		p = Rollback
	case c.reversible():
		p = Commit
	}
	m.emit(DoIt{ID: c.ID, Phase: p})
}

// unrecorded ends a call whose records did not become durable. Before an intent
// nothing happened. An outcome that is not recorded leaves the call in doubt,
// and its objects leased.
func (m *Machine) unrecorded(c *call) {
	if c.at == settling && c.leased {
		m.emit(Tell{ID: c.ID, Status: Doubtful, Reason: LogFailed, Last: true})
		m.leased--
		m.turn(c)
		m.rest(c, doubtful)
		return
	}
	m.finish(c, Refused, LogFailed)
}

// finish tells how a call ended and forgets it.
func (m *Machine) finish(c *call, status Status, why Reason) {
	m.emit(Tell{ID: c.ID, Status: status, Reason: why, Last: true})
	m.turn(c)
	m.unask(c)
	m.drop(c)
}

// unask takes the call out of those that wait for a human.
func (m *Machine) unask(c *call) {
	switch c.at {
	case requesting, asked, deciding:
		if s := m.session(c.Session); s != nil && c.way == ask {
			m.agentOf(s).asked--
		}
	}
}

func (e Answered) apply(m *Machine) {
	c := m.calls[e.ID]
	if c == nil || c.at != asked && c.at != confirming {
		m.emit(Late{ID: e.ID})
		return
	}
	m.decide(c, e.Approve, e.Why)
}

func (m *Machine) decide(c *call, approve bool, why Reason) {
	c.answer, c.cause, c.at = approve, why, deciding
	m.emit(Append{ID: c.ID, What: Decided, Why: why})
}

// interrupt cancels a question that nobody should answer any more.
func (m *Machine) interrupt(s *session, c *call) {
	why := Reason("")
	switch {
	case s.state == ending:
		why = SessionEnded
	case m.evicted[c.skill]:
		why = SkillRevoked
	}
	if why != "" && (c.at == asked || c.at == confirming) {
		m.emit(Abandon{ID: c.ID})
		m.decide(c, false, why)
	}
}

func (m *Machine) decided(s *session, c *call) {
	switch {
	case !c.answer:
		m.finish(c, Denied, c.cause)
		return
	case c.way == ask:
		m.agentOf(s).asked--
	}
	c.approved = true
	switch {
	case c.hidden:
		m.stop(c, c.Void)
	case c.way == stage:
		c.at = ready
		m.touched = append(m.touched, s)
	case c.Target.Capability().Effect() == capability.None && len(c.Changes) == 0:
		if why := m.standing(s, c); why != "" {
			m.stop(c, why)
			return
		}
		c.at = reading
		m.emit(DoIt{ID: c.ID, Phase: Read})
	default:
		m.acquire(c)
	}
}

func (e Finished) apply(m *Machine) {
	c := m.calls[e.ID]
	if c == nil || c.at != reading && c.at != doing {
		return
	}
	c.cause = e.Failed
	what := Came
	if c.at == reading && c.way == run {
		what = ReadByLevel
	}
	c.at = settling
	m.emit(Append{ID: c.ID, What: what, Undo: c.undoing})
}

func (e Overdue) apply(m *Machine) {
	if c := m.calls[e.ID]; c != nil && c.at == doing && !c.overdue {
		c.overdue = true
		m.emit(Tell{ID: c.ID, Status: Doubtful, Reason: HostOverdue})
	}
}

// came ends a call whose outcome is in the log.
func (m *Machine) came(s *session, c *call) {
	status := Done
	if c.cause != "" {
		status = Failed
	}
	if c.undoing || !c.reversible() || status == Failed {
		m.finish(c, status, c.cause)
		return
	}
	m.emit(Tell{ID: c.ID, Status: Done})
	m.release(c)
	m.turn(c)
	m.rest(c, committed)
	s.done = append(s.done, c.ID)
}

func (e WaitedEnough) apply(m *Machine) {
	c := m.calls[e.ID]
	if c == nil || c.at != waiting {
		return
	}
	m.unqueue(c)
	if c.undoing {
		m.notUndone(c, Busy)
		return
	}
	m.stop(c, Busy)
}

func (e Settled) apply(m *Machine) {
	if c := m.calls[e.ID]; c != nil && c.at == doubtful {
		m.release(c)
		delete(m.calls, c.ID)
	}
}

// acquire waits for a lease on what the call changes.
func (m *Machine) acquire(c *call) {
	c.at = waiting
	m.queue = append(m.queue, c.ID)
}

func (m *Machine) unqueue(c *call) {
	if i := slices.Index(m.queue, c.ID); i >= 0 {
		m.queue = slices.Delete(m.queue, i, i+1)
	}
}

// grant gives leases to those that wait, in their order.
func (m *Machine) grant() {
	if len(m.queue) == 0 {
		return
	}
	var still []string
	var before []*call
	for _, id := range m.queue {
		c := m.calls[id]
		if m.held || !m.leases.free(c.Changes) || slices.ContainsFunc(before, func(b *call) bool { return overlap(b.Changes, c.Changes) }) {
			still, before = append(still, id), append(before, c)
			if !c.told {
				c.told = true
				m.emit(Wait{ID: id})
			}
			continue
		}
		m.leases.take(c.ID, c.Changes)
		c.leased, c.told, c.at = true, false, planning
		m.leased++
		m.emit(PlanIt{ID: id, Approved: c.approved, Undo: c.undoing})
	}
	m.queue = still
}

// rest sets a call aside that nothing is under way for.
func (m *Machine) rest(c *call, at phase) {
	c.at = at
	if s := m.session(c.Session); s != nil {
		s.open--
		m.touched = append(m.touched, s)
	}
}

// wake takes it up again.
func (m *Machine) wake(c *call, at phase) {
	c.at = at
	if s := m.session(c.Session); s != nil {
		s.open++
	}
}
