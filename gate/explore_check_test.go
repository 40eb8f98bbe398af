package gate

import "strings"

// sane holds what the machine keeps in more than one place against itself and
// against the world.
func (x *explorer) sane(m *Machine, e *env) error {
	for id, c := range m.calls {
		p := e.part(id)
		if id == "y" || p == nil || !p.submitted || p.gone && !p.doubt {
			return broken("the machine remembers %s, which has ended", id)
		}
		if (c.at == doubtful) != p.doubt || (m.doubts[id] != nil) != p.doubt {
			return broken("%s: in doubt is %v", id, p.doubt)
		}
		if c.leased != (p.lease || p.doubt) {
			return broken("%s holds a lease: %v", id, c.leased)
		}
	}
	for i := range e.parts {
		if p := &e.parts[i]; p.submitted && (!p.gone || p.doubt) && m.calls[idOf(i)] == nil {
			return broken("the machine has forgotten %s", idOf(i))
		}
	}
	for id, s := range m.sessions {
		if err := saneSession(m, id, s); err != nil {
			return err
		}
		if known := e.session(id); (s.state == active) != (known.open && !known.paused && !known.ended) {
			return broken("session %s is active: %v", id, s.state == active)
		}
	}
	for id, a := range m.agents {
		if n := count(m, func(c *call) bool { return c.asking() && agentIn(c.Session) == id }); n != a.asked {
			return broken("%s is said to wait for %d answers, and waits for %d", id, a.asked, n)
		}
	}
	if err := saneLeases(m); err != nil {
		return err
	}
	return e.prompt()
}

func count(m *Machine, wanted func(*call) bool) int {
	n := 0
	for _, c := range m.calls {
		if wanted(c) {
			n++
		}
	}
	return n
}

// asking says whether the call counts among those that its agent has a human
// look at.
func (c *call) asking() bool {
	return c.way == ask && (c.at == requesting || c.at == asked || c.at == deciding)
}

func saneSession(m *Machine, id string, s *session) error {
	mine := func(c *call) bool { return c.Session == id }
	if n := count(m, func(c *call) bool { return mine(c) && c.underWay() }); n != s.open {
		return broken("session %s counts %d calls under way, there are %d", id, s.open, n)
	}
	size := int64(0)
	for _, c := range m.calls {
		if mine(c) {
			size += c.size
		}
	}
	if n := count(m, func(c *call) bool { return mine(c) && c.asking() }); n != s.asked {
		return broken("session %s is said to wait for %d answers, and waits for %d", id, s.asked, n)
	}
	if size != s.buffer {
		return broken("session %s counts %d bytes, there are %d", id, s.buffer, size)
	}
	for _, list := range [][]string{s.staged, s.done} {
		for _, other := range list {
			if m.calls[other] == nil {
				return broken("session %s lists %s, which has ended", id, other)
			}
		}
	}
	for other, c := range m.calls {
		if mine(c) && c.at == staged && !contains(s.staged, other) || mine(c) && c.at == committed && !contains(s.done, other) {
			return broken("session %s does not list %s", id, other)
		}
	}
	if c := m.calls[s.running]; s.running != "" && (c == nil || !c.underWay()) {
		return broken("session %s waits for %s, for which nothing is under way", id, s.running)
	}
	return nil
}

func contains(list []string, id string) bool {
	for _, other := range list {
		if other == id {
			return true
		}
	}
	return false
}

// saneLeases makes the leases anew from who holds one.
func saneLeases(m *Machine) error {
	want, leased, waits := newLeases(), 0, 0
	for id, c := range m.calls {
		if c.at == waiting {
			waits++
			if n := queued(m, c); n != 1 {
				return broken("%s stands in the queue %d times", id, n)
			}
		}
		if !c.leased {
			continue
		}
		want.take(id, c.Changes)
		if c.at != doubtful {
			leased++
		}
	}
	if leased != m.leased || waits != len(m.queue) {
		return broken("%d leases are counted and %d held; %d wait, %d in the queue", m.leased, leased, waits, len(m.queue))
	}
	if len(want.owner) != len(m.leases.owner) || len(want.shared) != len(m.leases.shared) {
		return broken("leases %v, held are %v", m.leases, want)
	}
	for o, id := range want.owner {
		if m.leases.owner[o] != id {
			return broken("the lease on %s is %s's, not %s's", o, m.leases.owner[o], id)
		}
	}
	for o, n := range want.shared {
		if m.leases.shared[o] != n {
			return broken("%d leases are counted below %s, there are %d", m.leases.shared[o], o, n)
		}
	}
	return nil
}

func queued(m *Machine, c *call) int {
	n := 0
	for _, other := range m.queue {
		if other == c {
			n++
		}
	}
	return n
}

// prompt is what has to have happened by now: a barrier that nobody is in the way
// of has begun, and so has a revocation.
func (e *env) prompt() error {
	leased, intending := false, false
	for _, p := range e.all() {
		leased = leased || p.lease
		intending = intending || p.op == opAppend && (intends(p.what) || p.what == IntendedToUndo) && e.evicted[p.skill]
	}
	if e.held && !e.quiet && !leased {
		return broken("nobody holds a lease, and the barrier does not begin")
	}
	if !e.told && !intending {
		return broken("nothing is intended under what is revoked, and that is not recorded")
	}
	return nil
}

// final is what must hold where nothing is outstanding.
func (e *env) final() error {
	hung := [2]bool{}
	for _, p := range e.all() {
		at := seat(p.kind.session)
		if p.op == opHung {
			hung[at] = true
		}
	}
	for i := range e.parts {
		p := &e.parts[i]
		if p.submitted && !p.gone && !p.resting && p.op != opHung && !(hung[seat(p.kind.session)] && strings.HasPrefix(p.log, "q")) {
			return broken("%s is stuck with %q in the log", idOf(i), p.log)
		}
	}
	for i, s := range e.sess {
		if s.ended && !s.over && !hung[i] {
			return broken("session %s does not end", seats[i])
		}
		if s.paused != s.logged && !s.over && !e.dead {
			return broken("session %s is paused: %v, in the log: %v", seats[i], s.paused, s.logged)
		}
	}
	return nil
}
