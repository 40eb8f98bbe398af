package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/iff-run/iff/internal/canonical"
)

// Client is one connection to a runtime. It is safe for concurrent use; up to 64 calls are in flight at once, more wait.
type Client struct {
	path  string
	conn  *net.UnixConn
	slots chan struct{} // one for each request that the server has not answered
	done  chan struct{} // closed when the reader has ended

	write chan struct{} // holds one while a line is written

	mu      sync.Mutex
	last    int64                 // id given; guarded by mu
	waiting map[int64]chan answer // guarded by mu
	err     error                 // why the connection ended; guarded by mu
}

// Dial connects to agent.sock or operator.sock. The error is an *[Error]; NotRunning if nobody answers.
func Dial(ctx context.Context, path string) (*Client, error) {
	conn, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	c := &Client{path: path, conn: conn, slots: make(chan struct{}, maxInFlight), write: make(chan struct{}, 1), done: make(chan struct{}), waiting: map[int64]chan answer{}}
	go c.read()
	return c, nil
}

// Close ends the connection, and with it the session if there is one, and waits until nothing is read any more.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Call sends one request and waits for its answer. Params are a value with json tags, nil if there are none; result is a pointer
// to one, nil if it is of no interest. The error is a *[Fault] if the runtime refused, an *[Error] with ConnectionLost if it was
// not heard; what was asked for may then have been done. If ctx ends first its error is returned, and the request goes on.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	line, id, got, err := c.begin(ctx, method, params)
	if err != nil {
		return err
	}
	if n, err := c.send(ctx, line); n > 0 && err != nil {
		_ = c.conn.Close() // what comes next would belong to half a line
	} else if err != nil && ctx.Err() != nil {
		c.settle(answer{id: id})
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case a := <-got:
		return take(a, result)
	case <-c.done:
	}
	select {
	case a := <-got: // it came just before the end
		return take(a, result)
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
	return c.err
}

func take(a answer, result any) error {
	if a.fault != nil {
		return a.fault
	}
	if result == nil {
		return nil
	}
	return canonical.Parse([]byte(a.result), result, canonical.Limits{Bytes: maxReply})
}

// begin makes a request's line and a place for its answer.
func (c *Client) begin(ctx context.Context, method string, params any) (line []byte, id int64, got chan answer, err error) {
	form := requestForm{Version: "2.0", Method: method}
	if params != nil {
		data, err := canonical.Marshal(params)
		if err == nil {
			form.Params, err = canonical.NewRaw(data, canonical.Limits{Bytes: maxFrame})
		}
		if err != nil {
			return nil, 0, nil, fmt.Errorf("%s: %w", method, err)
		}
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, 0, nil, fmt.Errorf("%s: %w", method, ctx.Err())
	case <-c.done:
		return nil, 0, nil, c.ended()
	}
	id, got = c.place()
	if form.ID, err = canonical.NewRaw(strconv.AppendInt(nil, id, 10), canonical.Limits{}); err == nil {
		line, err = canonical.Marshal(form)
	}
	if err == nil && len(line) > maxFrame {
		err = &Fault{Code: CodeRequest, Reason: string(FrameTooLarge), Message: fmt.Sprintf("the request has %d bytes, more than %d", len(line), maxFrame), Remedy: "send less at once"}
	}
	if err != nil {
		c.settle(answer{id: id})
		return nil, 0, nil, err
	}
	return append(line, '\n'), id, got, nil
}

func (c *Client) place() (int64, chan answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	got := make(chan answer, 1)
	c.waiting[c.last] = got
	return c.last, got
}

// send says how much was written.
func (c *Client) send(ctx context.Context, line []byte) (int, error) {
	select {
	case c.write <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-c.done:
		return 0, c.ended()
	}
	defer func() { <-c.write }()
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetWriteDeadline(time.Unix(1, 0)) // it fails if the connection is closed
		close(cut)
	})
	n, err := c.conn.Write(line)
	if !stop() {
		<-cut
		_ = c.conn.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// read takes answers until the connection ends.
func (c *Client) read() {
	defer close(c.done)
	f := newFrames(c.conn, maxReply, 0, 0)
	for {
		line, err := f.next()
		var a answer
		if err == nil {
			a, err = parseAnswer(line)
		}
		switch {
		case err != nil:
			c.lose(err)
			return
		case a.id == 0:
			c.lose(a.fault)
		default:
			c.settle(a)
		}
	}
}

// lose notes why the connection ends. What the server said of it comes first.
func (c *Client) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	var f *Fault
	switch {
	case errors.As(err, &f):
		c.err = f
	case errors.Is(err, io.EOF):
		c.err = &Error{ConnectionLost, c.path, "the runtime ended the connection; what was asked for may have been done, see iff status", io.ErrUnexpectedEOF}
	default:
		c.err = &Error{ConnectionLost, c.path, "the connection is lost; what was asked for may have been done, see iff status", err}
	}
}

func (c *Client) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// settle hands an answer to who waits for it.
func (c *Client) settle(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got, ok := c.waiting[a.id]
	if !ok {
		return
	}
	delete(c.waiting, a.id)
	got <- a
	<-c.slots
}
