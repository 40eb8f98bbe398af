package gate

import "slices"

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

// acquire waits for a lease on what the call changes.
func (m *Machine) acquire(c *call) {
	c.at, c.told, m.stale = waiting, false, true
	m.queue = append(m.queue, c)
}

func (m *Machine) unqueue(c *call) {
	m.stale = true
	m.queue = slices.DeleteFunc(m.queue, func(other *call) bool { return other == c })
}

// release gives up what the call holds.
func (m *Machine) release(c *call) {
	if !c.leased {
		return
	}
	m.leases.release(c.Changes)
	m.stale = true
	if c.leased = false; c.at != doubtful {
		m.leased--
	}
}

// grant gives leases to those that wait. Whoever came first is served first:
// nobody gets what is in the way of one who waits longer.
func (m *Machine) grant() {
	if !m.stale {
		return
	}
	m.stale = false
	var wanted leases // by those that wait; made when somebody does
	still := m.queue[:0]
	for _, c := range m.queue {
		if !m.held && m.leases.free(c.Changes) && wanted.free(c.Changes) {
			m.lease(c)
			continue
		}
		if wanted.owner == nil {
			wanted = newLeases()
		}
		still = append(still, c)
		wanted.take(c.ID, c.Changes)
		if !c.told {
			c.told = true
			m.emit(Wait{ID: c.ID})
		}
	}
	clear(m.queue[len(still):])
	m.queue = still
}

func (m *Machine) lease(c *call) {
	m.leases.take(c.ID, c.Changes)
	c.leased, c.at = true, planning
	m.leased++
	m.emit(PlanIt{ID: c.ID, Approved: c.approved, Undo: c.undoing})
}
