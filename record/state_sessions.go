package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/iff-run/iff/level"
)

// OpenSession is a session that was opened and not stopped, aborted or closed.
type OpenSession struct {
	ID         string
	Agent      string     // that opened it
	Opened     int64      // sequence number of the record that opened it
	Skill      string     // subject of the active skill, hex; empty for none
	Transition Transition // the newest
}

// Agent is what a principal has been given and has read, in all its sessions
// since an operator last reset it. The zero value is one of whom nothing is
// known.
type Agent struct {
	Name  string
	Level string   // the lowest of the skills it was given; empty for none
	Marks []string // labels of what it has read, each once, in the order of their bytes
}

// session folds a transition: into what is known of the agent, whatever became
// of the session, and into the session, unless it is not open.
func (s *State) session(r *Record, b Session) {
	if b.Transition == AgentReset {
		delete(s.agents, b.Agent)
		return
	}
	given := ""
	if b.Transition == SessionSkill {
		given = b.Level
	}
	s.know(b.Agent, given, b.Mark)
	open, ok := s.sessions[r.Session]
	switch b.Transition {
	case SessionStopped, SessionAborted, SessionClosed:
		delete(s.sessions, r.Session)
		return
	case SessionOpened:
		if !ok && r.Session != "" {
			open, ok = OpenSession{ID: strings.Clone(r.Session), Agent: strings.Clone(b.Agent), Opened: r.Seq}, true
		}
	}
	if !ok {
		return
	}
	if s.sessions == nil {
		s.sessions = make(map[string]OpenSession)
	}
	open.Skill, open.Transition = strings.Clone(b.Skill), b.Transition
	s.sessions[open.ID] = open
}

// know keeps the lowest level and every mark of an agent. Records of one agent
// may stand in another order than they came about in, so no later one takes
// away what an earlier one says. An empty level or mark says nothing.
func (s *State) know(agent, given, mark string) {
	if agent == "" {
		return
	}
	a, known := s.agents[agent]
	if !known {
		if s.agents == nil {
			s.agents = make(map[string]Agent)
		}
		a.Name = strings.Clone(agent)
	}
	if given != "" && (a.Level == "" || below(given, a.Level)) {
		a.Level = levelOf(given).String()
	}
	if at, found := slices.BinarySearch(a.Marks, mark); mark != "" && !found {
		a.Marks = slices.Insert(slices.Clone(a.Marks), at, strings.Clone(mark))
	}
	s.agents[a.Name] = a
}

// levelOf is the level of a name; unverified, the lowest, if it is none.
func levelOf(name string) level.Level {
	l, err := level.Parse(name)
	if err != nil {
		return level.Unverified
	}
	return l
}

func below(a, b string) bool { return !levelOf(a).AtLeast(levelOf(b)) }

// Sessions lists the open sessions in the order of their ids.
func (s *State) Sessions() []OpenSession {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.sessions), func(a, b OpenSession) int { return cmp.Compare(a.ID, b.ID) })
}

// Agent is what is known of a principal; the zero value with its name if nothing
// is.
func (s *State) Agent(name string) Agent {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := s.agents[name]
	a.Name, a.Marks = name, slices.Clone(a.Marks)
	return a
}

// Agents lists what is known of all principals, in the order of their names.
func (s *State) Agents() []Agent {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := slices.SortedFunc(maps.Values(s.agents), func(a, b Agent) int { return cmp.Compare(a.Name, b.Name) })
	for i := range out {
		out[i].Marks = slices.Clone(out[i].Marks)
	}
	return out
}

func (o *OpenSession) walk(c *codec) {
	c.open()
	c.text("agent", &o.Agent)
	c.text("id", &o.ID)
	c.int("opened", &o.Opened)
	c.optText("skill", &o.Skill)
	token(c, "transition", &o.Transition, transitions)
	c.close()
}

func (a *Agent) walk(c *codec) {
	c.open()
	if c.optText("level", &a.Level); a.Level != "" && a.Level != levelOf(a.Level).String() {
		c.fail("level is not the name of one")
	}
	if c.texts("marks", &a.Marks); !isSet(a.Marks) {
		c.fail("marks are not in order")
	}
	c.text("name", &a.Name)
	c.close()
}

// isSet says whether texts are in the order of their bytes, none of them twice
// and none empty.
func isSet(list []string) bool {
	before := ""
	for _, text := range list {
		if text <= before {
			return false
		}
		before = text
	}
	return true
}
