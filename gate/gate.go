package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// Broker is asked where nothing else decides. It is safe for concurrent use.
type Broker interface {
	// Name is what records call it.
	Name() string
	// Ask returns when all are answered or ctx ends. An error, or another number
	// of answers than questions, denies all.
	Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error)
}

// Guard knows which objects are guarded: files of loaded skills, and what
// controls an agent. It is safe for concurrent use.
type Guard interface {
	// Find says whether a change of one of the objects would reach something
	// guarded, by whatever route.
	Find(objects []corpus.Object) (Guarded, bool)
	// FindSpelling says the same of a target that is refused for its spelling.
	FindSpelling(class capability.Capability, target string) (Guarded, bool)
	// Tells says of which skills a read of the objects would tell files, by
	// whatever route: the subjects, each once, empty for a skill that is known and
	// not loaded.
	Tells(objects []corpus.Object) []string
}

// Guarded is what a call would reach.
type Guarded struct {
	Name    string // of the skill, or of the control file
	Subject string // hex, of the loaded skill; empty for a control file
	Object  corpus.Object
	Route   string // path, hard link, mount, rename, parent, spelling
}

// Limits bound what a gate does at once. Zero fields have the defaults.
type Limits struct {
	Calls    int           // of one session at once; 64
	Asked    int           // of one agent waiting for a human, two fifths of them of one session; 20
	Unwanted int64         // bytes that are written in a day of what one agent asks for and nobody approves; twice the buffer, so that a session can fill it
	Buffer   int64         // bytes of one session's states before; 64 MiB
	Ask      time.Duration // until a question is denied; 2 minutes
	Lease    time.Duration // until a call that waits for others is refused; 30 seconds
	Call     time.Duration // until a host is overdue; 30 seconds
}

func (l Limits) orDefault() Limits {
	set(&l.Calls, 64)
	set(&l.Asked, 20)
	set(&l.Buffer, 64<<20)
	set(&l.Unwanted, 2*l.Buffer)
	set(&l.Ask, 2*time.Minute)
	set(&l.Lease, 30*time.Second)
	set(&l.Call, 30*time.Second)
	return l
}

func set[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Parts are what a gate is put together from. All but Doubts and Known are required.
type Parts struct {
	Sink      record.Sink
	Keep      func(ctx context.Context, data []byte) (record.Payload, error) // payloads of records
	Hosts     map[capability.Capability]Host                                 // classes without one are refused
	Observers map[string]corpus.Observer                                     // by corpus
	Broker    Broker
	Check     func(*approval.Posed, approval.Answer) error // whether an answer counts, now
	Guard     Guard
	Label     func(corpus.Object) label.Label
	Room      func(corpus string) bool              // whether a corpus has room for one more object; nil always has
	Outside   map[capability.Capability]label.Label // of what a class reaches outside of every corpus; without one it is refused
	Skills    []Skill                               // the base manifest among them, without subject
	About     map[string]record.Skill               // by subject
	Scheme    *label.Scheme
	Clearance label.Label
	Origin    string // of the log
	Fence     int64  // of this runtime, higher than any before
	Profile   string
	SameUID   bool
	Limits    Limits
	Doubts    map[string][]corpus.Object // what calls in doubt may have changed, by request
	Known     []KnownKey                 // of calls of earlier runtimes, the oldest first
	Now       func() time.Time
}

// Gate decides calls and has them done. It owns a goroutine for each call that
// is under way and a few that wait for the next; Close waits for them. It is safe
// for concurrent use.
type Gate struct {
	parts  Parts
	limits Limits
	base   context.Context // never ends
	ctx    context.Context // ends what is waited for when the gate is closed
	cancel context.CancelFunc
	crew   crew
	// barrier is held by whoever makes a barrier, narrowing by whoever narrows.
	barrier, narrowing chan struct{}

	mu        sync.Mutex // guards what is below
	machine   *Machine
	lives     map[string]*live
	sessions  map[string]*Session
	waiting   map[Ticket]chan Reason
	ticket    Ticket
	requests  int64
	opened    int64
	quiet     chan struct{} // closed when the machine says so
	evict     chan struct{}
	seen      map[string]bool // targets that were asked about
	questions questions
	replies   replies
	closed    bool
	counts    Counts
}

// Counts are what happened since the gate was made.
type Counts struct {
	Calls    int64 `json:"calls"`
	Done     int64 `json:"done"`
	Denied   int64 `json:"denied"`
	Refused  int64 `json:"refused"`
	Failed   int64 `json:"failed"`
	Asked    int64 `json:"asked"`
	Approved int64 `json:"approved"` // of those that were asked about
	ByLevel  int64 `json:"byLevel"`  // approved by grant and level
	InDoubt  int64 `json:"inDoubt"`
}

// ErrClosed says that the gate was closed.
var ErrClosed = errors.New("gate-closed")

// New puts a gate together. Its context outlives calls: they end by [Gate.Close].
func New(ctx context.Context, parts Parts) (*Gate, error) {
	if err := parts.check(); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	g := &Gate{
		parts: parts, limits: parts.Limits.orDefault(), lives: make(map[string]*live), sessions: make(map[string]*Session),
		waiting: make(map[Ticket]chan Reason), seen: make(map[string]bool),
		barrier: make(chan struct{}, 1), narrowing: make(chan struct{}, 1),
	}
	g.base = context.WithoutCancel(ctx)
	g.ctx, g.cancel = context.WithCancel(g.base)
	g.crew.next, g.crew.over = make(chan func()), g.ctx.Done()
	rules := Rules{
		Skills: make(map[string]Skill), Clearance: parts.Clearance, Bottom: parts.Scheme.Bottom(),
		Calls: g.limits.Calls, Asked: g.limits.Asked, Unwanted: g.limits.Unwanted, Buffer: g.limits.Buffer,
	}
	for _, k := range parts.Skills {
		rules.Skills[k.Subject] = k
	}
	g.machine = NewMachine(rules, parts.Doubts)
	g.know(parts.Known)
	g.parts.Known = nil
	return g, nil
}

func (p Parts) check() error {
	switch {
	case p.Sink == nil || p.Keep == nil || p.Broker == nil || p.Check == nil || p.Guard == nil || p.Label == nil || p.Now == nil:
		return errors.New("a part is missing")
	case p.Scheme == nil || p.Clearance.IsAbsent():
		return errors.New("there are no labels to decide by")
	case p.Fence <= 0 || p.Origin == "":
		return errors.New("the runtime has no fence or no log")
	}
	return nil
}

// Close ends every session, waits for what is under way, and gives up on it when
// ctx ends: a host that does not come back is left behind and its call in doubt.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	ends := make(map[*Session]<-chan Reason)
	for _, s := range g.sessions {
		ends[s] = g.submit(func(t Ticket) Event { return Ended{s.id, Closing, false, t} })
	}
	g.mu.Unlock()
	var errs []error
	for s, end := range ends {
		if err := s.told(ctx, end); err != nil && !errors.Is(err, &SessionError{Reason: SessionUnknown}) {
			errs = append(errs, err)
		}
	}
	g.cancel()
	done := make(chan struct{})
	go func() { g.crew.wg.Wait(); close(done) }() // ends with the last call, whoever waits
	select {
	case <-done:
	case <-ctx.Done():
		errs = append(errs, fmt.Errorf("calls are still under way; they are in doubt: %w", ctx.Err()))
	}
	return errors.Join(errs...)
}

// dispatch tells the machine of an event and has done what it says.
func (g *Gate) dispatch(e Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.step(e)
}

// step is dispatch for who holds g.mu.
func (g *Gate) step(e Event) {
	commands := g.machine.Step(e)
	if _, ok := e.(Confirming); ok {
		g.together(commands)
	}
	for _, c := range commands {
		g.deliver(c)
	}
}

// deliver hands a command to whoever does it. g.mu is held.
func (g *Gate) deliver(c Command) {
	switch c := c.(type) {
	case RecordSession:
		g.crew.run(func() { g.recordSession(c) })
	case TellSession:
		g.tellSession(c)
	case Quiet:
		close(g.quiet)
	case Evict:
		close(g.evict)
	case Tell:
		g.tell(c)
	case Repeat:
		g.repeat(c)
	default:
		if l := g.lives[c.of()]; l != nil {
			l.add(c)
		}
	}
}

// id names the n-th request or session; no other runtime of this log has the fence.
func (g *Gate) id(what string, n int64) string {
	return what + strconv.FormatInt(g.parts.Fence, 10) + "." + strconv.FormatInt(n, 10)
}

// Counts says what happened so far.
func (g *Gate) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.counts
}

// append makes records durable. Nothing cancels it: whether they are in the log
// must be known.
func (g *Gate) append(entries ...record.Entry) ([]record.Mark, error) {
	return g.parts.Sink.Append(g.base, entries...)
}
