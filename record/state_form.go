package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// walk writes or reads the canonical form of the state.
func (s *State) walk(c *codec) {
	c.open()
	agents := listed(c, s.agents, func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })
	array(c, "agents", &agents, (*Agent).walk)
	calls := listed(c, s.calls, func(a, b Call) int { return strings.Compare(a.ID, b.ID) })
	array(c, "calls", &calls, (*Call).walk)
	c.int("epoch", &s.epoch)
	c.int("fence", &s.fence)
	c.text("logKey", &s.logKey)
	observed := s.versions(c)
	array(c, "observed", &observed, (*version).walk)
	c.text("origin", &s.origin)
	var places []place
	if c.writing {
		for _, d := range s.order {
			places = append(places, place{d, s.placed[d]})
		}
	}
	array(c, "placed", &places, (*place).walk)
	c.text("root", &s.root)
	sessions := listed(c, s.sessions, func(a, b OpenSession) int { return strings.Compare(a.ID, b.ID) })
	array(c, "sessions", &sessions, (*OpenSession).walk)
	c.int("size", &s.size)
	tools := listed(c, s.tools, func(a, b ToolPin) int { return strings.Compare(a.key(), b.key()) })
	optArray(c, "tools", &tools, (*ToolPin).walk)
	c.text("trustDigest", &s.trust.Digest)
	c.int("trustVersion", &s.trust.Version)
	c.int("verdict", &s.verdictAt)
	c.close()
	if c.writing || c.err != nil {
		return
	}
	s.agents = keyed(agents, func(a Agent) string { return a.Name })
	s.calls = keyed(calls, func(k Call) string { return k.ID })
	s.sessions = keyed(sessions, func(o OpenSession) string { return o.ID })
	if len(tools) > 0 {
		s.tools = keyed(tools, ToolPin.key)
	}
	s.fill(observed, places)
}

func (s *State) fill(observed []version, places []place) {
	s.observed, s.placed = make(map[Identity]Observed), make(map[string]Skill)
	for _, v := range observed {
		s.observed[Identity{v.name, v.signer}] = Observed{v.version, v.subject}
	}
	for _, p := range places {
		s.placed[p.directory] = p.skill
		s.order = append(s.order, p.directory)
	}
}

// keyed is a map of what was listed.
func keyed[V any](list []V, key func(V) string) map[string]V {
	out := make(map[string]V, len(list))
	for _, v := range list {
		out[key(v)] = v
	}
	return out
}

// listed is the values of a map in order, when writing.
func listed[K comparable, V any](c *codec, m map[K]V, order func(a, b V) int) []V {
	if !c.writing {
		return nil
	}
	return slices.SortedFunc(maps.Values(m), order)
}

func (b *Call) walk(c *codec) {
	c.open()
	c.int("decision", &b.Decision)
	c.text("id", &b.ID)
	c.bool("inDoubt", &b.InDoubt)
	c.int("intent", &b.Intent)
	c.int("request", &b.Request)
	c.bool("reversible", &b.Reversible)
	c.text("session", &b.Session)
	c.int("staged", &b.Staged)
	c.close()
}

type version struct {
	name, signer, subject string
	version               int64
}

func (s *State) versions(c *codec) []version {
	if !c.writing {
		return nil
	}
	out := make([]version, 0, len(s.observed))
	for id, o := range s.observed {
		out = append(out, version{id.Name, id.Signer, o.Subject, o.Version})
	}
	slices.SortFunc(out, func(a, b version) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.signer, b.signer))
	})
	return out
}

func (v *version) walk(c *codec) {
	c.open()
	c.text("name", &v.name)
	c.text("signer", &v.signer)
	c.text("subject", &v.subject)
	c.int("version", &v.version)
	c.close()
}

type place struct {
	directory string
	skill     Skill
}

func (p *place) walk(c *codec) {
	c.open()
	c.text("directory", &p.directory)
	p.skill.field(c)
	c.close()
}
