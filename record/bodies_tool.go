package record

import "strings"

// What is known of things that are not iff's own: tools of other servers, and
// what agents do beside the gate.

// The kinds.
const (
	KindTool Kind = "tool"
	KindHook Kind = "hook"
)

// ToolEvent is what happened to a tool of an upstream server.
type ToolEvent string

// The events.
const (
	ToolPinned   ToolEvent = "pinned"   // it was seen for the first time; from now on it is held to this schema
	ToolChanged  ToolEvent = "changed"  // its schema is another one: nothing calls it until somebody accepts that
	ToolAccepted ToolEvent = "accepted" // an operator took the new schema for good
	ToolGone     ToolEvent = "gone"     // its server does not offer it any more
)

var toolEvents = []ToolEvent{ToolPinned, ToolChanged, ToolAccepted, ToolGone}

// Tool says what an upstream server's tool takes, by the hash of its schema.
type Tool struct {
	Event  ToolEvent
	Schema Hash // of the canonical form of its name and input schema
	Server string
	Tool   string
}

func (b *Tool) walk(c *codec) {
	c.open()
	token(c, "event", &b.Event, toolEvents)
	c.hash("schema", &b.Schema)
	c.text("server", &b.Server)
	c.text("tool", &b.Tool)
	c.close()
}

// Hook is what a hook in an agent saw and answered: a call of a tool that is not
// iff's, which the gate never sees. The agent's word is all there is for it.
type Hook struct {
	Agent  string // principal
	Choice Choice
	Client string // which agent it is, by the hook's word
	Input  Hash   // SHA-256 of the tool's input
	Reason string // closed token; empty if it was approved
	Tool   string
}

func (b *Hook) walk(c *codec) {
	c.open()
	c.text("agent", &b.Agent)
	token(c, "choice", &b.Choice, choices)
	c.text("client", &b.Client)
	c.hash("input", &b.Input)
	c.optText("reason", &b.Reason)
	c.text("tool", &b.Tool)
	c.close()
}

// ToolPin is what a tool of an upstream server is held to.
type ToolPin struct {
	Server, Tool string
	Schema       Hash
	Evicted      bool // it came with another schema, and nobody has accepted that
}

func (p ToolPin) key() string { return p.Server + "/" + p.Tool }

func (p *ToolPin) walk(c *codec) {
	c.open()
	c.bool("evicted", &p.Evicted)
	c.hash("schema", &p.Schema)
	c.text("server", &p.Server)
	c.text("tool", &p.Tool)
	c.close()
}

// pin folds what is known of a tool. The first schema that was seen counts until
// an operator accepts another.
func (s *State) pin(b Tool) {
	p := ToolPin{Server: strings.Clone(b.Server), Tool: strings.Clone(b.Tool), Schema: b.Schema}
	old, known := s.tools[p.key()]
	switch {
	case b.Event == ToolChanged && known && old.Schema != b.Schema:
		p = old
		p.Evicted = true
	case b.Event == ToolPinned && !known, b.Event == ToolAccepted:
	default:
		return
	}
	if s.tools == nil {
		s.tools = make(map[string]ToolPin)
	}
	s.tools[p.key()] = p
}

// Tool says what a tool of an upstream server is held to; false if it was never
// seen.
func (s *State) Tool(server, tool string) (ToolPin, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.tools[ToolPin{Server: server, Tool: tool}.key()]
	return p, ok
}
