package mcpgate

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/iff-run/iff/internal/serve"
)

// Relay copies both ways between a client's pipes and a connection to mcp.sock until either side ends; nothing is held back. It closes
// the connection. That the client has ended, or ctx, is no error; that the runtime has is an [serve.Error] with ConnectionLost.
//
// Its reader of in is left behind if in does not end, since nothing can interrupt it: a process ends next.
func Relay(ctx context.Context, conn *net.UnixConn, in io.Reader, out io.Writer) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // both ends notice
	defer stop()
	sent := make(chan error, 1)
	go func() { // ends with in, or the process
		_, err := io.Copy(conn, in)
		sent <- errors.Join(err, conn.CloseWrite())
	}()
	heard := make(chan error, 1)
	go func() { // ends with the connection
		_, err := io.Copy(out, conn)
		heard <- err
	}()
	select {
	case <-sent:
		// The runtime answers what it was asked, then ends the connection.
		<-heard
		return nil
	case err := <-heard:
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-sent: // they ended at once
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		return &serve.Error{Reason: serve.ConnectionLost, Detail: "the runtime ended; what was under way may have been done: iff status; then start the agent again", Err: err}
	}
}

// Refuse answers a client's requests with a fault, until it has answered initialize or the client ends: without a runtime that is all
// that can be said, and a client shows it.
func Refuse(in io.Reader, out io.Writer, f *serve.Fault) error {
	lines := serve.NewLines(untimed{in}, maxFrame, 0, time.Minute, nil)
	defer lines.Close()
	for {
		line, ends, err := lines.Next()
		if ends && errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		m, fault := parse(line)
		switch {
		case fault == nil && (m.id == "" || m.method == ""):
			continue
		case fault == nil:
			fault = f
		}
		if _, err := out.Write(append(faultJSON(m.id, fault), '\n')); err != nil {
			return err
		}
		if m.method == methodInitialize {
			return nil
		}
	}
}

// untimed is a reader that no deadline interrupts.
type untimed struct{ io.Reader }

// SetReadDeadline implements [serve.Source].
func (untimed) SetReadDeadline(time.Time) error { return nil }
