package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long a program gets to end by itself, and to take what it is sent.
const (
	graceToEnd   = time.Second
	graceToWrite = 10 * time.Second

	graceToCancel = 5 * time.Second // for it to be told that nobody waits any more
)

// pipe is a program that speaks MCP on its standard input and output. It is an
// [mcp.Transport] and an [mcp.Connection].
type pipe struct {
	screen *screen
	failed func(error) // told why there is nothing more to read, before the SDK
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	frames *bufio.Reader

	turn   chan struct{} // held by who writes
	ended  chan struct{} // closed when the program has ended
	once   sync.Once
	status error // how it ended; after ended
}

var _ mcp.Transport = (*pipe)(nil)

// spawn starts a program.
func spawn(c program, s *screen, errs io.Writer, failed func(error)) (*pipe, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	cmd := &exec.Cmd{Path: c.path, Args: c.args, Env: c.env, Dir: c.dir, Stdin: theirIn, Stdout: theirOut, Stderr: errs, WaitDelay: graceToEnd}
	ownGroup(cmd)
	err = cmd.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	p := &pipe{
		screen: s, failed: failed, cmd: cmd, in: in, out: out, frames: bufio.NewReaderSize(out, 64<<10),
		turn: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go func() { // ends with the program; Close waits for it
		defer close(p.ended)
		p.status = cmd.Wait()
	}()
	return p, nil
}

// Connect implements [mcp.Transport].
func (p *pipe) Connect(context.Context) (mcp.Connection, error) { return p, nil }

// SessionID implements [mcp.Connection]: there is none.
func (p *pipe) SessionID() string { return "" }

// Read implements [mcp.Connection]. It is called by one goroutine, and ends when
// the connection is closed.
func (p *pipe) Read(context.Context) (jsonrpc.Message, error) {
	for {
		frame, err := readFrame(p.frames)
		var msg jsonrpc.Message
		if err == nil {
			msg, err = p.screen.frame(frame)
		}
		if err != nil {
			p.failed(err)
			return nil, err
		}
		if msg != nil {
			return msg, nil
		}
	}
}

// readFrame reads a line of its own memory.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var frame []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(frame)+len(part) > MaxFrame {
			return nil, garbage("a message of more than %d bytes", MaxFrame)
		}
		frame = append(frame, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return frame, err
		}
	}
}

// Write implements [mcp.Connection].
func (p *pipe) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return p.send(ctx, data, func() { p.screen.depart(ctx, msg) })
}

// send writes one message. What is to be noted of it is, just before. What was
// written in part cannot be gone on with, so then the connection ends.
func (p *pipe) send(ctx context.Context, data []byte, note func()) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	if err := ctx.Err(); err != nil {
		return err
	}
	note()
	until := time.Now().Add(graceToWrite)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	err := p.in.SetWriteDeadline(until)
	if err == nil {
		_, err = p.in.Write(append(data, '\n'))
	}
	if err != nil {
		err = fmt.Errorf("the program does not take what it is sent: %w", err)
		p.failed(err)
		p.out.Close()
	}
	return err
}

// Close implements [mcp.Connection]. It ends the program: by the end of its input,
// then by force, and whatever it started in its process group with it.
func (p *pipe) Close() error {
	p.once.Do(func() {
		p.in.Close()
		p.out.Close()
		for _, force := range []bool{false, true} {
			select {
			case <-p.ended:
			case <-time.After(graceToEnd):
				endGroup(p.cmd.Process.Pid, force)
			}
		}
		endGroup(p.cmd.Process.Pid, true)
		<-p.ended
	})
	return nil
}
