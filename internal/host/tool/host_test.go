package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/host/fs"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// world is a host over fakes and one corpus.
type world struct {
	testing.TB
	h     *Host
	dir   string
	mu    sync.Mutex
	notes []record.Tool
}

func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// upstreamOf is a fake of a mode.
func upstreamOf(t testing.TB, name, mode string, rules ...Rule) Server {
	return Server{Name: name, Command: []string{self(t)}, Env: map[string]string{"IFF_FAKE": mode, "GORACE": "atexit_sleep_ms=0"}, Rules: rules, Timeout: time.Minute}
}

func newWorld(t testing.TB, edit func(*Options), servers ...Server) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir()}
	files, err := fs.New([]fs.Root{{Corpus: "work", Dir: w.dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(files.Close)
	o := Options{Servers: servers, Roots: []Root{{"work", w.dir}}, Files: files, Patience: time.Minute, Note: func(r record.Tool) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notes = append(w.notes, r)
		return nil
	}}
	if edit != nil {
		edit(&o)
	}
	for i := range o.Servers {
		if o.Servers[i].Dir == "" {
			o.Servers[i].Dir = w.dir
		}
	}
	if w.h, err = Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.h.Close)
	return w
}

func (w *world) scheme() *label.Scheme { s, _ := label.Builtin("default"); return s }

// envelope is a call of the gate in its frozen form.
func (w *world) envelope(c gate.Call) capability.Envelope {
	w.Helper()
	class, err := capability.Parse(c.Capability)
	if err != nil {
		w.Fatal(err)
	}
	target, err := capability.ParseTarget(class, c.Target)
	if err != nil {
		w.Fatal(err)
	}
	env, err := capability.NewEnvelope(capability.Call{Target: target, Arguments: c.Arguments})
	if err != nil {
		w.Fatal(err)
	}
	return env
}

func (w *world) call(tool, args string) capability.Envelope {
	w.Helper()
	c, err := w.h.Call(tool, []byte(args))
	if err != nil {
		w.Fatalf("Call(%s, %s): %v", tool, args, err)
	}
	return w.envelope(c)
}

// do has a call done as a gate would.
func (w *world) do(env capability.Envelope) (gate.Result, error) {
	w.Helper()
	if _, err := w.h.Touches(env); err != nil {
		return gate.Result{}, err
	}
	plan, err := w.h.Plan(context.Background(), env, nil)
	if err != nil {
		return gate.Result{}, err
	}
	phase := gate.Execute
	if env.Target().Capability().Effect() == capability.None {
		phase = gate.Read
	}
	return w.h.do(context.Background(), gate.Order{Phase: phase, Envelope: env, Plan: plan})
}

func (w *world) run(tool, args string) string {
	w.Helper()
	r, err := w.do(w.call(tool, args))
	if err != nil {
		w.Fatalf("%s: %v", tool, err)
	}
	return string(r.Data)
}

// reason is the gate's word for an error.
func reason(err error) gate.Reason {
	var r *gate.Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	if err != nil {
		return gate.HostFailed
	}
	return ""
}

func said(s string) string { return `{"content":[{"text":"` + s + `","type":"text"}],"isError":false}` }

func TestUnmapped(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	env := w.call("echo", `{"say":"hi","n":1.0}`)
	if got := env.Target(); got.Capability() != capability.ToolInvoke || got.String() != "fake/echo" {
		t.Errorf("target %v(%v)", got.Capability(), got)
	}
	touches, err := w.h.Touches(env)
	if err != nil || len(touches.Changes)+len(touches.Reads) != 0 || touches.Reversible {
		t.Errorf("touches %+v, %v", touches, err)
	}
	plan, err := w.h.Plan(t.Context(), env, nil)
	if err != nil || plan.Reach != gate.Opaque || len(plan.Changes) != 0 {
		t.Errorf("plan %+v, %v", plan, err)
	}
	if got := w.run("echo", `{"say":"hi"}`); got != said("hi") {
		t.Errorf("told %s", got)
	}
}

// What servers do that they should not, and what is said of it.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		tool   string
		reason gate.Reason
		sent   bool
		alive  bool // the same program goes on
	}{
		{"die", UpstreamDied, true, false},
		{"half", UpstreamDied, true, false},
		{"garbage", UpstreamGarbage, true, false},
		{"long", UpstreamGarbage, true, false},
		{"deep", UpstreamGarbage, true, false},
		{"batch", UpstreamGarbage, true, false},
		{"flood_requests", UpstreamGarbage, true, false},
		{"inexact", UpstreamGarbage, true, true},
		{"duplicate", UpstreamGarbage, true, true},
		{"not_a_result", UpstreamGarbage, true, true},
		{"refuse", UpstreamRefused, true, true},
		{"input", UpstreamRefused, true, true},
		{"stall", UpstreamOverdue, true, true},
	} {
		t.Run(c.tool, func(t *testing.T) {
			s := upstreamOf(t, "fake", "plain")
			w := newWorld(t, nil, s)
			u := w.h.upstreams["fake"]
			if c.tool == "stall" { // not before it has started
				u.Timeout = 500 * time.Millisecond
			}
			_, err := w.do(w.call(c.tool, `{}`))
			u.Timeout = s.Timeout
			var e *Error
			if !errors.As(err, &e) || e.Reason != c.reason || e.Sent != c.sent || reason(err) != c.reason {
				t.Fatalf("%v, want %s", err, c.reason)
			}
			if unknown := strings.Contains(err.Error(), "is not known"); unknown != (c.reason != UpstreamRefused) {
				t.Errorf("%v", err)
			}
			// It is there again at the next use, and the call was not repeated.
			want := "1"
			if c.alive {
				want = "2"
			}
			if got := w.run("count", `{}`); got != said(want) {
				t.Errorf("afterwards %s, want %s", got, want)
			}
		})
	}
}

func TestGoesOn(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	for _, c := range []struct{ tool, want string }{
		{"other_id", said("mine")},
		{"flood", said("after the flood")},
		{"fail", `{"content":[{"text":"no such thing","type":"text"}],"isError":true}`},
		{"die_after", said("bye")},
		{"echo", said("")},
	} {
		if got := w.run(c.tool, `{}`); got != c.want {
			t.Errorf("%s: %s", c.tool, got)
		}
		if c.tool == "die_after" {
			<-w.h.upstreams["fake"].link.over
		}
	}
	got := w.run("big", `{}`)
	if len(got) > MaxResult || !strings.Contains(got, "small") || !strings.Contains(got, "Ask for less") || strings.Contains(got, "structured") {
		t.Errorf("a big answer: %d bytes, %.200s", len(got), got)
	}
}

// A server that asks for roots, sampling or elicitation gets nothing.
func TestAsks(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, _ = w.h.upstreams["fake"].call(ctx, "ask", "{}")
	var got string
	waitFor(t, func() bool { // until it has heard all of it
		got = w.run("shout", `{}`)
		return strings.Count(got, "-32601") >= 3 && strings.Contains(got, "{}")
	})
	if strings.Count(got, "-32601") != 3 {
		t.Errorf("it was told %s", got)
	}
	for _, word := range []string{"roots\\\"", "sampling\\\"", "elicitation\\\""} {
		if strings.Contains(got, word) {
			t.Errorf("the client declares %s: %s", word, got)
		}
	}
}

// Down servers rest longer each time, and are tried at the next use.
func TestDown(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	w := newWorld(t, func(o *Options) { o.Now = clock }, Server{Name: "none", Command: []string{"/bin/false"}, Timeout: time.Minute})
	u := w.h.upstreams["none"]
	if s := w.h.States()[0]; s.Up || s.Why == "" {
		t.Errorf("state %+v", s)
	}
	for want := time.Second; want <= 8*time.Second; want *= 2 {
		if got := u.rest.Sub(clock()); got != want {
			t.Errorf("rests %v, want %v", got, want)
		}
		_, err := u.use(t.Context())
		if reason(err) != UpstreamDown || !strings.Contains(err.Error(), "tried again in") {
			t.Errorf("%v", err)
		}
		mu.Lock()
		now = now.Add(want)
		mu.Unlock()
		if _, err := u.use(t.Context()); reason(err) != UpstreamDown || strings.Contains(err.Error(), "tried again in") {
			t.Errorf("%v", err)
		}
	}
}

// A program has its own environment, and nothing of it is left behind.
func TestProgram(t *testing.T) {
	t.Setenv("SECRET_OF_THE_RUNTIME", "1")
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	got := w.run("env", `{}`)
	for _, word := range []string{"PATH=" + Path, "LANG=C.UTF-8", "HOME=", "IFF_FAKE=plain"} {
		if !strings.Contains(got, word) {
			t.Errorf("no %s in %s", word, got)
		}
	}
	if strings.Contains(got, "SECRET_OF") {
		t.Error("it has the runtime's variables")
	}
	child := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(w.run("child", `{}`), `{"content":[{"text":"`), `","type":"text"}],"isError":false}`), `"`)
	pid, err := strconv.Atoi(child)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(w.h.States()[0].Stderr, `a child \u{1b}[31mis there`) })
	w.h.Close()
	waitFor(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }) // else the child is still there
}

func zombie(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(b), ") Z ")
}

func TestSchemaChanges(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	before := w.call("echo", `{"say":"hi"}`)
	if len(w.notes) != len(fakeTools) || w.notes[0].Event != record.ToolPinned {
		t.Fatalf("notes %v", w.notes)
	}
	w.run("change", `{}`)
	waitFor(t, func() bool { return len(w.h.Tools()) == 0 })
	if _, err := w.do(before); reason(err) != ToolChanged {
		t.Errorf("a call that was asked for before: %v", err)
	}
	if _, err := w.h.Call("echo", []byte(`{}`)); reason(err) != ToolUnknown {
		t.Errorf("a call afterwards: %v", err)
	}
	if err := w.h.Accept("fake", "echo"); err != nil {
		t.Fatal(err)
	}
	if tools := w.h.Tools(); len(tools) != 1 || tools[0].Name != "echo" {
		t.Errorf("offered %v", tools)
	}
	if got := w.run("echo", `{"say":"again"}`); got != said("again") {
		t.Error(got)
	}
	if _, err := w.do(before); reason(err) != ToolChanged {
		t.Errorf("a call with the old schema: %v", err)
	}
	last := w.notes[len(w.notes)-1]
	if last.Event != record.ToolAccepted || last.Tool != "echo" {
		t.Errorf("last note %v", last)
	}
}

// What was pinned by an earlier runtime counts.
func TestPinnedBefore(t *testing.T) {
	pins := map[string]record.ToolPin{}
	first := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	for _, n := range first.notes {
		pins[n.Tool] = record.ToolPin{Server: n.Server, Tool: n.Tool, Schema: n.Schema}
	}
	again := newWorld(t, func(o *Options) {
		o.Pin = func(_, tool string) (record.ToolPin, bool) { p, ok := pins[tool]; return p, ok }
	}, upstreamOf(t, "fake", "changed"))
	if len(again.h.Tools()) != 0 {
		t.Errorf("offered %d", len(again.h.Tools()))
	}
	for _, n := range again.notes {
		if n.Event != record.ToolChanged {
			t.Errorf("note %v", n)
		}
	}
}

// What cannot be recorded is not offered.
func TestUnrecorded(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Note = func(record.Tool) error { return errors.New("the log is full") } }, upstreamOf(t, "fake", "plain"))
	if s := w.h.States()[0]; s.Up || len(w.h.Tools()) != 0 || !strings.Contains(s.Why, "the log is full") {
		t.Errorf("state %+v", s)
	}
}

// A tool under another's name is not offered, whoever comes first.
func TestNames(t *testing.T) {
	pins := map[string]bool{"b/echo": true}
	w := newWorld(t, func(o *Options) {
		o.Pin = func(server, tool string) (record.ToolPin, bool) {
			return record.ToolPin{Server: server, Tool: tool, Evicted: true}, pins[server+"/"+tool]
		}
	}, upstreamOf(t, "a", "plain"), upstreamOf(t, "b", "plain"))
	for _, tool := range w.h.Tools() {
		if tool.Name == "echo" {
			t.Errorf("%s offers echo, which is pinned as b's", tool.Server)
		}
	}
	for _, n := range w.notes {
		if n.Tool == "echo" && n.Server == "a" {
			t.Errorf("it was pinned: %v", n)
		}
	}
	b := upstreamOf(t, "b", "plain")
	b.Prefix = "b_"
	two := newWorld(t, nil, upstreamOf(t, "a", "plain"), b)
	if n := len(two.h.Tools()); n != 2*len(fakeTools) {
		t.Errorf("offered %d", n)
	}
	if got := two.run("b_echo", `{"say":"b"}`); got != said("b") {
		t.Error(got)
	}
}

func TestLists(t *testing.T) {
	for mode, check := range map[string]func(State) bool{
		"twins": func(s State) bool {
			return len(s.Tools) == len(fakeTools)-1 && !slices.ContainsFunc(s.Tools, func(t Tool) bool { return t.Upstream == "echo" })
		},
		"names": func(s State) bool { return len(s.Tools) == len(fakeTools) && len(s.Faults) == 4 },
		"many":  func(s State) bool { return len(s.Tools) == maxTools && len(s.Faults) == maxFaults },
	} {
		w := newWorld(t, nil, upstreamOf(t, "fake", mode))
		if s := w.h.States()[0]; !check(s) {
			t.Errorf("%s: %d tools, faults %q", mode, len(s.Tools), s.Faults)
		}
	}
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	want := `{"description":"does echo","inputSchema":{"properties":{"say":{"type":"string"}},"type":"object"},"name":"echo"}`
	if got := string(w.h.Tools()[0].Definition); got != want {
		t.Errorf("definition %s", got)
	}
}

func waitFor(t testing.TB, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatal("it did not come to that")
}

// A server that dies at every call is started again at once the first time, and
// rests then.
func TestDiesAgain(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	env := w.call("die", `{}`)
	for i, want := range []gate.Reason{UpstreamDied, UpstreamDied, UpstreamDown} {
		if _, err := w.do(env); reason(err) != want {
			t.Errorf("call %d: %v, want %s", i, err, want)
		}
	}
}

// Calls at once are answered each with its own, also while others fail.
func TestAtOnce(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	var all sync.WaitGroup
	for i := range 64 {
		tool, want := "echo", gate.Reason("")
		if i%8 == 0 {
			tool, want = "inexact", UpstreamGarbage
		}
		word := strconv.Itoa(i)
		env := w.call(tool, `{"say":"`+word+`"}`)
		all.Go(func() {
			r, err := w.h.do(context.Background(), gate.Order{Phase: gate.Execute, Envelope: env})
			if reason(err) != want || want == "" && string(r.Data) != said(word) {
				t.Errorf("%s %s: %s, %v", tool, word, r.Data, err)
			}
		})
	}
	all.Wait()
	stuck := w.call("stall", `{}`)
	all.Go(func() {
		if _, err := w.h.do(context.Background(), gate.Order{Phase: gate.Execute, Envelope: stuck}); err == nil {
			t.Error("a call that was under way when the host was closed was answered")
		}
	})
	waitFor(t, func() bool {
		l := w.h.upstreams["fake"].held()
		l.screen.mu.Lock()
		defer l.screen.mu.Unlock()
		return len(l.screen.flights) > 0
	})
	w.h.Close()
	all.Wait()
}
