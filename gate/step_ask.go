package gate

// What is asked of people and what is written for it are bounded, so that an agent
// that floods costs neither their time nor the disk, and takes nothing from others.

// askHidden asks a human about a call that reaches for something guarded in a way
// that is refused whatever the answer.
func (m *Machine) askHidden(s *session, c *call) {
	if c.Void == "" || c.Spelled {
		c.Void = SpellingHides
	}
	c.way, c.hidden = ask, true
	m.request(s, c)
}

// request records a call that somebody is to be asked about.
func (m *Machine) request(s *session, c *call) {
	switch {
	case !m.mayAsk(s):
		m.refuse(c, TooManyCalls)
		return
	case !m.afford(s, c, c.Weight+c.listed):
		m.refuse(c, TooMuchAsked)
		return
	}
	m.agentOf(s).asked++
	s.asked++
	c.at = requesting
	m.emit(Append{ID: c.ID, What: AskedFor})
}

// mayAsk says whether there is a place for one more question of a session. Its
// agent's other sessions may be other programs of the same user: a session has two
// fifths of the places at most, and the last fifth is for those of which no
// question waits.
func (m *Machine) mayAsk(s *session) bool {
	all := m.rules.Asked
	free := all - m.agentOf(s).asked
	if s.asked == 0 {
		return free > 0
	}
	return s.asked < all*2/5 && free > all/5
}

// unask takes the call out of those that wait for a human.
func (m *Machine) unask(c *call) {
	switch c.at {
	case requesting, asked, deciding:
		if s := m.session(c.Session); s != nil && c.way == ask {
			m.agentOf(s).asked--
			s.asked--
		}
	}
}

// tally is how many bytes were counted on a day.
type tally struct{ day, bytes int64 }

// on begins to count anew if the day is another one.
func (t *tally) on(day int64) {
	if day > t.day {
		*t = tally{day: day}
	}
}

func (t *tally) takeBack(day, n int64) {
	if day == t.day {
		t.bytes = max(0, t.bytes-n)
	}
}

// afford counts what is about to be written of a call that nobody has approved,
// unless that is too much. A session has half of what the other sessions of its
// agent leave: one that floods, and comes back to flood again, leaves something.
func (m *Machine) afford(s *session, c *call, n int64) bool {
	if s == nil {
		return false
	}
	a := m.agentOf(s)
	c.Day = max(c.Day, a.unwanted.day) // where the clock was set back, so that it is given back where it was counted
	s.unwanted.on(c.Day)
	a.unwanted.on(c.Day)
	if mine := s.unwanted.bytes; mine+n > (m.rules.Unwanted-(a.unwanted.bytes-mine))/2 {
		return false
	}
	s.unwanted.bytes += n
	a.unwanted.bytes += n
	c.unwanted += n
	return true
}

// takeBack gives back what afford has counted: the call is approved, or nothing of
// it came into the log.
func (m *Machine) takeBack(c *call) {
	if s := m.session(c.Session); s != nil {
		s.unwanted.takeBack(c.Day, c.unwanted)
		m.agentOf(s).unwanted.takeBack(c.Day, c.unwanted)
	}
	c.unwanted = 0
}

// maxDenied bounds what is kept of a call that is denied before anybody was asked,
// in bytes; of a larger one only the hash is.
const maxDenied = 4 << 10

// refuse records that a call is denied before anybody was asked.
func (m *Machine) refuse(c *call, why Reason) {
	bare := c.Weight > maxDenied || !m.afford(m.session(c.Session), c, c.Weight)
	c.at, c.cause = refusing, why
	m.emit(Append{ID: c.ID, What: Denial, Why: why, Bare: bare})
}
