package tool

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
)

// The versions of MCP that are asked for: one in which both sides have a session,
// then the newest that the SDK speaks.
var versions = []string{"2025-11-25", ""}

// link is one connection to a server, from its beginning to its end.
type link struct {
	screen  screen
	pipe    *pipe // nil over HTTP
	session *mcp.ClientSession
	suspect atomic.Bool   // a call was overdue: it has to answer before it is used
	dead    chan struct{} // closed when it is known that it ends
	over    chan struct{} // closed when nothing of it runs any more

	mu     sync.Mutex
	cause  error // why it ended, if that is known
	finish func()
}

// dial connects to a server and agrees on a version.
func (u *upstream) dial(ctx context.Context) (*link, error) {
	var err error
	for _, version := range versions {
		var l *link
		if l, err = u.dialAs(ctx, version); err == nil {
			return l, nil
		}
		var said *jsonrpc.Error
		if !errors.As(err, &said) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func (u *upstream) dialAs(ctx context.Context, version string) (*link, error) {
	l := &link{dead: make(chan struct{}), over: make(chan struct{}), screen: screen{name: u.Name}}
	t, err := u.transport(l)
	if err != nil {
		return nil, err
	}
	options := &mcp.ClientOptions{
		Capabilities:   u.capabilities(),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		Logger:         slog.New(slog.DiscardHandler),

		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { u.changed() },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { u.host.tell() },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { u.host.tell() },
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "iff", Version: u.host.version}, options)
	client.AddReceivingMiddleware(u.answering(l))
	if l.session, err = client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		l.finish()
		if cause := l.why(); cause != nil && !errors.Is(cause, io.EOF) {
			err = cause
		}
		return nil, err
	}
	u.running.Go(func() {
		err := l.session.Wait()
		l.fail(err)
		l.finish()
		close(l.over)
	})
	return l, nil
}

// transport starts the program, or makes the client.
func (u *upstream) transport(l *link) (mcp.Transport, error) {
	if u.URL == "" {
		p, err := spawn(u.program, &l.screen, &u.stderr, l.fail)
		if err != nil {
			return nil, err
		}
		l.pipe, l.finish = p, func() { _ = p.Close() }
		return p, nil
	}
	client, r, err := newRemote(u.Server, &l.screen, l.fail)
	if err != nil {
		return nil, err
	}
	l.finish = r.inner.CloseIdleConnections
	return &mcp.StreamableClientTransport{Endpoint: u.URL, HTTPClient: client, MaxEventSize: MaxFrame}, nil
}

// fail notes the first reason why the connection ends.
func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended() {
		return
	}
	if err == nil {
		err = io.EOF
	}
	l.cause = err
	close(l.dead)
}

func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// ended says whether the connection ends or has ended.
func (l *link) ended() bool {
	select {
	case <-l.dead:
		return true
	default:
		return false
	}
}

// close ends the connection, whatever is under way. Afterwards nothing of it runs.
func (l *link) close() {
	l.finish()
	_ = l.session.Close()
	<-l.over
}

// graceToPing is how long a server that was overdue has to answer a ping.
const graceToPing = 2 * time.Second

// sound says whether the connection can be used. One that was overdue has to show
// it.
func (l *link) sound(ctx context.Context) bool {
	if l.ended() {
		return false
	}
	if !l.suspect.Load() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, graceToPing)
	defer cancel()
	if l.session.Ping(ctx, nil) != nil {
		return false
	}
	l.suspect.Store(false)
	return true
}

// ask sends a request and gives the result as it was sent. The error is *Error.
func (l *link) ask(ctx context.Context, server string, f *flight, send func(context.Context) error) ([]byte, error) {
	f.number = l.screen.numbers.Add(1)
	defer l.screen.forget(f)
	err := send(withFlight(ctx, f))
	f.notes.end()
	if err == nil && f.raw != nil {
		return f.raw, nil
	}
	e := &Error{Server: server, Sent: f.sent.Load(), Err: err}
	switch {
	case f.refused != nil:
		e.Reason, e.Detail = UpstreamGarbage, short(f.refused.Error())
	case ctx.Err() != nil:
		l.suspect.Store(true)
		e.Reason, e.Detail = UpstreamOverdue, "it did not answer in time"
	case f.said != nil:
		e.Reason, e.Detail = UpstreamRefused, "it refused the call: "+short(f.said.Error())
	default:
		e.Reason, e.Detail = l.broken(err)
	}
	return nil, e
}

// broken says why there is no answer, where the connection is at fault.
func (l *link) broken(err error) (gate.Reason, string) {
	if cause := l.why(); cause != nil {
		err = cause
	}
	switch {
	case err == nil:
		return UpstreamGarbage, "its answer came by another way than the call went"
	case errors.Is(err, errGarbage):
		return UpstreamGarbage, "it sent what is no answer: " + short(err.Error())
	case errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed):
		return UpstreamDied, "it ended before it answered"
	}
	return UpstreamDied, "it ended before it answered: " + short(err.Error())
}
