package gate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// flooded is a gate over a log on disk, in which an agent asks for large things.
type flooded struct {
	*gatetest.Bench
	dir   string
	store audit.Store
	log   *audit.Log
}

const unwanted = 8 << 20

// newFlooded has a sink, if one is given, stand between the gate and its log.
func newFlooded(t *testing.T, between func(*audit.Log) record.Sink) *flooded {
	t.Helper()
	f := &flooded{dir: filepath.Join(t.TempDir(), "log")}
	store, err := file.Create(durable.OS(), f.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.store = store
	f.log, err = audit.Create(t.Context(), store, record.Init{Origin: "iff.test/log", Profile: "dev", Scheme: "default"}, trusttest.NewKey(1), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.Bench = gatetest.New(t, nil, func(p *gate.Parts) {
		p.Sink, p.Keep, p.Limits.Unwanted = f.log, f.log.Keep, unwanted
		if between != nil {
			p.Sink = between(f.log)
		}
	})
	f.Broker.Script(gatetest.Nobody)
	return f
}

// beside is how many bytes lie beside the log.
func (f *flooded) beside(t *testing.T) int64 {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(f.dir, "blob-*"))
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, name := range all {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// large is a write that no other is like, of half a megabyte.
func large(n int, target string) gate.Call {
	return gatetest.Irreversibly("write", target, strings.Repeat(fmt.Sprintf("%08d", n), 1<<16))
}

// asks asks for large things and takes each back, until it is refused.
func (f *flooded) asks(t *testing.T, s *gate.Session, from int) (asked int) {
	t.Helper()
	for n := range 100 {
		p := s.Begin(large(from+n, "b"))
		select {
		case <-p.Asked():
			p.Cancel()
			<-p.Done()
			continue
		case <-p.Done():
		}
		if r := p.Reply(); r.Status != gate.Denied || r.Reason != gate.TooMuchAsked || r.Message == "" {
			t.Fatalf("refused with %+v", r)
		}
		return n
	}
	t.Fatal("nothing stops it")
	return 0
}

// close closes gate and log, and verifies the log with all that lies beside it.
func (f *flooded) close(t *testing.T) {
	t.Helper()
	f.Bench.Close()
	report, err := audit.Verify(t.Context(), f.store, audit.VerifyOptions{Blobs: true})
	if err != nil || !report.Holds() {
		t.Errorf("the log: %+v, %v", report, err)
	}
	if err := f.log.Close(); err != nil {
		t.Error(err)
	}
}

// What nobody approves is bounded on disk, and one session leaves some of it to
// the others of its agent.
func TestAskedFloodIsBounded(t *testing.T) {
	f := newFlooded(t, nil)
	defer f.close(t)
	first := f.asks(t, f.Open("agent", gatetest.Declared), 0)
	if first < 4 || f.beside(t) > unwanted/2 {
		t.Errorf("%d were asked, %d bytes lie beside the log", first, f.beside(t))
	}
	second := f.asks(t, f.Open("agent", gatetest.Declared), 1000)
	if second < 2 || f.beside(t) > unwanted {
		t.Errorf("%d more were asked, %d bytes lie beside the log", second, f.beside(t))
	}
	if n := f.asks(t, f.Open("other", gatetest.Declared), 2000); n < 4 {
		t.Errorf("of another agent only %d are asked", n)
	}
	// What is small is still asked, and what is approved anyway is done.
	s := f.Open("agent", gatetest.Declared)
	f.Broker.Script(gatetest.Approves)
	if r := s.Call(t.Context(), gatetest.Irreversibly("write", "b", "small")); r.Status != gate.Done {
		t.Errorf("a small one: %+v", r)
	}
	if r := s.Call(t.Context(), large(1, "out/b")); r.Status != gate.Done {
		t.Errorf("one that a grant covers: %+v", r)
	}
}

// wide is a host whose plans are longer than what is kept of one call.
type wide struct{ gate.Host }

func (w wide) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	p, err := w.Host.Plan(ctx, env, staged)
	if err != nil {
		return p, err
	}
	c, before, after := p.Changes[0], p.Before[0], p.After[0]
	for n := range 2 * audit.MaxPayload / 300 {
		below := c
		below.Object += corpus.Object(fmt.Sprintf("/%08d%s", n, strings.Repeat("x", 200)))
		p.Changes, p.Before, p.After = append(p.Changes, below), append(p.Before, before), append(p.After, after)
	}
	return p, nil
}

// What cannot be recorded because its plan is too long leaves nothing beside the
// log, for nobody counts it.
func TestTooWideLeavesNothing(t *testing.T) {
	f := newFlooded(t, nil)
	f.Bench.Close()
	f.Bench = gatetest.New(t, nil, func(p *gate.Parts) {
		p.Sink, p.Keep, p.Limits.Unwanted = f.log, f.log.Keep, 1<<30
		p.Hosts[capability.FSWriteIrrev] = wide{p.Hosts[capability.FSWriteIrrev]}
	})
	f.Broker.Script(gatetest.Nobody)
	defer f.close(t)
	s := f.Open("agent", gatetest.Declared)
	for n := range 3 {
		if r := s.Call(t.Context(), large(n, "b")); r.Status != gate.Refused || r.Reason != gate.LogFailed {
			t.Fatalf("%+v", r)
		}
	}
	if n := f.beside(t); n > 0 {
		t.Errorf("%d bytes lie beside the log", n)
	}
	// It is the plan: a call without one is kept.
	p := s.Begin(gatetest.Write("notes/b", strings.Repeat("x", 1<<16)))
	defer p.Cancel()
	select {
	case <-p.Asked():
	case <-p.Done():
	}
	if f.beside(t) == 0 {
		t.Errorf("nothing is ever kept: %+v", p.Reply())
	}
}

// What is approved is not counted, however much it is.
func TestApprovedIsNotUnwanted(t *testing.T) {
	f := newFlooded(t, nil)
	defer f.close(t)
	f.Broker.Script(gatetest.Approves)
	s := f.Open("agent", gatetest.Declared)
	for n := range unwanted/2>>19 + 2 {
		if r := s.Call(t.Context(), large(n, "b")); r.Status != gate.Done {
			t.Fatalf("%d: %+v", n, r)
		}
	}
}

// deniedCheaply has many large calls denied at once, and says what of them was kept.
func (f *flooded) deniedCheaply(t *testing.T) error {
	t.Helper()
	s := f.Open("agent", gatetest.Reader)
	var p *gate.Pending
	for n := range 20 {
		p = s.Begin(large(n, "out/b"))
		<-p.Done()
		if r := p.Reply(); r.Status != gate.Denied || r.Reason != gate.Undeclared {
			t.Fatalf("%+v", r)
		}
	}
	if n := f.beside(t); n > 0 {
		return fmt.Errorf("%d bytes lie beside the log", n)
	}
	return nil
}

func TestDeniedFloodIsNotKept(t *testing.T) {
	f := newFlooded(t, nil)
	defer f.close(t)
	if err := f.deniedCheaply(t); err != nil {
		t.Error(err)
	}
}

// keeping is a log that keeps what was asked for with every denial: the bug that
// the test above is there for.
type keeping struct{ *audit.Log }

func (k keeping) Append(ctx context.Context, entries ...record.Entry) ([]record.Mark, error) {
	for i, e := range entries {
		r, ok := e.Body.(record.Request)
		if !ok || len(entries) < 2 {
			continue
		}
		var err error
		if r.Payload, err = k.Keep(ctx, append([]byte(e.Request), make([]byte, 1<<16)...)); err != nil {
			return nil, err
		}
		entries[i].Body = r
	}
	return k.Log.Append(ctx, entries...)
}

func TestDeniedFloodThatIsKeptIsFound(t *testing.T) {
	f := newFlooded(t, func(l *audit.Log) record.Sink { return keeping{l} })
	defer f.close(t)
	if f.deniedCheaply(t) == nil {
		t.Error("it is kept, and nobody says so")
	}
}

// A small call that is denied is told of by its record, a larger one by its hash.
func TestWhatADenialKeeps(t *testing.T) {
	b := gatetest.New(t, nil)
	defer b.Close()
	s := b.Open("agent", gatetest.Reader)
	for content, kept := range map[string]bool{"small": true, strings.Repeat("x", 6<<10): false} {
		r := s.Call(t.Context(), gatetest.Irreversibly("write", "out/b", content))
		body, ok := b.Log.Of(r.Request)[0].Body.(record.Request)
		if !ok || body.Envelope == (record.Hash{}) || (body.Payload.Digest == body.Envelope) != kept || kept != (body.Payload != record.Payload{}) {
			t.Errorf("%d bytes: %v %+v", len(content), ok, body)
		}
	}
	// Of what is no call there is nothing.
	r := s.Call(t.Context(), gate.Call{Capability: "fs.nothing", Target: "b"})
	if body, ok := b.Log.Of(r.Request)[0].Body.(record.Request); !ok || body.Payload != (record.Payload{}) {
		t.Errorf("of what is no call: %v %+v", ok, body)
	}
}
