package gatetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// Corpus is the one of every World.
const Corpus = "work"

// Fault is what a host does wrong. The zero value is nothing.
type Fault string

// The faults.
const (
	Silent   Fault = "silent"    // does nothing and says that it did
	Other    Fault = "other"     // does it to another object
	Content  Fault = "content"   // leaves something else than what was planned
	Partial  Fault = "partial"   // does the first change, then fails
	Fails    Fault = "fails"     // does nothing and fails
	DoneFail Fault = "done-fail" // does it and says that it failed
	Panics   Fault = "panics"    // breaks before anything is done
	Hang     Fault = "hang"      // does not come back before [World.Release], then does it
	HangNot  Fault = "hang-not"  // does not come back before [World.Release], then fails
	Obeys    Fault = "obeys"     // waits until its context ends, then fails
)

// World is files in memory: a [gate.Host] and a [corpus.Observer] of itself. The
// zero value is not ready. It is safe for concurrent use.
type World struct {
	mu       sync.Mutex
	files    map[corpus.Object]corpus.Copy
	script   func(gate.Order) Fault
	planning func(context.Context, capability.Envelope) error
	reading  func([]corpus.Object) error
	refused  map[corpus.Object]gate.Reason
	free     chan struct{}
	orders   []gate.Order
}

var (
	_ gate.Host       = (*World)(nil)
	_ corpus.Observer = (*World)(nil)
)

// NewWorld makes a world of files by path.
func NewWorld(files map[string]string) *World {
	w := &World{files: make(map[corpus.Object]corpus.Copy), refused: make(map[corpus.Object]gate.Reason), free: make(chan struct{})}
	for path, content := range files {
		w.files[corpus.Name(Corpus, path)] = File(content)
	}
	return w
}

// File is a file with a content, as every file of a world is.
func File(content string) corpus.Copy {
	return corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, content, nil)
}

// Put writes behind everybody's back.
func (w *World) Put(path, content string) { w.set(corpus.Name(Corpus, path), File(content)) }

// Remove deletes behind everybody's back.
func (w *World) Remove(path string) { w.set(corpus.Name(Corpus, path), corpus.Copy{}) }

// Get is the content of a file; false if there is none.
func (w *World) Get(path string) (string, bool) {
	c, ok := w.copy(corpus.Name(Corpus, path))
	return c.Data, ok
}

// Files are all contents by path.
func (w *World) Files() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[string]string)
	for o, c := range w.files {
		out[o.Path()] = c.Data
	}
	return out
}

// Script says what the host does wrong from now on, by what it is ordered to do.
func (w *World) Script(f func(gate.Order) Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.script = f
}

// OnPlan is called before each plan is made, without a lock; its error is the
// plan's.
func (w *World) OnPlan(f func(context.Context, capability.Envelope) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.planning = f
}

// OnRead is called before the observer reads, without a lock; its error is the
// observer's.
func (w *World) OnRead(f func([]corpus.Object) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading = f
}

// Refuse lets no plan be made for an object, as for a hard link; no reason ends
// that.
func (w *World) Refuse(path string, why gate.Reason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused[corpus.Name(Corpus, path)] = why
}

// Release lets all that hang come back, now and from now on.
func (w *World) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.free:
	default:
		close(w.free)
	}
}

// Orders are what the host was ordered to do, in the order in which it began.
func (w *World) Orders() []gate.Order {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.orders)
}

// Effects counts the orders that were not reads.
func (w *World) Effects() int {
	n := 0
	for _, o := range w.Orders() {
		if o.Phase != gate.Read {
			n++
		}
	}
	return n
}

func (w *World) copy(o corpus.Object) (corpus.Copy, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.files[o]
	return c, ok
}

func (w *World) set(o corpus.Object, c corpus.Copy) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.State() == corpus.Absent {
		delete(w.files, o)
		return
	}
	w.files[o] = c
}

// Name implements [corpus.Observer].
func (w *World) Name() string { return "memory" }

// Blind implements [corpus.Observer].
func (w *World) Blind() []string { return nil }

// Read implements [corpus.Observer].
func (w *World) Read(_ context.Context, objects []corpus.Object) ([]corpus.State, error) {
	w.mu.Lock()
	f := w.reading
	w.mu.Unlock()
	if f != nil {
		if err := f(objects); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]corpus.State, len(objects))
	for i, o := range objects {
		out[i] = w.files[o].State()
	}
	return out, nil
}

// Snapshot implements [corpus.Observer].
func (w *World) Snapshot(context.Context) (*corpus.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var entries []corpus.Entry
	for o := range maps.Keys(w.files) {
		entries = append(entries, corpus.Entry{Object: o, State: w.files[o].State()})
	}
	return corpus.NewSnapshot(entries), nil
}

// arguments of a call.
type arguments struct {
	Op      string `json:"op,omitempty"`
	Content string `json:"content,omitempty"`
	To      string `json:"to,omitempty"`
}

func parse(env capability.Envelope) (a arguments, from, to corpus.Object, err error) {
	if err := canonical.Parse([]byte(env.Arguments()), &a, canonical.Limits{}); err != nil {
		return a, "", "", &gate.Refusal{Reason: gate.ArgumentsBad, Detail: err.Error()}
	}
	if from, err = object(env.Target()); err != nil {
		return a, "", "", err
	}
	if a.Op == "" && env.Target().Capability().Effect() == capability.None {
		a.Op = "read"
	}
	if a.Op == "rename" {
		t, err := capability.ParseTarget(env.Target().Capability(), a.To)
		if err != nil {
			return a, "", "", &gate.Refusal{Reason: gate.ArgumentsBad, Detail: err.Error()}
		}
		to, err = object(t)
		return a, from, to, err
	}
	return a, from, "", nil
}

func object(t capability.Target) (corpus.Object, error) {
	in, path, ok := t.Path()
	if !ok || in != Corpus {
		return "", &gate.Refusal{Reason: gate.NoCorpus, Detail: "the target is in no corpus here"}
	}
	return corpus.Name(in, path), nil
}

// Touches implements [gate.Host].
func (w *World) Touches(env capability.Envelope) (gate.Touches, error) {
	a, from, to, err := parse(env)
	if err != nil {
		return gate.Touches{}, err
	}
	t := gate.Touches{Op: a.Op}
	switch a.Op {
	case "read":
		t.Reads = []corpus.Object{from}
	case "write", "append":
		t.Changes, t.Reversible = []corpus.Object{from}, true
	case "delete":
		t.Changes = []corpus.Object{from}
	case "rename":
		t.Changes = []corpus.Object{from, to}
	default:
		return t, &gate.Refusal{Reason: gate.ArgumentsBad, Object: from, Detail: fmt.Sprintf("there is no op %q", a.Op)}
	}
	return t, nil
}

// Plan implements [gate.Host].
func (w *World) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	w.mu.Lock()
	f := w.planning
	w.mu.Unlock()
	if f != nil {
		if err := f(ctx, env); err != nil {
			return gate.Plan{}, err
		}
	}
	a, from, to, err := parse(env)
	if err != nil {
		return gate.Plan{}, err
	}
	for _, o := range []corpus.Object{from, to} {
		if why := w.refusal(o); why != "" {
			return gate.Plan{}, &gate.Refusal{Reason: why, Object: o, Detail: "this host does not change it"}
		}
	}
	was, ok := w.over(staged, from)
	p := gate.Plan{Reach: gate.Exact, Appends: a.Op == "append"}
	add := func(o corpus.Object, before, after corpus.Copy) {
		p.Changes = append(p.Changes, corpus.Change{Object: o, Before: before.State(), After: after.State()})
		p.Before, p.After = append(p.Before, before), append(p.After, after)
	}
	switch {
	case a.Op == "write":
		add(from, was, File(a.Content))
	case a.Op == "append":
		add(from, was, File(was.Data+a.Content))
	case !ok:
		return gate.Plan{}, &gate.Refusal{Reason: gate.NotFound, Object: from, Detail: "there is no such file; create it first"}
	case a.Op == "delete":
		add(from, was, corpus.Copy{})
	case a.Op == "rename":
		over, _ := w.over(staged, to)
		add(from, was, corpus.Copy{})
		add(to, over, was)
	}
	return p, nil
}

func (w *World) refusal(o corpus.Object) gate.Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused[o]
}

func (w *World) over(staged gate.Staged, o corpus.Object) (corpus.Copy, bool) {
	if staged != nil {
		if c, ok := staged.Copy(o); ok {
			return c, c.State() != corpus.Absent
		}
	}
	return w.copy(o)
}

// ErrHost is the error of a host that was told to fail.
var ErrHost = errors.New("the host was told to fail")

// Do implements [gate.Host].
func (w *World) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	o, err := p.Take()
	if err != nil {
		return gate.Result{}, err
	}
	w.mu.Lock()
	w.orders = append(w.orders, o)
	script := w.script
	w.mu.Unlock()
	fault := Fault("")
	if script != nil {
		fault = script(o)
	}
	switch fault {
	case Panics:
		panic("the host was told to panic")
	case Fails:
		return gate.Result{}, ErrHost
	case Hang, HangNot:
		<-w.free
		if fault == HangNot {
			return gate.Result{}, ErrHost
		}
	case Obeys:
		<-ctx.Done()
		return gate.Result{}, fmt.Errorf("%w: %w", ErrHost, ctx.Err())
	}
	if o.Phase == gate.Read {
		return w.tell(o)
	}
	return w.change(o, fault)
}

func (w *World) tell(o gate.Order) (gate.Result, error) {
	_, from, _, err := parse(o.Envelope)
	if err != nil {
		return gate.Result{}, err
	}
	c, ok := w.over(o.Staged, from)
	if !ok {
		return gate.Result{}, &gate.Refusal{Reason: gate.NotFound, Object: from, Detail: "there is no such file"}
	}
	data, err := canonical.Marshal(struct {
		Content string `json:"content"`
	}{c.Data})
	return gate.Result{Data: data}, err
}

// change compares and swaps.
func (w *World) change(o gate.Order, fault Fault) (gate.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range o.Plan.Changes {
		if !w.files[c.Object].State().Is(c.Before) {
			return gate.Result{}, &gate.Refusal{Reason: gate.Conflict, Object: c.Object, Detail: "somebody else changed it"}
		}
		to, after := c.Object, o.Plan.After[i]
		switch fault {
		case Silent:
			continue
		case Other:
			to = corpus.Name(Corpus, "elsewhere")
		case Content:
			after = File("not what was planned")
		}
		if w.files[to] = after; after.State() == corpus.Absent {
			delete(w.files, to)
		}
		if fault == Partial {
			return gate.Result{}, ErrHost
		}
	}
	if fault == DoneFail {
		return gate.Result{}, ErrHost
	}
	return gate.Result{Data: []byte(`{"ok":true}`), Detail: string(o.Phase)}, nil
}
