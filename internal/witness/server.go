package witness

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of a Server. A request that does not keep them is cut off.
const (
	headerTime = 5 * time.Second
	readTime   = 10 * time.Second
	writeTime  = 20 * time.Second // begins with the reading of the request
	idleTime   = 30 * time.Second
	maxHeader  = 8 << 10
	maxConns   = 64 // further ones wait in the listener's queue
)

// Server answers for a witness on one listener, in goroutines that Close waits for.
type Server struct {
	witness  *Witness
	http     *http.Server
	done     chan struct{}
	err      error        // why serving ended; after done
	requests sync.RWMutex // read-held while a request is answered
	closed   bool         // guarded by requests
}

// Serve starts to answer on a listener, which belongs to the server from then on.
func Serve(w *Witness, l net.Listener) *Server {
	s := &Server{witness: w, done: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(reports{w}, "", 0),
	}
	limited := &limitedListener{Listener: l, slots: make(chan struct{}, maxConns), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = s.http.Serve(limited)
	}()
	return s
}

// ServeHTTP is the witness's, until Close.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.requests.RLock()
	defer s.requests.RUnlock()
	if s.closed {
		http.Error(rw, "the witness is closing", http.StatusServiceUnavailable)
		return
	}
	s.witness.ServeHTTP(rw, r)
}

// Done is closed when the server does not accept connections any more, be it because of Close or of an error, which Close then
// gives.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close accepts nothing more, lets the requests under way finish until ctx ends, cuts off the rest, and waits until no request
// is being answered. The error says why serving ended, if it was not Close. It leaves the witness open.
func (s *Server) Close(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close() // cut off, so that the reads and writes under way end
	}
	<-s.done
	s.requests.Lock()
	s.closed = true
	s.requests.Unlock()
	if errors.Is(s.err, http.ErrServerClosed) {
		return nil
	}
	return s.err
}

// reports hands what the http package has to say, such as that a request made it panic, to the witness's Event.
type reports struct{ witness *Witness }

func (r reports) Write(p []byte) (int, error) {
	r.witness.event(Event{Err: errors.New(string(p))})
	return len(p), nil
}

// limitedListener has at most cap(slots) connections open.
type limitedListener struct {
	net.Listener
	slots chan struct{}
	done  chan struct{}
	once  sync.Once
}

// Accept waits for a free slot, then for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close ends the waiting too.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	free func()
}

// Close frees the slot.
func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
