package mcpgate

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
)

// Options are what a Gateway is made of. Agents is mandatory.
type Options struct {
	Agents  serve.Agents
	Tools   ToolSource // of upstream servers; nil: none
	Version string     // of the runtime, told to clients
	// Net says that there is a host for net.egress; without one net_fetch is not offered.
	Net bool
	// Roots are where corpora lie: an absolute path below one is taken for the object there.
	Roots []Root
	// Wait is how long a call that a person is asked about keeps its client waiting before that is told `pending`; zero is 50 s.
	Wait time.Duration
	// Idle is how long nothing must be under way before a round is ended that nobody ended; zero is a minute.
	Idle time.Duration
	// Report is told what nobody else is told of. It may be nil, and is called from several goroutines.
	Report func(error)
}

// Root is where a corpus lies.
type Root struct {
	Corpus string
	Dir    string // absolute
}

// Gateway speaks MCP to agents. [New] makes one; Close it. It is safe for concurrent use.
type Gateway struct {
	opts    Options
	limits  limits
	server  *mcp.Server
	self    []byte // what the server is, as JSON
	http    http.Handler
	natives map[string]native
	ctx     context.Context // ends what is waited for when the gateway is closed
	cancel  context.CancelFunc
	reading *serve.Room // of long lines while they are read
	flying  *serve.Room // of requests in flight
	keeping *serve.Room // of replies that nobody heard
	tools   atomic.Pointer[[]byte]

	work sync.WaitGroup

	naming sync.Mutex
	byName map[string]*session // those that are open, by the id that the runtime gave them; guarded by naming

	mu       sync.Mutex
	closed   bool                            // guarded by mu
	overHTTP map[*mcp.ServerSession]*session // guarded by mu
	byToken  map[string]*shared              // of stateless requests; guarded by mu
}

// New makes a gateway. What it waits for ends with ctx, or when it is closed.
func New(ctx context.Context, opts Options) (*Gateway, error) {
	if opts.Agents == nil {
		return nil, errors.New("mcpgate: nobody opens sessions; give Agents")
	}
	if opts.Wait <= 0 {
		opts.Wait = 50 * time.Second
	}
	if opts.Idle <= 0 {
		opts.Idle = time.Minute
	}
	g := &Gateway{opts: opts, limits: standard(), overHTTP: map[*mcp.ServerSession]*session{}, byToken: map[string]*shared{}, byName: map[string]*session{}}
	g.reading, g.flying, g.keeping = serve.NewRoom(g.limits.together), serve.NewRoom(g.limits.together), serve.NewRoom(g.limits.together)
	g.ctx, g.cancel = context.WithCancel(ctx)
	g.natives = nativeTools(opts.Net)
	self := &mcp.Implementation{Name: "iff", Title: "iff", Version: opts.Version}
	var err error
	if g.self, err = json.Marshal(self); err != nil {
		return nil, fmt.Errorf("mcpgate: the version: %w", err)
	}
	g.server = mcp.NewServer(self, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: g.capabilities(),
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	g.server.AddReceivingMiddleware(g.receive)
	g.http = g.handler()
	if opts.Tools != nil {
		opts.Tools.Notify(g.changed)
	}
	return g, nil
}

func (g *Gateway) surface() Surface {
	s, _ := g.opts.Tools.(Surface)
	return s
}

func (g *Gateway) offers(feature string) bool {
	s := g.surface()
	return s != nil && s.Offers(feature)
}

func (g *Gateway) capabilities() *mcp.ServerCapabilities {
	out := &mcp.ServerCapabilities{
		Tools:     &mcp.ToolCapabilities{ListChanged: g.opts.Tools != nil},
		Resources: &mcp.ResourceCapabilities{ListChanged: g.offers("resources"), Subscribe: g.offers("resources")},
	}
	if g.offers("prompts") {
		out.Prompts = &mcp.PromptCapabilities{ListChanged: true}
	}
	if g.offers("completions") {
		out.Completions = &mcp.CompletionCapabilities{}
	}
	if g.offers("logging") {
		out.Logging = &mcp.LoggingCapabilities{}
	}
	return out
}

// changed has every client told that lists have changed. The SDK tells them of a change of its own lists, which nobody sees.
func (g *Gateway) changed() {
	g.tools.Store(nil)
	const none = "iff"
	g.server.AddTool(&mcp.Tool{Name: none, InputSchema: map[string]any{"type": "object"}}, nil)
	if g.offers("resources") {
		g.server.AddResource(&mcp.Resource{Name: none, URI: skillScheme + none}, nil)
	}
	if g.offers("prompts") {
		g.server.AddPrompt(&mcp.Prompt{Name: none}, nil)
	}
}

// sessionKey finds the session of a connection in the contexts of its requests.
type sessionKey struct{}

// ServeConn serves one connection as one session until it ends, and closes it. When ctx ends, nobody is waited for any more.
func (g *Gateway) ServeConn(ctx context.Context, conn net.Conn, peer serve.Peer) {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		_ = conn.Close() // nothing was promised
		return
	}
	g.work.Add(1)
	g.mu.Unlock()
	defer g.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(g.ctx, cancel)
	defer stop()
	s := g.newSession(peer)
	w := newWire(g, s, conn, ctx.Done())
	unread := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) }) // it fails if it is closed
	defer unread()
	transport, err := g.server.Connect(context.WithValue(ctx, sessionKey{}, s), w, nil)
	if err == nil {
		_ = transport.Wait() // why it ended is nobody's business
	}
	w.empty()
	if err := errors.Join(s.end(ctx), w.Close()); err != nil && !errors.Is(err, net.ErrClosed) {
		g.report(err)
	}
}

func (g *Gateway) report(err error) {
	if g.opts.Report != nil {
		g.opts.Report(err)
	}
}

// Busy says whether sessions over HTTP are open.
func (g *Gateway) Busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.overHTTP)+len(g.byToken) > 0
}

// Close ends every session and waits for them. What is staged is dropped.
func (g *Gateway) Close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	g.closeHTTP()
	g.work.Wait()
}

// receive does what the SDK would do with its own lists of tools, resources and prompts. What an agent sends beside name and arguments,
// such as answers to questions that nobody asked it, is not looked at.
func (g *Gateway) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		s, connected := ctx.Value(sessionKey{}).(*session)
		if r, ok := req.(*mcp.ServerRequest[*mcp.CallToolParamsRaw]); ok && connected {
			s.heard(ctx, r)
		}
		out, err := g.perform(ctx, method, req)
		switch {
		case err != nil:
			return nil, err
		case out != nil:
			return out, nil
		}
		return next(ctx, method, req)
	}
}

// perform does a method if it is ours; nil if not. Its errors are those of the protocol.
func (g *Gateway) perform(ctx context.Context, method string, req mcp.Request) (out mcp.Result, err error) {
	defer func() { // one client's request must not end the others' sessions
		if what := recover(); what != nil {
			g.report(fmt.Errorf("mcp: %s: %v\n%s", method, what, debug.Stack()))
			out, err = nil, wireError(errors.New("panic"))
		}
	}()
	out, mine, err := g.act(ctx, method, req)
	switch {
	case err != nil:
		return nil, wireError(err)
	case !mine:
		return nil, nil
	}
	return out, nil
}

// act does a method if it is ours.
func (g *Gateway) act(ctx context.Context, method string, req mcp.Request) (out mcp.Result, mine bool, err error) {
	var body []byte
	switch method {
	case methodInitialize:
		_, _, err = g.sessionOf(ctx, req)
		return nil, false, err
	case "tools/list":
		body, err = g.listTools()
	case methodCall:
		body, err = g.callTool(ctx, req)
	case "resources/list":
		body, err = g.listResources(ctx, req)
	case "resources/templates/list":
		body, err = g.listTemplates(ctx)
	case "resources/read":
		body, err = g.readResource(ctx, req)
	case "prompts/list":
		body, err = g.listOf(ctx, method, "prompts", nil)
	case "prompts/get":
		body, err = g.readUpstream(ctx, method, req)
	case "completion/complete":
		body, err = g.complete(ctx, req)
	case "resources/subscribe", "resources/unsubscribe":
		body = []byte("{}") // nobody is told of changes, so no upstream is asked to tell of them
	case "logging/setLevel":
		return nil, false, g.setLevel(ctx, req) // the SDK notes it too
	default:
		return nil, false, nil
	}
	return &result{body: body, modern: isModern(req)}, true, err
}

// sessionOf is the session that a request belongs to, open.
func (g *Gateway) sessionOf(ctx context.Context, req mcp.Request) (*session, serve.AgentSession, error) {
	s, ok := ctx.Value(sessionKey{}).(*session)
	if !ok {
		var err error
		if s, err = g.sessionOverHTTP(req); err != nil {
			return nil, nil, err
		}
	}
	if agent := s.opened(); agent != nil {
		return s, agent, nil
	}
	agent, err := s.open(ctx, clientOf(req))
	return s, agent, err
}

// clientOf is what a client calls itself.
func clientOf(req mcp.Request) string {
	var info *mcp.Implementation
	switch r := req.(type) {
	case *mcp.ServerRequest[*mcp.InitializeParams]:
		info = r.Params.ClientInfo
	case interface{ ClientInfo() *mcp.Implementation }:
		info = r.ClientInfo()
	}
	if info == nil {
		return "unknown"
	}
	return info.Name + " " + info.Version
}

// isModern says whether a request is of a version without sessions, 2026-07-28 or later.
func isModern(req mcp.Request) bool {
	params := req.GetParams()
	if params == nil {
		return false
	}
	_, ok := params.GetMeta()[mcp.MetaKeyProtocolVersion]
	return ok
}

// refusalOf is the reply of a call that got no request, and whether err is one.
func refusalOf(err error) (gate.Reply, bool) {
	var r *gate.Refusal
	if !errors.As(err, &r) {
		return gate.Reply{}, false
	}
	return gate.Reply{Status: gate.Refused, Reason: r.Reason, Message: r.Error()}, true
}

// sorted is the names of the native tools, in the order in which they are listed.
func (g *Gateway) sorted() []string {
	out := []string{}
	for name := range g.natives {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int { return g.natives[a].order - g.natives[b].order })
	return out
}
