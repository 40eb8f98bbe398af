package mcpgate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

// limits are fixed; tests make them smaller.
type limits struct {
	inFlight int // requests of a connection
	bytes    int // of them
	together int // bytes of long lines being read, of requests in flight, and of replies that nobody heard, of all connections
	skips    int // bytes of a line that is too long, before its connection is cut
	result   int // bytes of an answer
	sessions int // over HTTP
	frame    time.Duration
	write    time.Duration
	drain    time.Duration // for answers after the client has ended its half
	progress time.Duration
	keep     time.Duration // of the reply of a call that was told pending
	idleHTTP time.Duration // of a session over HTTP
}

func standard() limits {
	return limits{
		inFlight: 64, bytes: 16 << 20, together: 64 << 20, skips: 32 << 20, result: 8 << 20, sessions: 1024,
		frame: 30 * time.Second, write: 30 * time.Second, drain: 5 * time.Second, progress: 5 * time.Second,
		keep: 10 * time.Minute, idleHTTP: 30 * time.Minute,
	}
}

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodListen      = "subscriptions/listen"
)

// wire is a connection as the SDK sees it: an mcp.Transport and the mcp.Connection that it gives. What a client sends is bounded and
// read strictly here, and reaches the SDK in canonical form; answers only while a question of an upstream server waits for one.
type wire struct {
	gate  *Gateway
	of    *session
	conn  net.Conn
	lines *serve.Lines
	ended <-chan struct{} // closed when nobody wants answers any more

	calls sync.WaitGroup // that do not pass through the SDK

	closing sync.Once

	mu      sync.Mutex
	flight  map[string]*flight // by id; guarded by mu
	bytes   int                // of them; guarded by mu
	begun   bool               // initialized was told; guarded by mu
	drained chan struct{}      // closed when flight is empty, if it is waited for; guarded by mu

	out sync.Mutex // held while a line is written
}

type flight struct {
	bytes     int
	cancelled bool
	parks     bool                    // it is answered when the connection ends
	cancel    context.CancelCauseFunc // nil if the SDK has it
	over      chan struct{}           // closed when it is answered
}

func newWire(g *Gateway, of *session, conn net.Conn, ended <-chan struct{}) *wire {
	l := g.limits
	return &wire{gate: g, of: of, conn: conn, lines: serve.NewLines(conn, maxFrame, l.skips, l.frame, g.reading), ended: ended, flight: map[string]*flight{}}
}

// Connect implements [mcp.Transport].
func (w *wire) Connect(context.Context) (mcp.Connection, error) { return w, nil }

// SessionID implements [mcp.Connection]: a connection is its session.
func (w *wire) SessionID() string { return "" }

// Read implements [mcp.Connection]: the next message that the SDK is to act on.
func (w *wire) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, ends, err := w.lines.Next()
		var f *serve.Fault
		switch {
		case errors.As(err, &f):
			w.fail(w.whose(f), f)
		case err == nil && len(bytes.TrimSpace(line)) > 0:
			if m := w.take(line); m != nil {
				return m, nil
			}
		}
		if ends {
			w.lines.Close()
			w.drain()
			w.finish()
			return nil, err
		}
	}
}

// whose is the id of a line that was not read.
func (w *wire) whose(f *serve.Fault) string {
	if f.Reason != string(serve.FrameTooLarge) {
		return ""
	}
	return whoseEnds(w.lines.Ends())
}

// take reads one line. What is refused and what need not pass through the SDK ends here.
func (w *wire) take(line []byte) jsonrpc.Message {
	f, fault := parse(line)
	var m jsonrpc.Message
	var call *directed
	if fault == nil {
		call = w.direct(f)
	}
	if fault == nil && call == nil && w.passes(f) {
		var err error
		if m, err = f.message(); err != nil {
			fault = bad(serve.IDInvalid, "the id cannot be used", remedy)
		}
	}
	if fault == nil && (m != nil || call != nil) && f.id != "" && f.method != "" {
		f.id, fault = w.admit(f, len(line))
	}
	switch {
	case fault != nil:
		w.fail(f.id, fault)
		return nil
	case call != nil:
		w.begin(f.id, call)
	}
	return m
}

// passes says whether a message is for the SDK. It knows which answers it waits for.
func (w *wire) passes(f frame) bool {
	if f.method == "" {
		return f.id != "" && w.of.asking.Load() > 0
	}
	return f.id != "" || w.wanted(f)
}

// wanted says whether a notification is for the SDK: it queues them without a bound, so only those pass that do something.
func (w *wire) wanted(f frame) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch f.method {
	case methodInitialized:
		first := !w.begun
		w.begun = true
		return first
	case methodCancelled:
		var params struct {
			Request canonical.Raw `json:"requestId"`
			Reason  string        `json:"reason,omitempty"`
			Meta    canonical.Raw `json:"_meta,omitzero"`
		}
		if canonical.Parse([]byte(f.params), &params, canonical.Limits{Bytes: maxFrame}) != nil {
			return false
		}
		it := w.flight[params.Request.String()]
		if it == nil || it.cancelled {
			return false // it was answered before
		}
		it.cancelled = true
		if it.cancel != nil {
			it.cancel(nil)
			return false
		}
		return true
	}
	return false
}

// admit enters a request among those in flight. A fault comes with the id to answer under: not that of another request.
func (w *wire) admit(f frame, size int) (string, *serve.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.gate.limits
	switch {
	case w.flight[f.id] != nil:
		return "", bad(serve.IDInFlight, "the request before with this id is not answered yet", "give each request an id of its own")
	case len(w.flight) >= l.inFlight || w.bytes+size > l.bytes:
		return f.id, refused(Reason(serve.TooManyRequests), fmt.Sprintf("%d requests of this connection are in flight", len(w.flight)), "wait for an answer before sending more")
	case !w.gate.flying.Take(size):
		return f.id, refused(Reason(serve.TooManyRequests), "the requests in flight are too large together", "wait, then send it again")
	}
	w.flight[f.id] = &flight{bytes: size, parks: f.method == methodListen, over: make(chan struct{})}
	w.bytes += size
	return f.id, nil
}

// leave takes a request out of those in flight.
func (w *wire) leave(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	it := w.flight[id]
	if it == nil {
		return
	}
	delete(w.flight, id)
	close(it.over)
	w.bytes -= it.bytes
	w.gate.flying.Give(it.bytes)
	w.settled()
}

// settled needs mu.
func (w *wire) settled() {
	if w.drained == nil {
		return
	}
	for _, it := range w.flight {
		if !it.parks {
			return
		}
	}
	close(w.drained)
	w.drained = nil
}

// drain waits a little for the answers to what is in flight: a client may have ended its half alone.
func (w *wire) drain() {
	drained := make(chan struct{})
	w.mu.Lock()
	w.drained = drained
	w.settled()
	w.mu.Unlock()
	select {
	case <-drained:
	case <-w.ended:
	case <-time.After(w.gate.limits.drain):
	}
}

// Write implements [mcp.Connection].
func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	answer, ok := m.(*jsonrpc.Response)
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if ok {
		id := keyOf(answer.ID)
		w.noteError(answer.Error)
		w.leave(id)
		data = w.bounded(id, data)
	}
	return w.line(data)
}

func (w *wire) fail(id string, f *serve.Fault) {
	w.of.note(f.Reason)
	_ = w.line(faultJSON(id, f)) // if it fails the reader ends
}

// line writes one line. A client that does not read is cut off; what it asked for goes on.
func (w *wire) line(data []byte) error {
	w.out.Lock()
	defer w.out.Unlock()
	err := w.conn.SetWriteDeadline(time.Now().Add(w.gate.limits.write))
	if err == nil {
		_, err = w.conn.Write(append(data, '\n'))
	}
	if err != nil {
		_ = w.Close()
	}
	return err
}

// Close implements [mcp.Connection].
func (w *wire) Close() error {
	var err error
	w.closing.Do(func() { err = w.conn.Close() })
	return err
}

// empty gives back what requests in flight hold whose answers were never written.
func (w *wire) empty() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate.flying.Give(w.bytes)
	w.flight, w.bytes = nil, 0
}
