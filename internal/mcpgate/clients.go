package mcpgate

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/label"
)

// clients tells what upstream servers say during a call to the client that waits for it: it implements [tool.Client].
type clients struct{ gate *Gateway }

// Clients are those of the gateway, for who has something to tell them.
func (g *Gateway) Clients() tool.Client { return clients{g} }

// listener is a client that waits for a call.
type listener struct {
	ctx       context.Context // of its request: what is said belongs to it
	transport *mcp.ServerSession
	progress  *progress // nil if it wants none
}

// tell tells how the call stands.
func (l *listener) tell(message string) {
	if l != nil && l.progress != nil {
		l.progress.beat(message)
	}
}

// listenerOf is the client of a request.
func listenerOf[P mcp.Params](ctx context.Context, r *mcp.ServerRequest[P]) *listener {
	out := &listener{ctx: ctx, transport: r.Session}
	params, ok := any(r.Params).(interface{ GetProgressToken() any })
	if !ok {
		return out
	}
	if token := params.GetProgressToken(); token != nil {
		out.progress = &progress{token: token, began: time.Now(), send: func(p *mcp.ProgressNotificationParams) {
			_ = r.Session.NotifyProgress(ctx, p) // a client that is gone wants to know nothing
		}}
	}
	return out
}

// progress is what a client is told of one call, by us while it waits and by an upstream: one row of numbers that grow.
type progress struct {
	token any
	began time.Time
	send  func(*mcp.ProgressNotificationParams)

	mu      sync.Mutex
	told    bool
	last    float64
	base    float64 // what an upstream's numbers are added to
	relayed bool    // an upstream has said something
}

// step is how much a number grows at least.
const step = 0.001

// beat says that we are there: the number is that of seconds, unless an upstream has its own.
func (p *progress) beat(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := 0.0
	if !p.relayed {
		at = time.Since(p.began).Seconds()
	}
	p.next(at, 0, message)
}

// pass passes on what an upstream says.
func (p *progress) pass(said tool.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.relayed {
		p.relayed, p.base = true, p.last
	}
	total := 0.0
	if said.Total > 0 {
		total = p.base + said.Total
	}
	p.next(p.base+said.Done, total, said.Message)
}

// next needs mu.
func (p *progress) next(at, total float64, message string) {
	if p.told {
		at = max(at, p.last+step)
	}
	p.told, p.last = true, at
	p.send(&mcp.ProgressNotificationParams{ProgressToken: p.token, Progress: at, Total: total, Message: message})
}

// find is the client that waits for a call, and its session; nil if nobody does.
func (c clients) find(of tool.Caller) (*session, *listener) {
	c.gate.naming.Lock()
	s := c.gate.byName[of.Session]
	c.gate.naming.Unlock()
	if s == nil {
		return nil, nil
	}
	s.beginning.Lock() // who has begun a call has said who listens
	defer s.beginning.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.listening[of.Request]
}

// Follows implements [tool.Client]. It does not wait for who is about to listen.
func (c clients) Follows(of tool.Caller) bool {
	c.gate.naming.Lock()
	s := c.gate.byName[of.Session]
	c.gate.naming.Unlock()
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, known := s.listening[of.Request]
	return !known || l.progress != nil
}

// Progress implements [tool.Client].
func (c clients) Progress(_ context.Context, of tool.Caller, p tool.Progress) {
	if _, l := c.find(of); l != nil && l.progress != nil {
		l.progress.pass(p)
	}
}

// Log implements [tool.Client]. The SDK holds back what is below the level that the client wants.
func (c clients) Log(_ context.Context, of tool.Caller, l tool.Log) {
	if _, to := c.find(of); to != nil {
		_ = to.transport.Log(to.ctx, &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(l.Level), Logger: l.Logger, Data: asIs(l.Data)})
	}
}

// asIs is JSON that is passed on.
type asIs []byte

// MarshalJSON gives the bytes.
func (a asIs) MarshalJSON() ([]byte, error) { return a, nil }

// What becomes of a question without an answer.
var (
	errNobody  = errors.New("nobody waits for the call, or its client answers no such questions")
	errMayNot  = errors.New("what the session has read may not flow there")
	errNothing = errors.New("nothing is asked")
)

// Ask implements [tool.Client]. The answer is the upstream's, and nothing else's: no question of iff is ever asked this way.
func (c clients) Ask(ctx context.Context, of tool.Caller, q tool.Question) (mcp.Result, error) {
	s, l := c.find(of)
	if l == nil || !answers(l.transport, q.Params) {
		return nil, errNobody
	}
	if !s.flows(q.Labels) {
		return nil, errMayNot
	}
	own, cancel := context.WithCancel(l.ctx) // its values say which request the question belongs to
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	s.asking.Add(1)
	defer s.asking.Add(-1)
	out, err := put(own, l.transport, q.Params)
	if err == nil && !s.flows(q.Labels) { // it can have read more while somebody thought
		return nil, errMayNot
	}
	return out, err
}

// put puts a question. The result is nothing if there is an error.
func put(ctx context.Context, to *mcp.ServerSession, params mcp.Params) (mcp.Result, error) {
	switch p := params.(type) {
	case *mcp.ElicitParams:
		return to.Elicit(ctx, p)
	case *mcp.CreateMessageWithToolsParams:
		return to.CreateMessageWithTools(ctx, p)
	}
	return nil, errNothing
}

// answers says whether a client has said that it answers such questions.
func answers(to *mcp.ServerSession, params mcp.Params) bool {
	said := to.InitializeParams()
	if said == nil || said.Capabilities == nil || said.ProtocolVersion >= stateless { // from there on servers ask nothing
		return false
	}
	switch p := params.(type) {
	case *mcp.ElicitParams:
		e := said.Capabilities.Elicitation
		return e != nil && (p.Mode == "url" && e.URL != nil || p.Mode == "form" && (e.Form != nil || e.URL == nil))
	case *mcp.CreateMessageWithToolsParams:
		return said.Capabilities.Sampling != nil
	}
	return false
}

// flows says whether what the session has read may flow to all labels, of which there has to be one.
func (s *session) flows(to []label.Label) bool {
	s.mu.Lock()
	agent := s.agent
	s.mu.Unlock()
	return agent != nil && len(to) > 0 && !slices.ContainsFunc(to, func(l label.Label) bool { return !agent.Flows(l) })
}

// asks says whether an upstream's question waits for an answer in a session over HTTP.
func (g *Gateway) asks(transport string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for t, s := range g.overHTTP {
		if transport != "" && t.ID() == transport {
			return s.asking.Load() > 0
		}
	}
	return false
}
