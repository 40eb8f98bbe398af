package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/internal/durable"
)

// Options are what a Server needs. Agents and Operator are mandatory.
type Options struct {
	Agents   Agents
	Operator Operator
	// Idle is how long the server goes on with no connection to agent.sock, no request in flight and no question pending; zero is
	// for ever. A waiting inbox.wait does not count.
	Idle time.Duration
	// Report is told what nobody else is told of, such as a session that did not close. It may be nil, and is called from several
	// goroutines.
	Report func(error)
	// MCP serves a connection to mcp.sock, which there is if this is not nil, and returns when it has ended; the server closes it.
	// Its ctx ends when the server does. A session is whatever MCP makes one.
	MCP func(ctx context.Context, c net.Conn, p Peer)
	// Busy says that something else than the sockets keeps the server from being idle. It may be nil.
	Busy func() bool
	// Shared is a second directory, for agents of other users; the zero value is none.
	Shared Shared
	// Connections is how many there may be to agent.sock, and to mcp.sock; zero is 1024.
	Connections int
}

// limits are fixed; tests make them smaller.
type limits struct {
	agents, operators int // connections
	inFlight          int // requests of a connection
	bytes             int // of them
	together          int // bytes of all requests of a socket that are in flight
	skips             int // bytes of a line that is too long, before its connection is cut
	frame             time.Duration
	open              time.Duration
	write             time.Duration
	wait              time.Duration
}

func standard() limits {
	return limits{
		agents: 1024, operators: 16,
		inFlight: maxInFlight, bytes: 16 << 20, together: 64 << 20, skips: 32 << 20,
		frame: 30 * time.Second, open: 30 * time.Second, write: 30 * time.Second, wait: time.Minute,
	}
}

const maxInFlight = 64

// Server answers on the sockets of a directory. Listen makes one.
type Server struct {
	opts   Options
	limits limits
	places []*place // of the sockets
	lock   io.Closer
	planes []*plane
	peerOf func(*net.UnixConn) (Peer, error)

	begun   atomic.Bool
	ended   chan struct{} // closed to end serving
	end     func()        // closes ended, once
	done    chan struct{} // closed when Serve has returned, or will not be called
	closing sync.Once
	err     error // of Close

	busy      sync.Mutex
	holders   int       // agent connections, and requests in flight; guarded by busy
	lastQuiet time.Time // when holders became zero; guarded by busy
}

// plane is one socket: who may connect, and what can be reached.
type plane struct {
	server   *Server
	place    *place
	name     string
	peers    []int // the users that may connect; nil is any that can
	methods  map[string]method
	trusted  bool                                  // only the operator may connect
	opens    bool                                  // each connection is a session
	hand     func(context.Context, net.Conn, Peer) // serves the connections, in place of methods
	most     int                                   // connections
	listener *net.UnixListener
	file     os.FileInfo // the socket's, to take away no other

	bytes   atomic.Int64 // of requests in flight
	reading Room         // for those that are being read
	serve   sync.WaitGroup
	mu      sync.Mutex
	conns   map[*conn]bool // guarded by mu
	ended   bool           // guarded by mu
}

// The names in the directory.
const (
	AgentSocket    = "agent.sock"
	MCPSocket      = "mcp.sock"
	OperatorSocket = "operator.sock"
	lockFile       = "lock"
	startFile      = "start.lock"
	logFile        = "runtime.log"
)

// Listen makes the directory dir if it is not there, and the sockets in it. Clients can connect, and are answered once Serve is
// called. The error is an *[Error].
func Listen(dir string, opts Options) (*Server, error) {
	if opts.Agents == nil || opts.Operator == nil {
		return nil, &Error{Reason: NotConfigured, Detail: "nobody to answer; give Agents and Operator"}
	}
	at, err := openPlace(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, limits: standard(), places: []*place{at}, peerOf: peerOf, ended: make(chan struct{}), done: make(chan struct{})}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	if opts.Connections > 0 {
		s.limits.agents = opts.Connections
	}
	if s.lock, err = lockRun(dir); err != nil {
		return nil, errors.Join(err, at.Close())
	}
	s.planes = append(s.agentPlanes(at, opts.MCP != nil), &plane{server: s, place: at, name: OperatorSocket, methods: operatorMethods(), trusted: true})
	if err := s.share(opts.Shared, opts.MCP != nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, p := range s.planes {
		p.conns = map[*conn]bool{}
		if p.listener, p.file, err = p.place.listen(p.name); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// lockRun takes the lock of a directory. Somebody who looks whether it is free holds it for an instant.
func lockRun(dir string) (io.Closer, error) {
	path := filepath.Join(dir, lockFile)
	for tries := 0; ; tries++ {
		l, err := durable.OS().Lock(path)
		var busy *durable.BusyError
		switch {
		case err == nil:
			return l, nil
		case !errors.As(err, &busy):
			return nil, &Error{SocketFailed, path, "the lock cannot be taken; check the directory", err}
		case tries == 20:
			return nil, &Error{Busy, dir, "another runtime serves this home; use it, or end it", err}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Serve answers until ctx ends, an operator calls shutdown, nothing happens for Options.Idle, or Close is called; then it returns
// nil. It ends what waits, closes all sessions, and returns when no request is being answered. Until Close no other server can
// have the directory, so that the runtime can be closed in between. It can be called once.
func (s *Server) Serve(ctx context.Context) error {
	if !s.begun.CompareAndSwap(false, true) {
		return &Error{Reason: NotRunning, Detail: "the server has ended; listen again"}
	}
	defer close(s.done)
	s.busy.Lock()
	s.lastQuiet = time.Now()
	s.busy.Unlock()
	s.limit()
	broken := make(chan error, len(s.planes))
	var accepting sync.WaitGroup
	for _, p := range s.planes {
		accepting.Go(func() { broken <- p.accept(ctx) })
	}
	err := s.untilEnd(ctx, broken)
	s.end()
	for _, p := range s.planes {
		p.stop()
	}
	accepting.Wait()
	for _, p := range s.planes {
		p.serve.Wait()
	}
	return err
}

// limit gives each plane its number of connections.
func (s *Server) limit() {
	for _, p := range s.planes {
		p.most = s.limits.operators
		if p.opens {
			p.most = s.limits.agents
		}
		p.reading.most = int64(s.limits.together)
	}
}

func (s *Server) untilEnd(ctx context.Context, broken <-chan error) error {
	var idle <-chan time.Time
	var timer *time.Timer
	if s.opts.Idle > 0 {
		timer = time.NewTimer(s.opts.Idle)
		defer timer.Stop()
		idle = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.ended:
			return nil
		case err := <-broken:
			return err
		case <-idle:
			left := s.idleLeft(ctx)
			if left <= 0 {
				return nil
			}
			timer.Reset(left)
		}
	}
}

// idleLeft is how long nothing must happen from now on for the server to end.
func (s *Server) idleLeft(ctx context.Context) time.Duration {
	s.busy.Lock()
	held, quiet := s.holders > 0, time.Since(s.lastQuiet)
	s.busy.Unlock()
	if held {
		return s.opts.Idle
	}
	if left := s.opts.Idle - quiet; left > 0 {
		return left
	}
	if s.opts.Busy != nil && s.opts.Busy() {
		return s.opts.Idle
	}
	if st, err := s.opts.Operator.Status(ctx); err != nil || st.Pending > 0 {
		return s.opts.Idle
	}
	return 0
}

func (s *Server) hold() {
	s.busy.Lock()
	defer s.busy.Unlock()
	s.holders++
}

func (s *Server) release() {
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.holders--; s.holders == 0 {
		s.lastQuiet = time.Now()
	}
}

func (s *Server) report(err error) {
	if s.opts.Report != nil {
		s.opts.Report(err)
	}
}

// Close ends Serve, waits for it, takes away the sockets and gives the directory free. Later calls return the same.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.end()
		if s.begun.Swap(true) {
			<-s.done
		}
		for _, p := range s.planes {
			if p.listener != nil {
				p.stop()
			}
		}
		s.err = s.lock.Close()
		for _, at := range s.places {
			s.err = errors.Join(s.err, at.Close())
		}
	})
	return s.err
}

// accept takes connections until stop.
func (p *plane) accept(ctx context.Context) error {
	for {
		nc, err := p.listener.AcceptUnix()
		switch {
		case err == nil:
			p.admit(ctx, nc)
		case errors.Is(err, net.ErrClosed):
			return nil
		case passes(err):
			p.server.report(fmt.Errorf("%s: %w", p.name, err))
			select {
			case <-p.server.ended:
			case <-time.After(50 * time.Millisecond):
			}
		default:
			return &Error{SocketFailed, p.name, "no connections can be accepted; start again", err}
		}
	}
}

// admit serves a connection, or says why not and closes it.
func (p *plane) admit(ctx context.Context, nc *net.UnixConn) {
	peer, err := p.server.peerOf(nc)
	c := newConn(ctx, p, nc, peer)
	fault := p.enter(c, err)
	if fault == nil {
		return
	}
	c.endWaits()
	c.fail(nullID, fault) // the line fits the buffer of a new connection, so this does not wait
	_ = nc.Close()        // nothing is lost by it
}

func (p *plane) enter(c *conn, unknown error) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case unknown != nil:
		return refused(PeerUnknown, "the system does not say who is connected", "use Linux or macOS")
	case p.trusted && !c.peer.SameUID && c.peer.UID != 0:
		return refused(NotOperator, "this socket is for the operator only", "agents use "+AgentSocket)
	case p.peers != nil && !slices.Contains(p.peers, c.peer.UID):
		return refused(NotAgent, "this socket is for other users than "+c.peer.Principal(), "see serve.agents in iff.toml")
	case p.ended:
		return refused(NotRunning, "the runtime is ending", "connect again")
	case len(p.conns) >= p.most:
		return refused(TooManyConnections, fmt.Sprintf("%d connections are open", p.most), "close one, or wait")
	case p.crowds(c.peer.UID):
		return refused(TooManyConnections, "connections of "+c.peer.Principal()+" have all the places that are for one user", "close one, or wait")
	}
	p.conns[c] = true
	if p.opens {
		p.server.hold()
	}
	p.serve.Go(func() {
		c.serve()
		p.leave(c)
	})
	return nil
}

// crowds says whether a user has its part of the connections: where several users may connect, none takes the places of another. mu is
// held.
func (p *plane) crowds(uid int) bool {
	if len(p.peers) < 2 {
		return false
	}
	theirs := 0
	for c := range p.conns {
		if c.peer.UID == uid {
			theirs++
		}
	}
	return theirs >= max(1, p.most/len(p.peers))
}

func (p *plane) leave(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	if p.opens {
		p.server.release()
	}
}

// stop accepts nothing more and makes the connections end. It may be called again.
func (p *plane) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	_ = p.listener.Close() // accept ends in any case
	if err := p.place.remove(p.name, p.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.server.report(err)
	}
	for c := range p.conns {
		c.stop()
	}
}

// take counts the bytes of a request in flight, if there is room.
func (p *plane) take(size int) bool {
	if p.bytes.Add(int64(size)) > int64(p.server.limits.together) {
		p.bytes.Add(-int64(size))
		return false
	}
	return true
}

func (p *plane) give(size int) { p.bytes.Add(-int64(size)) }
