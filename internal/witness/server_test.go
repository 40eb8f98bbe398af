package witness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/internal/durable/durabletest"
)

// pipes is a listener whose connections are in memory, so that the time of a test bubble is theirs.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// dial gives the client's end as soon as the server takes the other.
func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// wire is a request as it goes over the wire, cut where the body begins.
func wire(body []byte) (head, rest string) {
	return fmt.Sprintf("POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: %d\r\n\r\n", len(body)), string(body)
}

// served sends a whole request over a connection of its own and gives the status.
func served(t *testing.T, c net.Conn, request string) int {
	t.Helper()
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// TestSlowClients: whoever is slow is cut off, whatever he waits with, and others are served meanwhile.
func TestSlowClients(t *testing.T) {
	l := grown(5)
	head, body := wire(l.Request(0, 5))
	for _, c := range []struct {
		what, atOnce, drip string // drip goes one byte a second
		limit              time.Duration
	}{
		{"sends nothing", "", "", headerTime},
		{"half a header", head[:20], "", headerTime},
		{"a header byte by byte", "", head, headerTime},
		{"no body", head, "", readTime},
		{"a body byte by byte", head, body, readTime},
		{"nothing after a request", head + body, "", idleTime},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				s := Serve(opened(t, durabletest.New(), l.VerifierKey()), p)
				defer s.Close(t.Context())
				conn := p.dial()
				start := time.Now()
				var dripping sync.WaitGroup
				dripping.Go(func() { drip(conn, c.atOnce, c.drip) })
				if status := served(t, p.dial(), head+body); status != 200 && status != 409 {
					t.Errorf("another client: %d", status)
				}
				_, _ = io.Copy(io.Discard, conn)
				if took := time.Since(start); took > c.limit {
					t.Errorf("cut off after %v", took)
				}
				conn.Close()
				dripping.Wait()
			})
		})
	}
}

func drip(c net.Conn, atOnce, rest string) {
	_, err := io.WriteString(c, atOnce)
	for i := 0; i < len(rest) && err == nil; i++ {
		time.Sleep(time.Second)
		_, err = io.WriteString(c, rest[i:i+1])
	}
}

// Connections over the limit wait, and those that hold the places are cut off in time.
func TestManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := grown(5)
		p := newPipes()
		s := Serve(opened(t, durabletest.New(), l.VerifierKey()), p)
		defer s.Close(t.Context())
		for range maxConns {
			defer p.dial().Close()
		}
		start := time.Now()
		head, body := wire(l.Request(0, 5))
		if status := served(t, p.dial(), head+body); status != 200 {
			t.Errorf("%d", status)
		}
		if waited := time.Since(start); waited != headerTime {
			t.Errorf("a connection over the limit waited %v", waited)
		}
	})
}

// A client that does not read its answer is cut off too.
func TestAnswerNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := grown(5)
		p := newPipes()
		s := Serve(opened(t, durabletest.New(), l.VerifierKey()), p)
		c := p.dial()
		head, body := wire(l.Request(0, 5))
		go func() { _, _ = io.WriteString(c, head+body) }()
		time.Sleep(writeTime + time.Second)
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("%v", err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Close waits for requests under way as long as it may, then cuts them off, and waits for nothing else.
func TestCloseWaits(t *testing.T) {
	l := grown(5)
	head, body := wire(l.Request(0, 5))
	for what, patience := range map[string]time.Duration{"finishes": 5 * time.Second, "is cut off": time.Second} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := opened(t, durabletest.New(), l.VerifierKey())
				p := newPipes()
				s := Serve(w, p)
				c := p.dial()
				var client sync.WaitGroup
				client.Go(func() {
					_, _ = io.WriteString(c, head)
					time.Sleep(3 * time.Second)
					_, _ = io.WriteString(c, body)
					_, _ = io.Copy(io.Discard, c)
				})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if err := s.Close(ctx); err != nil {
					t.Error(err)
				}
				if cosigned := w.Newest(origin) != nil; cosigned != (patience > 3*time.Second) {
					t.Errorf("cosigned: %v", cosigned)
				}
				select {
				case <-s.Done():
				default:
					t.Error("not done")
				}
				client.Wait()
				c.Close()
			})
		})
	}
}

type broken struct{ *pipes }

var errBroken = errors.New("the listener broke")

func (broken) Accept() (net.Conn, error) { return nil, errBroken }

func TestListenerBreaks(t *testing.T) {
	s := Serve(opened(t, durabletest.New()), broken{newPipes()})
	<-s.Done()
	if err := s.Close(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

// What the http package has to say reaches Event.
func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		w := openedWith(t, durabletest.New(), Options{Name: name, Event: func(e Event) {
			if e.Outcome == Malformed {
				panic("planted")
			}
			events = append(events, e.Err.Error())
		}})
		p := newPipes()
		s := Serve(w, p)
		c := p.dial()
		head, body := wire([]byte("junk"))
		go func() { _, _ = io.WriteString(c, head+body) }()
		_, _ = io.Copy(io.Discard, c)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if len(events) != 1 || !strings.Contains(events[0], "planted") {
			t.Errorf("%q", events)
		}
	})
}
