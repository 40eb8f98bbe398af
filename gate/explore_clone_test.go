package gate

import (
	"encoding/binary"
	"maps"
	"slices"
)

// clone is a machine that does what m would do, apart from it.
func (m *Machine) clone() *Machine {
	n := *m
	n.calls, n.doubts = make(map[string]*call, len(m.calls)), make(map[string]*call, len(m.doubts))
	for id, c := range m.calls {
		other := *c
		n.calls[id] = &other
	}
	for id := range m.doubts {
		n.doubts[id] = n.calls[id]
	}
	n.sessions = make(map[string]*session, len(m.sessions))
	for id, s := range m.sessions {
		other := *s
		other.staged, other.done, other.undos = slices.Clone(s.staged), slices.Clone(s.done), slices.Clone(s.undos)
		other.records, other.leavers = slices.Clone(s.records), slices.Clone(s.leavers)
		n.sessions[id] = &other
	}
	n.agents = make(map[string]*agent, len(m.agents))
	for id, a := range m.agents {
		other := *a
		other.keys = slices.Clone(a.keys)
		n.agents[id] = &other
	}
	n.queue = make([]*call, len(m.queue))
	for i, c := range m.queue {
		if n.queue[i] = n.calls[c.ID]; n.queue[i] == nil {
			other := *c // forgotten and still waiting: the invariants say so
			n.queue[i] = &other
		}
	}
	n.keys, n.evicted = maps.Clone(m.keys), maps.Clone(m.evicted)
	n.leases = leases{owner: maps.Clone(m.leases.owner), shared: maps.Clone(m.leases.shared)}
	n.touched, n.out = nil, nil
	return &n
}

// dumper writes what two machines have to have in common to be the same. Reasons
// are left out but for whether there is one: nothing depends on which.
type dumper struct{ b []byte }

func (d *dumper) int(n int64)   { d.b = binary.AppendVarint(d.b, n) }
func (d *dumper) text(s string) { d.int(int64(len(s))); d.b = append(d.b, s...) }

func (d *dumper) flags(flags ...bool) {
	n := int64(0)
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	d.int(n)
}

func (d *dumper) list(ids []string) {
	d.int(int64(len(ids)))
	for _, id := range ids {
		d.text(id)
	}
}

func (d *dumper) machine(m *Machine) {
	d.flags(m.narrowing, m.held, m.quiet, m.dead, m.stale)
	d.int(int64(m.leased))
	for _, id := range slices.Sorted(maps.Keys(m.calls)) {
		d.call(m.calls[id])
	}
	for _, id := range slices.Sorted(maps.Keys(m.sessions)) {
		d.session(m.sessions[id])
	}
	for _, id := range slices.Sorted(maps.Keys(m.agents)) {
		a := m.agents[id]
		d.text(id)
		d.flags(a.given)
		d.int(int64(a.level))
		d.int(int64(a.asked))
		d.text(a.mark.String())
	}
	for _, k := range slices.SortedFunc(maps.Keys(m.keys), func(a, b keyed) int { return compareKeys(a, b) }) {
		d.text(k.agent + " " + k.key + " " + m.keys[k].id)
	}
	for _, c := range m.queue {
		d.text(c.ID)
	}
	for _, subject := range slices.Sorted(maps.Keys(m.evicted)) {
		d.text(subject)
	}
}

func compareKeys(a, b keyed) int {
	if a.agent != b.agent {
		return slices.Compare([]byte(a.agent), []byte(b.agent))
	}
	return slices.Compare([]byte(a.key), []byte(b.key))
}

func (d *dumper) call(c *call) {
	d.text(c.ID)
	d.int(int64(c.way) | int64(c.at)<<8)
	d.int(c.size)
	d.flags(c.answer, c.approved, c.undoing, c.leased, c.overdue, c.hidden, c.told, c.recorded, c.cause != "", c.Void != "")
	d.text(c.skill)
}

func (d *dumper) session(s *session) {
	d.text(s.id + " " + s.skill + " " + s.running)
	d.int(int64(s.state) | int64(s.how)<<8)
	d.flags(s.undo)
	d.int(int64(s.open))
	d.int(s.buffer)
	d.list(s.staged)
	d.list(s.done)
	d.list(s.undos)
	for _, r := range s.records {
		d.text(r.subject)
		d.int(int64(r.what))
	}
	d.int(int64(len(s.leavers)))
}
