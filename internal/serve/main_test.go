package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == childWord {
		os.Exit(runChild(os.Args[2], os.Args[3:]))
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

// fake is a runtime that does nothing. A call of a target that holds waits until it is let go.
type fake struct {
	mu      sync.Mutex
	opened  int
	asked   int
	calls   []string // targets, when they end
	cut     []string // targets of calls whose ctx had ended when they did
	closed  []string // sessions
	touched []string // methods of the operator
	pending int
	cursor  int64
	held    map[string]chan struct{}
	noted   []Refusal
	begun   chan string // targets of calls that hold; nil tells nobody
}

func newFake() *fake { return &fake{held: map[string]chan struct{}{}} }

func (f *fake) hold(target string) (release func()) {
	ch := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held[target] = ch
	return sync.OnceFunc(func() { close(ch) })
}

// snapshot copies what is there under the lock.
func snapshot[T any](f *fake, of func() T) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return of()
}

func (f *fake) Open(_ context.Context, peer Peer, req OpenRequest) (AgentSession, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if req.Resume != "" {
		return nil, fmt.Errorf("resume: %w", &Fault{Reason: string(gate.SessionUnknown), Message: "there is no session " + req.Resume, Remedy: "open a new one"})
	}
	if req.Agent == "broken" {
		return nil, errors.New("/home/operator/secret: disk full")
	}
	f.opened++
	return &fakeSession{f, fmt.Sprintf("s-%d", f.opened), peer}, nil
}

// Refused keeps what was refused.
func (f *fake) Refused(r Refusal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, r)
	return nil
}

func (f *fake) Hook(context.Context, Peer, HookReport) error { return nil }

type fakeSession struct {
	f    *fake
	id   string
	peer Peer
}

var listing = []SkillListing{
	{Name: "invoices", Version: 3, Level: "declared", Signer: "me", Summary: "Writes invoices."},
	{Name: "notes", Version: 1, Level: "unverified", Signer: "adopter"},
}

func (s *fakeSession) Opened() Opened {
	return Opened{Session: s.id, Principal: "uid-1000", Profile: "dev", Version: "0.4.0", Level: "unverified", Skills: listing}
}

func (s *fakeSession) Skills(context.Context) ([]SkillListing, error) { return listing, nil }

func (s *fakeSession) Use(_ context.Context, name string) (SkillContent, error) {
	switch name {
	case "":
		return SkillContent{Level: "unverified"}, nil
	case "invoices":
		return SkillContent{Name: name, Level: "declared", Files: []SkillFile{{"SKILL.md", 61}, {"logo.png", 4}}, Content: "---\nname: invoices\ndescription: Writes invoices.\n---\nBegin.\n"}, nil
	}
	return SkillContent{}, &gate.Refusal{Reason: gate.SkillUnknown, Detail: "no skill " + name + " is loaded; see skill.list"}
}

func (s *fakeSession) ReadSkill(_ context.Context, _, path string) ([]byte, error) {
	switch path {
	case "SKILL.md":
		return []byte("Begin.\n"), nil
	case "logo.png":
		return []byte{0x89, 'P', 'N', 'G'}, nil
	}
	return nil, &gate.Refusal{Reason: gate.NotFound, Detail: "the skill has no file " + path + "; see the files of skill.use"}
}

func (s *fakeSession) Flows(label.Label) bool { return true }

func (s *fakeSession) Begin(c gate.Call) Pending {
	return gate.Refuse(gate.NoHost, "this one only calls")
}

func (s *fakeSession) Barrier(context.Context) error { return nil }

func (s *fakeSession) Status(context.Context) (SessionStatus, error) {
	return SessionStatus{Session: s.id, State: "open", Level: "unverified", Mark: "PUBLIC"}, nil
}

func (s *fakeSession) Commit(context.Context) ([]gate.Reply, error) {
	return []gate.Reply{{Request: "r-2", Status: gate.Done, Result: []byte(`{"state":"absent"}`)}}, nil
}

func (s *fakeSession) Close(context.Context) error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.closed = append(s.f.closed, s.id)
	return nil
}

func (s *fakeSession) Call(ctx context.Context, c gate.Call) gate.Reply {
	s.f.mu.Lock()
	s.f.asked++
	id := fmt.Sprintf("r-%d", s.f.asked)
	hold := s.f.held[c.Target]
	s.f.mu.Unlock()
	if hold != nil {
		if s.f.begun != nil {
			s.f.begun <- c.Target
		}
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	s.f.calls = append(s.f.calls, c.Target)
	if ctx.Err() != nil {
		s.f.cut = append(s.f.cut, c.Target)
	}
	return answerCall(id, c)
}

func answerCall(id string, c gate.Call) gate.Reply {
	switch {
	case c.Target == "work/large":
		return gate.Reply{Request: id, Status: gate.Done, Result: []byte(`{"content":"` + strings.Repeat("x", roomForResults) + `"}`)}
	case c.Target == "work/zero":
		return gate.Reply{}
	case c.Capability == "fs.read":
		return gate.Reply{Request: id, Status: gate.Done, Result: []byte(`{"content":"hello\n","size":6,"state":"5891b5b5"}`)}
	case c.Capability == "fs.write.rev":
		return gate.Reply{Request: id, Status: gate.StagedStatus, Message: "it waits for commit"}
	}
	return gate.Reply{Request: id, Status: gate.Denied, Reason: gate.Undeclared, Message: "the active manifest does not declare " + c.Capability, Allowed: []string{"fs.read work/**"}}
}

// operator counts what it is asked.
type operator struct{ f *fake }

func (o operator) touch(name string) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.f.touched = append(o.f.touched, name)
}

var instant = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (o operator) Status(context.Context) (Status, error) {
	o.touch("status")
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	return Status{Version: "0.4.0", Profile: "dev", Log: "iff/log/01", Records: 7, Fence: 1, PID: 42, Started: instant, Sessions: o.f.opened - len(o.f.closed), Pending: o.f.pending}, nil
}

func (o operator) inbox() Inbox {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	return Inbox{o.f.cursor, []InboxItem{{Request: "r-9", Session: "s-1", Agent: "opencode", Capability: "fs.write.irrev", Target: "work/a", Level: "unverified", Asked: instant, Deadline: instant.Add(time.Hour)}}}
}

func (o operator) Inbox(context.Context) (Inbox, error) { o.touch("inbox"); return o.inbox(), nil }

func (o operator) WaitInbox(ctx context.Context, since int64) (Inbox, error) {
	o.touch("wait")
	if in := o.inbox(); in.Cursor > since {
		return in, nil
	}
	<-ctx.Done()
	return o.inbox(), nil
}

func (o operator) Question(_ context.Context, request string) (canonical.Raw, error) {
	o.touch("question")
	if request != "r-9" {
		return canonical.Raw{}, &Fault{Reason: "answer-unknown", Message: "no question " + request, Remedy: "see inbox.list"}
	}
	return canonical.NewRaw([]byte(`{"request":"r-9","plan":[]}`), canonical.Limits{})
}

func (o operator) Answer(_ context.Context, by Peer, answers []Answer) ([]Answered, error) {
	o.touch("answer by " + by.Principal())
	out := []Answered{}
	for _, a := range answers {
		one := Answered{Request: a.Request}
		if a.Request != "r-9" {
			one.Reason, one.Message = "answer-late", "it is answered"
		}
		out = append(out, one)
	}
	return out, nil
}

func (o operator) Sessions(context.Context) ([]Session, error) {
	o.touch("sessions")
	return []Session{{Session: "s-1", Principal: "uid-1000", Agent: "opencode", State: "open", Level: "unverified", Mark: "PUBLIC", Opened: instant}}, nil
}

func (o operator) Session(_ context.Context, id string) (SessionDetail, error) {
	o.touch("session")
	if id != "s-1" {
		return SessionDetail{}, &Fault{Reason: string(gate.SessionUnknown), Message: "no session " + id, Remedy: "see session.list"}
	}
	return SessionDetail{Session: Session{Session: id, State: "open", Opened: instant}, Staged: []SessionCall{{"r-2", "fs.write.rev", "work/a", []string{"work/a"}}}}, nil
}

func (o operator) Pause(context.Context, string) error  { o.touch("pause"); return nil }
func (o operator) Resume(context.Context, string) error { o.touch("resume"); return nil }
func (o operator) Stop(context.Context, string) error {
	o.touch("stop")
	return errors.New("disk full")
}
func (o operator) Reset(context.Context, string) error { o.touch("reset"); return nil }

func (o operator) Rollback(context.Context, string) ([]gate.Reply, error) {
	o.touch("rollback")
	return []gate.Reply{{Request: "r-2", Status: gate.Failed, Reason: gate.Conflict, Message: "work/a is not as it was left"}}, nil
}

func (o operator) Commit(context.Context, string) ([]gate.Reply, error) {
	o.touch("commit")
	return nil, nil
}

func (o operator) Barrier(context.Context) (Barrier, error) {
	o.touch("barrier")
	return Barrier{Seq: 8, Verdict: "PASS"}, nil
}

func (o operator) Verdict(_ context.Context, asked Asked) (Verdict, error) {
	o.touch("verdict")
	report, err := canonical.NewRaw(fmt.Appendf(nil, `{"from":%d}`, asked.From), canonical.Limits{})
	return Verdict{Report: report}, err
}

func (o operator) Settle(_ context.Context, s Settled) error {
	o.touch("settle " + s.Finding)
	return nil
}

func (o operator) Narrow(_ context.Context, document []byte) (Narrowed, error) {
	o.touch("narrow")
	return Narrowed{Version: int64(len(document))}, nil
}

func (operator) Upstreams(context.Context) ([]Upstream, error) {
	t := UpstreamTool{Name: "read_file", Offered: "read_file", Standing: "changed", Capability: "fs.read", Reach: "bounded", Mapped: true, Schema: "00ff"}
	return []Upstream{{Server: "files", Up: true, Tools: []UpstreamTool{t}, Faults: []string{}}}, nil
}

func (o operator) Accept(_ context.Context, server, tool string) error {
	o.touch("accept " + server + "/" + tool)
	return nil
}

// running is a server that a test owns.
type running struct {
	*Server
	fake *fake
	dir  string
	err  chan error // of Serve
}

// run serves in a new directory; change may be nil.
func run(t testing.TB, change func(*Server)) *running {
	t.Helper()
	return runWith(t, 0, change)
}

func runWith(t testing.TB, idle time.Duration, change func(*Server)) *running {
	t.Helper()
	f := newFake()
	dir := filepath.Join(t.TempDir(), "run")
	s, err := Listen(dir, Options{Agents: f, Operator: operator{f}, Idle: idle, Report: func(err error) { t.Log(err) }})
	must(t, err)
	if change != nil {
		change(s)
	}
	r := &running{s, f, dir, make(chan error, 1)}
	go func() { r.err <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *running) path(name string) string { return filepath.Join(r.dir, name) }

// raw is a connection that is spoken to by hand.
type raw struct {
	t testing.TB
	*net.UnixConn
	in *bufio.Reader
}

func (r *running) raw(t testing.TB, name string) *raw {
	t.Helper()
	c := unwrap(dial(t.Context(), r.path(name)))(t)
	t.Cleanup(func() { c.Close() })
	return &raw{t, c, bufio.NewReader(c)}
}

func (c *raw) say(lines ...string) {
	c.t.Helper()
	_, err := io.WriteString(c, strings.Join(lines, "\n")+"\n")
	must(c.t, err)
}

// hear is the next line.
func (c *raw) hear() string {
	c.t.Helper()
	line, err := c.in.ReadString('\n')
	must(c.t, err)
	return strings.TrimSuffix(line, "\n")
}

// gone reads until the connection has ended, and is what came.
func (c *raw) gone() string {
	rest, _ := io.ReadAll(c.in) // that it was reset is an end too
	return string(rest)
}

// fault parses a line that must be one.
func fault(t testing.TB, line string) *Fault {
	t.Helper()
	a, err := parseAnswer([]byte(line))
	if err != nil || a.fault == nil {
		t.Fatalf("no fault: %.300s (%v)", line, err)
	}
	return a.fault
}

func (r *running) client(t testing.TB, name string) *Client {
	t.Helper()
	c := unwrap(Dial(t.Context(), r.path(name)))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// agent is a client with a session.
func (r *running) agent(t testing.TB) *Client {
	t.Helper()
	c := r.client(t, AgentSocket)
	must(t, c.Call(t.Context(), "session.open", OpenRequest{Agent: "test"}, nil))
	return c
}

func names(ms map[string]method) []string { return slices.Sorted(maps.Keys(ms)) }

const opening = `{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"agent":"a"}}`
