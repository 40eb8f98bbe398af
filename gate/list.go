package gate

import "slices"

// Dead says whether the log takes no more, so that nothing is begun any more.
func (g *Gate) Dead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.machine.dead
}

// CallLine is a call of a session in short.
type CallLine struct {
	Request string
	Call    Call
	Objects []string
}

// Resting lists the calls of a session that are staged, and those that are
// committed and can be put back, each in order.
func (g *Gate) Resting(session string) (staged, done []CallLine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.machine.session(session)
	if s == nil {
		return nil, nil
	}
	return g.lines(s.staged), g.lines(s.done)
}

// lines describes calls. g.mu is held.
func (g *Gate) lines(ids []string) []CallLine {
	out := []CallLine{}
	for _, id := range ids {
		l := g.lives[id]
		if l == nil {
			continue
		}
		line := CallLine{Request: id, Call: l.call, Objects: []string{}}
		for _, o := range l.facts.Changes {
			line.Objects = append(line.Objects, string(o))
		}
		slices.Sort(line.Objects)
		out = append(out, line)
	}
	return out
}
