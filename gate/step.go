package gate

import (
	"github.com/iff-run/iff/capability"
)

func (e Submitted) apply(m *Machine) {
	s := m.session(e.Session)
	switch {
	case m.calls[e.ID] != nil:
		return
	case s == nil || s.state == opening:
		m.emit(Tell{ID: e.ID, Status: Refused, Reason: SessionUnknown, Last: true})
		return
	}
	k := keyed{s.agent, e.Key}
	old, known := m.keys[k]
	known = known && e.Key != ""
	switch {
	case known && old.envelope == e.Envelope:
		m.retold(s, &call{Facts: e.Facts})
		m.emit(Repeat{ID: e.ID, Of: old.id})
		return
	case m.dead:
		m.emit(Tell{ID: e.ID, Status: Refused, Reason: LogFailed, Last: true})
		return
	case s.state == ended:
		m.emit(Tell{ID: e.ID, Status: Refused, Reason: SessionEnded, Last: true})
		return
	}
	c := &call{Facts: e.Facts, skill: s.skill}
	if known {
		c.Void = KeyReused
	} else if e.Key != "" {
		m.remember(k, recorded{e.ID, e.Envelope})
	}
	m.calls[c.ID] = c
	s.open++
	m.begin(s, c)
}

// maxKeys is how many idempotency keys of one agent are remembered. The oldest
// are forgotten first, but for those of calls that have not ended.
const maxKeys = 1 << 16

// remember keeps what a key was used for, beyond the end of its session: an agent
// whose connection broke asks again in another one.
func (m *Machine) remember(k keyed, r recorded) {
	a := m.agents[k.agent]
	if len(a.keys) >= maxKeys {
		oldest := keyed{k.agent, a.keys[0]}
		a.keys = a.keys[1:]
		if m.calls[m.keys[oldest].id] != nil {
			a.keys = append(a.keys, oldest.key)
		} else {
			delete(m.keys, oldest)
		}
	}
	m.keys[k] = r
	a.keys = append(a.keys, k.key)
}

// known takes over what a key was used for in an earlier runtime. A later use of
// the key takes the place of an earlier one.
func (m *Machine) known(k keyed, r recorded) {
	a := m.agents[k.agent]
	if a == nil {
		a = &agent{mark: m.rules.Bottom}
		m.agents[k.agent] = a
	}
	if _, ok := m.keys[k]; ok {
		a.keys = without(a.keys, k.key)
	}
	m.remember(k, r)
}

// unkey forgets the key of a call of which nothing is in the log, so that it can
// be asked for again.
func (m *Machine) unkey(c *call) {
	k := keyed{m.session(c.Session).agent, c.Key}
	if c.Key != "" && m.keys[k].id == c.ID {
		delete(m.keys, k)
		a := m.agents[k.agent]
		a.keys = without(a.keys, k.key)
	}
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
		m.read(s, c)
	case c.way == ask && c.Target.Capability().Effect() == capability.None:
		m.request(s, c)
	case c.way == ask, c.way == stage:
		c.at = previewing
		m.emit(Preview{ID: c.ID})
	default:
		m.acquire(c)
	}
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
	c.listed = e.Listed
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
	case !m.keep(s, c, e.Size):
		m.refuse(c, BufferFull)
	case !m.afford(s, c, c.Weight+c.listed):
		m.refuse(c, TooMuchAsked)
	default:
		c.at = staging
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
	if why == "" && !c.approved && route(m.claim(s, c)) != c.way {
		why = LevelLowered
	}
	if why == "" && !c.approved && e.Wider {
		m.askInstead(c)
		return
	}
	if why == "" && c.reversible() && !m.keep(s, c, e.Size) {
		why = BufferFull
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

// keep makes room for what a reversible call needs in memory, if there is any.
func (m *Machine) keep(s *session, c *call, size int64) bool {
	if s.buffer-c.size+size > m.rules.Buffer {
		return false
	}
	s.buffer += size - c.size
	c.size = size
	return true
}

// askInstead has a human decide a call of which only its plan shows that no grant
// covers all that it would change, such as what is in a directory.
func (m *Machine) askInstead(c *call) {
	m.release(c)
	c.way, c.at = ask, previewing
	m.emit(Preview{ID: c.ID})
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
	if c == nil || !c.recording() {
		return
	}
	if e.Failed {
		m.unrecorded(c)
		return
	}
	c.recorded = true
	s := m.session(c.Session)
	switch c.at {
	case refusing:
		status := Denied
		if c.approved {
			status = Failed
		}
		m.finish(c, status, c.cause)
	case requesting:
		if why := m.gone(s, c); why != "" {
			m.decide(c, false, why)
			return
		}
		c.at = asked
		m.emit(Ask{ID: c.ID})
	case deciding:
		m.decided(s, c)
	case staging:
		m.rest(c, staged)
		s.staged = append(s.staged, c.ID)
		m.emit(Tell{ID: c.ID, Status: StagedStatus})
		if why := m.gone(s, c); why != "" {
			m.unstage(c, why)
		}
	case intending:
		m.act(c)
	case settling:
		m.came(s, c)
	}
}

// recording says whether records of the call are on their way into the log.
func (c *call) recording() bool {
	switch c.at {
	case requesting, deciding, staging, intending, settling, refusing:
		return true
	}
	return false
}

// act has the host do what is intended. If the log is dead its outcome could not
// be recorded, so it is not begun.
func (m *Machine) act(c *call) {
	if m.dead {
		m.finish(c, Refused, LogFailed)
		return
	}
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
	switch {
	case c.at == settling && c.leased:
		m.emit(Tell{ID: c.ID, Status: Doubtful, Reason: LogFailed, Last: true})
		m.doubt(c)
		return
	case c.at == intending && c.undoing:
		m.notUndone(c, LogFailed)
		return
	case !c.recorded && !m.dead:
		m.unkey(c)
		m.takeBack(c)
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

// gone says why nobody wants the call any more; empty if somebody may. A pause
// is no reason: it ends.
func (m *Machine) gone(s *session, c *call) Reason {
	switch {
	case s.state == ending:
		return SessionEnded
	case m.evicted[c.skill]:
		return SkillRevoked
	}
	return ""
}

func (m *Machine) decided(s *session, c *call) {
	if !c.answer {
		m.finish(c, Denied, c.cause)
		return
	}
	m.takeBack(c)
	m.unask(c)
	c.approved = true
	why := m.standing(s, c)
	switch {
	case c.hidden:
		m.stop(c, c.Void)
	case why != "":
		m.stop(c, why)
	case c.way == stage:
		c.at = ready
		m.touched = append(m.touched, s)
	case c.Target.Capability().Effect() == capability.None && len(c.Changes) == 0:
		m.read(s, c)
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
	if c := m.calls[e.ID]; c != nil && (c.at == doing || c.at == reading) && !c.overdue {
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
	s.staged = without(s.staged, c.ID)
	s.done = append(s.done, c.ID)
}
