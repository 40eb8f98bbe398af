package tool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/label"
)

// Client is whoever speaks to the clients of agents: what an upstream says while it
// does a call goes to the client that waits for that call, and to no other. It is
// safe for concurrent use. A client that is gone, or does not want to know, is told
// nothing.
type Client interface {
	// Follows says whether progress of a call is wanted. One that is not known yet may be.
	Follows(of Caller) bool
	// Progress and Log tell the client. They give up when ctx ends.
	Progress(ctx context.Context, of Caller, p Progress)
	Log(ctx context.Context, of Caller, l Log)
	// Ask puts a question to the client and gives its answer, if that may flow to all labels of the question. What it answers
	// is for the upstream alone: it approves nothing. An error that is none of JSON-RPC is that there is no answer.
	Ask(ctx context.Context, of Caller, q Question) (mcp.Result, error)
}

// Caller says whose call it is.
type Caller struct{ Session, Request string }

// Progress is how far an upstream says that a call is.
type Progress struct {
	Done    float64
	Total   float64 // zero if it is not known
	Message string  // without controls, bounded
}

// Log is what an upstream logs during a call.
type Log struct {
	Level  string // of the eight of MCP
	Logger string // begins with the name of the upstream
	Data   []byte // JSON, bounded, its texts without controls
}

// Question is what an upstream wants to know during a call.
type Question struct {
	Server string
	// Params are *mcp.ElicitParams or *mcp.CreateMessageWithToolsParams. What a person is shown of them begins with who asks.
	Params mcp.Params
	Labels []label.Label // of where the answer goes: what the session has read has to be allowed to flow to each
}

// Attach says who speaks to clients; until then nobody is told anything.
func (h *Host) Attach(c Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.client = c
}

func (h *Host) attached() Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.client
}

// talk is one call as what an upstream says during it is passed on. It travels in
// the context of the requests that the call makes.
type talk struct {
	caller   Caller
	client   Client
	labels   []label.Label // of where an answer goes
	follows  bool
	asked    atomic.Int32 // questions that were passed on
	progress rate         // guarded by the screen
	logs     rate         // guarded by the screen
}

const (
	mostAsked = 16 // questions in one call
	mostNotes = 64 // that wait to be told
	perSecond = 20 // progress of a call, and logs
)

// rate bounds how often something happens: at once as often as in a second.
type rate struct {
	room float64
	at   time.Time
}

func (r *rate) allows(now time.Time) bool {
	if r.at.IsZero() {
		r.room = perSecond
	} else {
		r.room = min(perSecond, r.room+now.Sub(r.at).Seconds()*perSecond)
	}
	if r.at = now; r.room < 1 {
		return false
	}
	r.room--
	return true
}

// talk is that of a call, nil if there is nobody to tell.
func (c call) talk(of Caller) *talk {
	client := c.up.host.attached()
	if client == nil || of == (Caller{}) {
		return nil
	}
	return &talk{caller: of, client: client, labels: append(c.outside(), c.up.Label), follows: client.Follows(of)}
}

type talkKey struct{}

func withTalk(ctx context.Context, t *talk) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, talkKey{}, t)
}

func talkOf(ctx context.Context) *talk {
	t, _ := ctx.Value(talkKey{}).(*talk)
	return t
}

// notes are told in their order, beside whoever hears them from the upstream. The
// zero value takes none.
type notes struct {
	ctx  context.Context   // they are told so long
	work func(func()) bool // has something done beside
	mu   sync.Mutex
	over bool // no more are taken
	told chan func(context.Context)
	done chan struct{} // closed when all are told
}

// add has one told, unless too many wait.
func (n *notes) add(note func(context.Context)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || n.work == nil {
		return
	}
	if n.told == nil {
		told, done := make(chan func(context.Context), mostNotes), make(chan struct{})
		tell := func() {
			defer close(done)
			for note := range told {
				if n.ctx.Err() == nil {
					note(n.ctx)
				}
			}
		}
		if !n.work(tell) {
			n.over = true
			return
		}
		n.told, n.done = told, done
	}
	select {
	case n.told <- note:
	default:
	}
}

// graceToTell is how long an answer waits for what was said before it. A client
// that takes longer does not hold up the call.
const graceToTell = time.Second

// end has what is there told, and takes no more.
func (n *notes) end() {
	n.mu.Lock()
	started := n.told != nil && !n.over
	n.over = true
	if started {
		close(n.told)
	}
	n.mu.Unlock()
	if !started {
		return
	}
	late := time.NewTimer(graceToTell)
	defer late.Stop()
	select {
	case <-n.done:
	case <-late.C:
	case <-n.ctx.Done():
	}
}
