package inbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// name is what records call this broker.
const name = "inbox"

// Bounds.
const (
	MaxPerAgent   = 20  // groups of one agent that wait
	MaxPerSession = 8   // of them, of one session
	KeptFree      = 4   // of MaxPerAgent, for sessions of which no group waits
	MaxPending    = 200 // questions that wait, in all
	MaxOfAgent    = 160 // of them, of one agent
	MaxRecent     = 100 // ended questions that are still listed
	// MaxKept bounds what is kept of ended questions, in bytes of calls and
	// contents, the newest; KeptFor is how long. An answer that comes later is not
	// recorded, for nobody could check it.
	MaxKept = 32 << 20
	KeptFor = 15 * time.Minute
	// ReadingTime is the least that it takes to read a question. An approval that
	// comes faster is counted as quick.
	ReadingTime = time.Second
)

// Options of an inbox.
type Options struct {
	// Check says whether an answer to a question counts. Without it no answer is
	// taken.
	Check func(approval.Question, approval.Answer) error
	// Late records an answer that holds and came when its question had ended. It
	// may be nil. It is called within Answer, without a lock.
	Late func(request string, a approval.Answer) error
	// Now is the clock, time.Now if it is nil.
	Now func() time.Time
}

// Inbox holds the questions that wait. It is made by [New] and safe for
// concurrent use.
type Inbox struct {
	options Options

	mu       sync.Mutex       // guards all below, the groups and the posts
	posts    map[string]*post // those in order and in recent, by request
	order    []*post          // those that wait, oldest first
	recent   []*post          // those that ended, oldest first
	groups   int64
	counts   Counts
	version  int64
	changing chan struct{} // closed at the next change
}

// post is one question that was asked.
type post struct {
	question approval.Question // none once it has ended and is not kept any more
	item     Item              // as it is listed
	group    *group            // nil once it has ended
	index    int               // there
}

func (p *post) ended() bool { return p.item.State != Pending }

// group is what was asked together.
type group struct {
	number  int64
	ctx     context.Context // of the one who asks; what he does not wait for is not answered
	posts   []*post
	answers []approval.Answer
	left    int           // posts that wait
	done    chan struct{} // closed when none is left
}

// New makes an inbox in which nothing waits.
func New(o Options) *Inbox {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Inbox{options: o, posts: make(map[string]*post), changing: make(chan struct{})}
}

// Name is the name of the broker in records.
func (b *Inbox) Name() string { return name }

// Ask posts the questions as one group and waits until each has ended. The
// answers are in the order of the questions; each says how it came about. The
// error is *[Error], with reason inbox-full or question-unfit, and then nothing
// was posted.
func (b *Inbox) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	if len(qs) == 0 {
		return nil, nil
	}
	g, err := b.post(ctx, qs)
	if err != nil {
		return nil, err
	}
	for b.waits(g) {
		b.step(ctx, g)
	}
	return g.answers, nil
}

// step waits until something ends.
func (b *Inbox) step(ctx context.Context, g *group) {
	deadline, left := b.next(g)
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-g.done:
	case <-ctx.Done():
		state := Cancelled
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			state = TimedOut
		}
		b.end(g, state, func(*post) bool { return true })
	case <-timer.C:
		b.end(g, TimedOut, func(p *post) bool { return p.due(deadline) })
	}
}

// post lets a group wait, unless there is no room.
func (b *Inbox) post(ctx context.Context, qs []approval.Question) (*group, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fit(qs); err != nil {
		return nil, err
	}
	b.groups++
	g := &group{
		number: b.groups, ctx: ctx, answers: make([]approval.Answer, len(qs)), left: len(qs), done: make(chan struct{}),
	}
	now := b.options.Now()
	for i, q := range qs {
		p := &post{question: q, item: itemOf(q, g.number, now), group: g, index: i}
		g.posts, b.order = append(g.posts, p), append(b.order, p)
		b.posts[q.Request] = p
	}
	b.counts.Asked += int64(len(qs))
	b.changed()
	return g, nil
}

// fit says whether a group can be posted. It holds the lock.
func (b *Inbox) fit(qs []approval.Question) error {
	agent := qs[0].Agent
	seen := make(map[string]bool, len(qs))
	for _, q := range qs {
		if q.Request == "" || seen[q.Request] || b.posts[q.Request] != nil {
			return &Error{Reason: NotAsked, Request: q.Request, Detail: "the request has no id, or one that was asked for before"}
		}
		if q.Agent != agent {
			return &Error{Reason: NotAsked, Request: q.Request, Detail: "a group is of one agent; ask for each by itself"}
		}
		seen[q.Request] = true
	}
	if !b.room(agent, qs[0].Session, len(qs)) {
		b.counts.Refused += int64(len(qs))
		return &Error{Reason: Full, Detail: fmt.Sprintf("%d questions wait; answer some, or let them time out", len(b.order))}
	}
	return nil
}

// room says whether there is a place for a group of more questions. An agent may
// be several programs of one user, each with a session: none takes the last places
// from another. It holds the lock.
func (b *Inbox) room(agent, session string, more int) bool {
	theirs, own := make(map[*group]bool), make(map[*group]bool)
	asked := 0
	for _, p := range b.order {
		if p.question.Agent != agent {
			continue
		}
		asked++
		theirs[p.group] = true
		if p.question.Session == session {
			own[p.group] = true
		}
	}
	free := MaxPerAgent - len(theirs)
	if len(own) > 0 {
		free = min(free-KeptFree, MaxPerSession-len(own))
	}
	return free > 0 && asked+more <= MaxOfAgent && len(b.order)+more <= MaxPending
}

func (b *Inbox) waits(g *group) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return g.left > 0
}

// next is the earliest deadline of what waits in a group, and how long it is
// until then; the zero time and for ever if there is none.
func (b *Inbox) next(g *group) (time.Time, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var first time.Time
	for _, p := range g.posts {
		if d := p.question.Deadline; !p.ended() && !d.IsZero() && (first.IsZero() || d.Before(first)) {
			first = d
		}
	}
	if first.IsZero() {
		return first, math.MaxInt64
	}
	return first, first.Sub(b.options.Now())
}

// due says whether the deadline has come.
func (p *post) due(now time.Time) bool {
	d := p.question.Deadline
	return !d.IsZero() && !now.Before(d)
}

// end ends what waits in a group and is to end, with a denial.
func (b *Inbox) end(g *group, state State, which func(*post) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.options.Now()
	for _, p := range g.posts {
		if !p.ended() && which(p) {
			b.settle(p, approval.Answer{Choice: record.Deny, Cause: state.cause(), Broker: name}, state, now)
		}
	}
}

// settle ends one question. It holds the lock.
func (b *Inbox) settle(p *post, a approval.Answer, state State, now time.Time) {
	p.item.State, p.item.Ended = state, now
	p.group.answers[p.index] = a
	if p.group.left--; p.group.left == 0 {
		close(p.group.done)
	}
	p.group = nil
	b.order = slices.DeleteFunc(b.order, func(o *post) bool { return o == p })
	b.recent = append(b.recent, p)
	b.forget(now)
	b.counts.add(state, now.Sub(p.item.Asked))
	b.changed()
}

// forget lets go of what ended too long ago, or is too much. It holds the lock.
func (b *Inbox) forget(now time.Time) {
	if n := len(b.recent) - MaxRecent; n > 0 {
		for _, old := range b.recent[:n] {
			delete(b.posts, old.item.Request)
		}
		b.recent = slices.Clone(b.recent[n:])
	}
	kept := 0
	for _, p := range slices.Backward(b.recent) {
		if kept += weight(p.question); kept > MaxKept || now.Sub(p.item.Ended) >= KeptFor {
			p.question = approval.Question{}
		}
	}
}

// weight is how many bytes of calls and contents a question has.
func weight(q approval.Question) int {
	n := len(q.Envelope.Bytes())
	for _, c := range q.Plan {
		n += len(c.Object)
	}
	for _, c := range slices.Concat(q.Before, q.After) {
		n += int(c.Size())
	}
	return n
}

// changed wakes those who watch. It holds the lock.
func (b *Inbox) changed() {
	b.version++
	close(b.changing)
	b.changing = make(chan struct{})
}
