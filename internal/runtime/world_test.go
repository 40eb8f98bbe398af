package runtime_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	hostfs "github.com/iff-run/iff/internal/host/fs"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/skill"
)

// world is a runtime over an env.
type world struct {
	*env
	rt      *runtime.Runtime
	h       *home.Home
	parts   runtime.Parts
	ask     *approver
	files   *hooked
	refused map[string]error // skills that were not loaded, by directory
	close   []func() error
}

// start starts a runtime; change may change its parts.
func (e *env) start(change ...func(*world)) *world {
	e.Helper()
	w, err := e.tryStart(change...)
	e.must(err)
	return w
}

func (e *env) tryStart(change ...func(*world)) (*world, error) {
	e.Helper()
	w := &world{env: e, refused: map[string]error{}, ask: &approver{choice: func(approval.Question) record.Choice { return record.Deny }}}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, w.release())
	}
	for _, f := range change {
		f(w)
	}
	var err error
	if w.rt, err = runtime.Start(e.Context(), w.parts); err != nil {
		return nil, errors.Join(err, w.release())
	}
	return w, nil
}

func (w *world) open() (err error) {
	if w.h, err = home.Open(w.Context(), w.home, home.Write, home.Options{}); err != nil {
		return err
	}
	w.close = append(w.close, w.h.Close)
	roots, err := w.h.LockCorpora()
	if err != nil {
		return err
	}
	set, dirs, err := w.load()
	if err != nil {
		return err
	}
	var on []hostfs.Root
	var corpora []runtime.Corpus
	for _, r := range roots {
		o, err := rehash.New(r.Path(), r.Name, r.Volatile, rehash.Options{})
		if err != nil {
			return err
		}
		w.close = append(w.close, o.Close)
		on = append(on, hostfs.Root{Corpus: r.Name, Dir: r.Path(), Volatile: r.Volatile})
		corpora = append(corpora, runtime.Corpus{Name: r.Name, Dir: r.Path(), Label: r.LabelOf, Volatile: r.Volatile, Observer: o})
	}
	files, err := hostfs.New(on)
	if err != nil {
		return err
	}
	w.close = append(w.close, func() error { files.Close(); return nil })
	w.files = &hooked{Host: files}
	w.parts = runtime.Parts{
		Log: w.h.Log(), Recovered: w.h.Recovered(), Trust: w.h.Root(), Skills: set, Directories: dirs, Corpora: corpora,
		Hosts:  map[capability.Capability]gate.Host{capability.FSRead: w.files, capability.FSWriteRev: w.files, capability.FSWriteIrrev: w.files},
		Broker: w.ask, ControlFiles: w.h.Config().Guarded, Clearance: w.h.Clearance(), Profile: "dev", Config: w.h.ConfigDigest(), Version: "test",
		SameUID: true, Limits: gate.Limits{Ask: 2 * time.Minute, Call: 2 * time.Minute, Lease: 2 * time.Minute},
	}
	return nil
}

// hooked is the host for files, which can be made to hang before it does a thing.
type hooked struct {
	*hostfs.Host
	mu   sync.Mutex
	hold chan struct{} // if set, Do waits until it is closed
	busy chan struct{} // told of each Do that waits
}

func (h *hooked) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	h.mu.Lock()
	hold, busy := h.hold, h.busy
	h.mu.Unlock()
	if hold != nil {
		busy <- struct{}{}
		<-hold
	}
	return h.Host.Do(ctx, p)
}

// hang has every Do wait until free is called; busy is told of each.
func (h *hooked) hang() (busy <-chan struct{}, free func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hold := make(chan struct{})
	h.hold, h.busy = hold, make(chan struct{}, 100)
	return h.busy, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.hold = nil
		close(hold)
	}
}

func (w *world) load() (*skill.Set, map[string]string, error) {
	loader, dirs := skill.NewLoader(w.h.Terms(), w.h.Log()), map[string]string{}
	base, err := w.h.ReadBase()
	if err != nil {
		return nil, nil, err
	}
	if _, err := loader.Load(w.Context(), base); err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	for _, dir := range w.skills {
		p, err := w.h.Read(dir)
		var report skill.Report
		if err == nil {
			report, err = loader.Load(w.Context(), p)
		}
		if err != nil {
			w.refused[dir] = err
			continue
		}
		dirs[report.Skill.Name] = dir
	}
	return loader.Freeze(), dirs, nil
}

func (w *world) release() error {
	var errs []error
	for _, f := range slices.Backward(w.close) {
		errs = append(errs, f())
	}
	w.close = nil
	return errors.Join(errs...)
}

// stop ends the runtime as a program would.
func (w *world) stop() {
	w.Helper()
	w.must(errors.Join(w.rt.Close(w.Context()), w.release()))
}

// crash takes the log away first, so that nothing that is under way is recorded
// any more. free lets hosts that hang come back.
func (w *world) crash(free ...func()) {
	w.Helper()
	w.must(w.h.Log().Close())
	for _, f := range free {
		f()
	}
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	_ = w.rt.Close(ctx) // it cannot record that
	_ = w.release()     // the log is closed
}

func (w *world) session(agent string) *runtime.Session {
	w.Helper()
	s, err := w.rt.Open(w.Context(), runtime.Principal(agent), runtime.OpenOptions{})
	w.must(err)
	return s
}

// records are those of the log from a sequence number on.
func (w *world) records(from int64) []record.Record {
	w.Helper()
	var out []record.Record
	for s, err := range audit.Records(w.Context(), w.parts.Log.Store(), audit.Position{}) {
		w.must(err)
		if s.Seq >= from {
			out = append(out, s.Record)
		}
	}
	return out
}

func (w *world) size() int64 { return w.parts.Log.State().Size() }

// of are the bodies of one type in records of one request; an empty one is any.
func of[T record.Body](records []record.Record, request string) []T {
	var out []T
	for _, r := range records {
		if b, ok := r.Body.(T); ok && (request == "" || r.Request == request) {
			out = append(out, b)
		}
	}
	return out
}

func call(class, target, arguments string) gate.Call {
	return gate.Call{Capability: class, Target: target, Arguments: []byte(arguments)}
}

// state is what an observer sees of a path in a corpus.
func (w *world) state(o corpus.Object) corpus.State {
	w.Helper()
	for _, c := range w.parts.Corpora {
		if c.Name == o.Corpus() {
			states, err := c.Observer.Read(w.Context(), []corpus.Object{o})
			w.must(err)
			return states[0]
		}
	}
	w.Fatalf("%s is in no corpus", o)
	return ""
}

// tree is what all corpora hold, by root.
func (w *world) tree() string {
	w.Helper()
	var out strings.Builder
	for _, c := range w.parts.Corpora {
		s, err := c.Observer.(*rehash.Observer).Full(w.Context())
		w.must(err)
		fmt.Fprintln(&out, c.Name, s.Root())
	}
	return out.String()
}

func (w *world) verdict(session string) record.Result {
	w.Helper()
	report, err := w.rt.Verdict(w.Context(), session)
	w.must(err)
	if report.Result != record.Pass {
		w.Logf("%s: %+v", report.Result, report.Findings)
	}
	return report.Result
}

// approver answers each question as choice says, and signs approvals.
type approver struct {
	mu     sync.Mutex
	choice func(approval.Question) record.Choice
	asked  []approval.Question
	hold   chan struct{} // if set, answers wait until it is closed
	busy   chan struct{} // told of each question that waits
}

func (a *approver) Name() string { return "test" }

func (a *approver) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	a.mu.Lock()
	a.asked = append(a.asked, qs...)
	choice, hold, busy := a.choice(qs[0]), a.hold, a.busy
	a.mu.Unlock()
	if hold != nil {
		busy <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var random [16]byte
	_, _ = rand.Read(random[:])
	return approval.Sign(qs, choice, home.ApproverKey, template.approver, approval.Nonce(random), time.Now().Add(approval.Validity))
}

func (a *approver) says(c record.Choice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.choice, a.asked = func(approval.Question) record.Choice { return c }, nil
}

// hang has every answer wait until free is called; busy is told of each.
func (a *approver) hang() (busy <-chan struct{}, free func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hold := make(chan struct{})
	a.hold, a.busy = hold, make(chan struct{}, 100)
	return a.busy, func() { close(hold) }
}

func (a *approver) questions() []approval.Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}
