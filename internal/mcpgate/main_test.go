package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/label"
)

func TestMain(m *testing.M) {
	if os.Getenv(asEcho) != "" {
		echo()
		return
	}
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func unwrap[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// world is a runtime that does nothing. A call of a target that asks waits for a person, that is the test; one that hangs waits for a host.
type world struct {
	mu       sync.Mutex
	sessions []*player
	asked    chan *ask
	refuse   error
	noted    []serve.Refusal
	sticky   chan struct{} // commits wait for it; nil does not
}

// ask is one call that waits.
type ask struct {
	call gate.Call
	p    *pending
}

func (a *ask) approve(result string) { a.p.end(gate.Reply{Status: gate.Done, Result: []byte(result)}) }

type pending struct {
	id        string
	asked     chan struct{}
	done      chan struct{}
	once      sync.Once
	reply     gate.Reply
	cancelled chan struct{}
	cancel    sync.Once
	late      bool // it is taken back too late: somebody has answered
}

func newPending(id string) *pending {
	return &pending{id: id, asked: make(chan struct{}), done: make(chan struct{}), cancelled: make(chan struct{})}
}

func (p *pending) end(r gate.Reply) {
	p.once.Do(func() {
		r.Request = p.id
		p.reply = r
		close(p.done)
	})
}

func (p *pending) Request() string        { return p.id }
func (p *pending) Asked() <-chan struct{} { return p.asked }
func (p *pending) Done() <-chan struct{}  { return p.done }
func (p *pending) Reply() gate.Reply      { return p.reply }
func (p *pending) Cancel() {
	p.cancel.Do(func() { close(p.cancelled) })
	if p.late {
		return
	}
	select {
	case <-p.asked:
		p.end(gate.Reply{Status: gate.Denied, Reason: gate.Cancelled})
	default:
	}
}

// player is one session of the world.
type player struct {
	w         *world
	principal string
	name      string
	id        string

	mu       sync.Mutex
	calls    []gate.Call
	live     []*pending
	staged   []string
	commits  int
	barriers int
	read     []string
	closed   bool
	rises    bool // the mark does, after so many flows
	flows    int
}

// Refused keeps what was refused.
func (w *world) Refused(r serve.Refusal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noted = append(w.noted, r)
	return nil
}

func (w *world) Open(_ context.Context, peer serve.Peer, req serve.OpenRequest) (serve.AgentSession, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return nil, w.refuse
	}
	p := &player{w: w, principal: peer.Principal(), name: req.Agent, id: fmt.Sprintf("s%d", len(w.sessions)+1)}
	w.sessions = append(w.sessions, p)
	return p, nil
}

var listing = []serve.SkillListing{
	{Name: "invoices", Version: 3, Level: "declared", Signer: "me", Summary: "Writes invoices."},
	{Name: "notes", Version: 1, Level: "unverified", Signer: "adopter"},
}

func (p *player) Opened() serve.Opened { return serve.Opened{Session: p.id, Principal: p.principal} }

func (p *player) Call(ctx context.Context, c gate.Call) gate.Reply {
	b := p.Begin(c)
	<-b.Done()
	return b.Reply()
}

func (p *player) Begin(c gate.Call) serve.Pending {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, c)
	out := newPending(fmt.Sprintf("r%s.%d", p.id[1:], len(p.calls)))
	p.live = append(p.live, out)
	out.late = strings.Contains(c.Target, "late")
	switch {
	case strings.Contains(c.Target, "ask"):
		close(out.asked)
		p.w.asked <- &ask{c, out}
	case strings.Contains(c.Target, "hang"):
		p.w.asked <- &ask{c, out}
	case strings.Contains(c.Target, "deny"):
		out.end(gate.Reply{Status: gate.Denied, Reason: gate.Undeclared, Message: "no skill is active, and outside of skills fs.read is not allowed", Allowed: []string{"fs.read(work/**)"}})
	case c.Capability == "fs.write.rev":
		p.staged = append(p.staged, out.id)
		out.end(gate.Reply{Status: gate.StagedStatus, Message: "it waits for a commit"})
	case c.Capability == "tool.invoke":
		out.end(gate.Reply{Status: gate.Done, Result: []byte(`{"content":[{"text":"` + "pong" + `","type":"text","x":1}],"isError":false,"structuredContent":{"n":1}}`)})
	case strings.Contains(string(c.Arguments), `"list"`):
		out.end(gate.Reply{Status: gate.Done, Result: []byte(`{"entries":[{"kind":"file","name":"a.txt"},{"kind":"directory","name":"b"}]}`)})
	default:
		out.end(gate.Reply{Status: gate.Done, Result: []byte(`{"content":"hello\n","size":6,"state":"5891b5b5"}`)})
	}
	return out
}

// Flows is true as often as rise has said, if it was asked to.
func (p *player) Flows(label.Label) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.rises {
		return true
	}
	p.flows--
	return p.flows >= 0
}

func (p *player) rise(after int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rises, p.flows = true, after
}

func (p *player) Skills(context.Context) ([]serve.SkillListing, error) { return listing, nil }

func (p *player) Use(_ context.Context, name string) (serve.SkillContent, error) {
	if name != "invoices" {
		return serve.SkillContent{}, &gate.Refusal{Reason: gate.SkillUnknown, Detail: "no skill named " + name + " is loaded"}
	}
	return serve.SkillContent{Name: name, Level: "declared", Files: []serve.SkillFile{{Path: "SKILL.md", Size: 7}, {Path: "logo.png", Size: 4}}, Content: "Begin.\n"}, nil
}

func (p *player) ReadSkill(_ context.Context, name, path string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch path {
	case "SKILL.md":
		p.read = append(p.read, name+"/"+path)
		return []byte("Begin.\n"), nil
	case "logo.png":
		p.read = append(p.read, name+"/"+path)
		return []byte{0x89, 'P', 'N', 'G'}, nil
	}
	return nil, &gate.Refusal{Reason: gate.NotFound, Detail: "the skill has no file " + path}
}

func (p *player) Commit(ctx context.Context) ([]gate.Reply, error) {
	if p.w.sticky != nil {
		select {
		case <-p.w.sticky:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	var out []gate.Reply
	for _, id := range p.staged {
		out = append(out, gate.Reply{Request: id, Status: gate.Done, Result: []byte(`{"state":"absent"}`)})
	}
	p.staged = nil
	return out, nil
}

func (p *player) Barrier(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barriers++
	return nil
}

func (p *player) Status(context.Context) (serve.SessionStatus, error) {
	return serve.SessionStatus{Session: p.id}, nil
}

func (p *player) Close(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("closed twice")
	}
	p.closed = true
	for _, l := range p.live {
		l.end(gate.Reply{Status: gate.Refused, Reason: gate.SessionEnded})
	}
	return nil
}

// see copies what is there under the lock.
func see[T any](p *player, of func() T) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return of()
}

// upstreams is a source of one tool.
type upstreams struct{ changed func() }

func (u *upstreams) Tools() []Tool {
	return []Tool{{"ping", []byte(`{"description":"Pings.","inputSchema":{"type":"object","$defs":{"x":{}}},"name":"ping","title":"Ping"}`)}, {"fs_read", []byte(`{"name":"fs_read"}`)}}
}

func (u *upstreams) Call(tool string, arguments []byte) (gate.Call, error) {
	switch tool {
	case "ping":
		return gate.Call{Capability: "tool.invoke", Target: "echo/ping", Arguments: append(append([]byte(`{"via":"echo/ping","arguments":`), arguments...), '}')}, nil
	case "gone":
		return gate.Call{}, &gate.Refusal{Reason: "tool-changed", Detail: "the tool is not what it was"}
	}
	return gate.Call{}, noTool(tool)
}

func (u *upstreams) Notify(changed func()) { u.changed = changed }

// rig is a gateway over a world, with a socket.
type rig struct {
	w    *world
	g    *Gateway
	path string
	tool *upstreams
}

func newRig(t testing.TB, tune func(*Options, *limits)) *rig {
	t.Helper()
	r := &rig{w: &world{asked: make(chan *ask, 64)}, tool: &upstreams{}}
	opts := Options{Agents: r.w, Tools: r.tool, Version: "0.5.0", Net: true, Roots: []Root{{"work", "/home/me/project"}, {"docs", "/home/me/project/docs"}}}
	l := standard()
	l.drain = 200 * time.Millisecond
	if tune != nil {
		tune(&opts, &l)
	}
	r.g = unwrap(New(t.Context(), opts))(t)
	r.g.limits = l
	r.g.reading, r.g.flying = serve.NewRoom(l.together), serve.NewRoom(l.together)
	dir := unwrap(os.MkdirTemp("", "mcp"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r.path = filepath.Join(dir, "s")
	listener := unwrap(net.Listen("unix", r.path))(t)
	var serving sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { r.g.ServeConn(ctx, c, serve.Peer{UID: 1000}) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		cancel()
		r.g.Close()
		serving.Wait()
	})
	return r
}

func (r *rig) dial(t testing.TB) net.Conn {
	t.Helper()
	return unwrap(net.Dial("unix", r.path))(t)
}

// client is a client of the SDK.
func (r *rig) client(t testing.TB, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c := r.dial(t)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, opts).Connect(t.Context(), &mcp.IOTransport{Reader: c, Writer: c}, versionOf(opts))
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (r *rig) player(t testing.TB, n int) *player {
	t.Helper()
	var p *player
	eventually(t, func() bool {
		r.w.mu.Lock()
		defer r.w.mu.Unlock()
		if len(r.w.sessions) > n {
			p = r.w.sessions[n]
		}
		return p != nil
	})
	return p
}

func eventually(t testing.TB, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatal("it does not come to be")
}
