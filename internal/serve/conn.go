package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
)

// way says how a method is run.
type way uint8

const (
	beside way = iota // beside the others of the connection, to its end
	waits             // the same, but until the connection ends
	alone             // nothing more is read until it is answered
	closes            // it is the connection's last
	ends              // it is the server's last
)

// method is what a name stands for on one socket.
type method struct {
	way way
	run func(ctx context.Context, c *conn, params string) (any, error)
}

func paramsOf[P any](params string) (P, error) {
	var p P
	if err := canonical.Parse([]byte(params), &p, canonical.Limits{Bytes: maxFrame}); err != nil {
		return p, unread(err, CodeParams)
	}
	return p, nil
}

// conn is one connection. Its reader is one goroutine; each request in flight has one too.
type conn struct {
	plane *plane
	net   *net.UnixConn
	peer  Peer

	ctx      context.Context // of what must not be interrupted
	waitCtx  context.Context // ends with the connection
	endWaits context.CancelFunc
	session  AgentSession // set by the reader, once, before there are requests that use it; so is sessionID
	lastID   string       // of session.close

	requests sync.WaitGroup
	flight   sync.Mutex
	inFlight map[string]int // bytes by id; guarded by flight
	bytes    int            // their sum; guarded by flight
	ending   bool           // guarded by flight

	sessionID string

	out sync.Mutex // held while a frame is made and written
}

func newConn(ctx context.Context, p *plane, nc *net.UnixConn, peer Peer) *conn {
	c := &conn{plane: p, net: nc, peer: peer, ctx: context.WithoutCancel(ctx), inFlight: map[string]int{}}
	c.waitCtx, c.endWaits = context.WithCancel(c.ctx)
	return c
}

// serve reads until the client, a limit or the server ends it, then ends the session and waits for what is in flight.
func (c *conn) serve() {
	if hand := c.plane.hand; hand != nil {
		hand(c.waitCtx, c.net, c.peer)
		c.endWaits()
		_ = c.net.Close() // nothing is lost by it
		return
	}
	c.read()
	c.endWaits()
	var err error
	if c.session != nil {
		err = c.session.Close(c.ctx)
	}
	c.requests.Wait()
	if c.lastID != "" {
		c.send(c.lastID, none{}, err)
	} else if err != nil {
		c.plane.server.report(fmt.Errorf("session of %s: %w", c.peer.Principal(), err))
	}
	_ = c.net.Close() // nothing is lost by it
}

// stop makes the reader end.
func (c *conn) stop() {
	c.flight.Lock()
	c.ending = true
	c.flight.Unlock()
	if c.plane.hand != nil {
		c.endWaits()
	}
	_ = c.net.CloseRead() // it fails if the client is gone
}

func (c *conn) read() {
	l := c.plane.server.limits
	f := newFrames(c.net, maxFrame, l.skips, l.frame)
	f.room = &c.plane.reading
	defer f.drop()
	if c.plane.opens {
		f.idle = time.Now().Add(l.open)
	}
	for {
		line, err := f.next()
		switch {
		case errors.Is(err, errTooLarge):
			c.fail(nullID, tooLong(maxFrame))
			continue
		case errors.Is(err, errCrowded):
			c.fail(nullID, crowded())
			continue
		case err != nil:
			c.sayWhy(err)
			return
		}
		if !c.handle(line) {
			return
		}
		if c.session != nil {
			f.idle = time.Time{}
		}
	}
}

func tooLong(most int) *Fault {
	return bad(FrameTooLarge, fmt.Sprintf("a line has more than %d bytes; it is not read", most), "send less at once")
}

func crowded() *Fault {
	return refused(TooManyRequests, "too many long lines are being sent at once; this one is not read", "wait, then send it again")
}

func flood(most int) *Fault {
	return bad(FrameTooLarge, fmt.Sprintf("a line has more than %d bytes; the connection ends", most), "send less at once")
}

func lateLine(within time.Duration) *Fault {
	return bad(FrameLate, fmt.Sprintf("a line was not ended within %s; the connection ends", within), "send a line in one go")
}

// sayWhy tells a client why it is cut off, unless it went away.
func (c *conn) sayWhy(err error) {
	l := c.plane.server.limits
	switch {
	case errors.Is(err, errFlood):
		c.fail(nullID, flood(maxFrame+l.skips))
	case errors.Is(err, errLate):
		c.fail(nullID, lateLine(l.frame))
	case errors.Is(err, errIdle):
		c.fail(nullID, bad(OpenLate, fmt.Sprintf("no session was opened within %s; the connection ends", l.open), "call session.open when connected"))
	}
}

// handle takes one line and says whether there may be more.
func (c *conn) handle(line []byte) bool {
	req, fault := parseRequest(line)
	if fault != nil {
		return c.fail(req.id, fault)
	}
	m, ok := c.plane.methods[req.method]
	if !ok {
		return c.fail(req.id, &Fault{CodeMethod, string(MethodUnknown), "there is no method " + visible.Truncate(visible.Escape(req.method), 64), "see docs/agent-api.md"})
	}
	if c.plane.opens && c.session == nil && m.way != alone {
		return c.fail(req.id, refused(NoSession, "this connection has no session", "call session.open first"))
	}
	if m.way == closes {
		return c.last(req)
	}
	if id, fault := c.admit(req, len(line)); fault != nil {
		return c.fail(id, fault)
	}
	if m.way != waits {
		c.plane.server.hold()
	}
	if m.way == beside || m.way == waits {
		c.requests.Go(func() { c.do(m, req) })
		return true
	}
	c.do(m, req)
	return m.way != ends
}

// last takes session.close, which is answered when all else is.
func (c *conn) last(req request) bool {
	if _, err := paramsOf[none](req.params); err != nil {
		return c.fail(req.id, faultOf(err, false))
	}
	if id, fault := c.admit(req, 0); fault != nil {
		return c.fail(id, fault)
	}
	c.lastID = req.id
	return false
}

// admit enters a request among those in flight. A fault comes with the id to answer under: not that of another request.
func (c *conn) admit(req request, size int) (string, *Fault) {
	l := c.plane.server.limits
	c.flight.Lock()
	defer c.flight.Unlock()
	_, taken := c.inFlight[req.id]
	switch {
	case taken:
		return nullID, bad(IDInFlight, "the request before with id "+visible.Escape(req.id)+" is not answered yet", "give each request an id of its own")
	case c.ending:
		return req.id, refused(NotRunning, "the runtime is ending", "connect again")
	case len(c.inFlight) >= l.inFlight || c.bytes+size > l.bytes:
		return req.id, refused(TooManyRequests, fmt.Sprintf("%d requests of this connection are in flight", len(c.inFlight)), "wait for an answer before sending more")
	case !c.plane.take(size):
		return req.id, refused(TooManyRequests, "the requests in flight are too large together", "wait, then send it again")
	}
	c.inFlight[req.id] = size
	c.bytes += size
	return req.id, nil
}

// leave takes a request out of those in flight.
func (c *conn) leave(id string) {
	c.flight.Lock()
	defer c.flight.Unlock()
	c.plane.give(c.inFlight[id])
	c.bytes -= c.inFlight[id]
	delete(c.inFlight, id)
}

func (c *conn) do(m method, req request) {
	ctx := c.ctx
	if m.way == waits {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(c.waitCtx, c.plane.server.limits.wait)
		defer cancel()
	} else {
		defer c.plane.server.release()
	}
	result, err := m.run(ctx, c, req.params)
	c.send(req.id, result, err)
	if m.way == ends && err == nil {
		c.plane.server.end()
	}
}

// send answers a request, which is no longer in flight when the client can have read it.
func (c *conn) send(id string, result any, err error) {
	c.out.Lock()
	defer c.out.Unlock()
	c.noteAnswer(result, err)
	var line []byte
	if err == nil {
		line, err = reply(id, result)
	}
	if err != nil {
		line = replyFault(id, faultOf(err, c.plane.trusted))
	}
	c.leave(id)
	c.write(line)
}

// fail answers a line that is no request in flight. It says whether the client is there.
func (c *conn) fail(id string, f *Fault) bool {
	c.note(f.Reason)
	c.out.Lock()
	defer c.out.Unlock()
	return c.write(replyFault(id, f))
}

// write needs out. A client that does not read is cut off; what it asked for goes on.
func (c *conn) write(line []byte) bool {
	err := c.net.SetWriteDeadline(time.Now().Add(c.plane.server.limits.write))
	if err == nil {
		_, err = c.net.Write(line)
	}
	if err != nil {
		_ = c.net.Close() // the reader ends
	}
	return err == nil
}
