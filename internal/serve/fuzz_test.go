package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/iff-run/iff/internal/canonical"
)

// pieces is a stream that comes in pieces.
type pieces struct{ io.Reader }

func (pieces) SetReadDeadline(time.Time) error { return nil }

// FuzzFrames: however a stream is cut into pieces, its lines are those that a split finds, and one that is too long is told once.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint8(3))
	f.Add([]byte("a\nbbbbbbbb\nc\n"), uint8(4))
	f.Add(bytes.Repeat([]byte("x"), 40<<10), uint8(255))
	f.Add(append(bytes.Repeat([]byte("x"), 40<<10), "\ny\n"...), uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, most uint8) {
		for _, cut := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, func(r io.Reader) io.Reader { return r }} {
			r := newFrames(pieces{cut(bytes.NewReader(data))}, int(most), len(data), 0)
			whole := bytes.Split(data, []byte("\n"))
			for i, want := range whole {
				got, err := r.next()
				switch last := i == len(whole)-1; {
				case len(want) > int(most):
					if !errors.Is(err, errTooLarge) {
						t.Fatalf("line %d of %d bytes: %q, %v", i, len(want), got, err)
					}
				case last:
					if !errors.Is(err, io.EOF) {
						t.Fatalf("after the last line: %q, %v", got, err)
					}
				case err != nil || !bytes.Equal(got, want):
					t.Fatalf("line %d: %q, %v; want %q", i, got, err, want)
				}
			}
		}
	})
}

// FuzzRequest: what is taken for a request is one, in one form; what is not has a code and a reason.
func FuzzRequest(f *testing.F) {
	seed(f, func(line string) { f.Add([]byte(line)) })
	f.Fuzz(func(t *testing.T, line []byte) {
		req, fault := parseRequest(line)
		if fault != nil {
			if fault.Code >= 0 || fault.Reason == "" || fault.Message == "" {
				t.Fatalf("%#v", fault)
			}
		} else if req.method == "" || req.params == "" || !usable(req.id) {
			t.Fatalf("%#v", req)
		}
		if fault == nil {
			again, fault := parseRequest(fmt.Appendf(nil, `{"id":%s,"jsonrpc":"2.0","method":%s,"params":%s}`, req.id, quoted(t, req.method), req.params))
			if fault != nil || again != req {
				t.Fatalf("%#v is then %#v, %v", req, again, fault)
			}
		}
		for _, out := range [][]byte{replyFault(req.id, faultOrNone(fault)), unwrap(reply(req.id, none{}))(t)} {
			if err := canonical.Check(bytes.TrimSuffix(out, []byte("\n")), canonical.Limits{}); err != nil || bytes.Count(out, []byte("\n")) != 1 {
				t.Fatalf("the answer %q: %v", out, err)
			}
		}
	})
}

func faultOrNone(f *Fault) *Fault {
	if f == nil {
		return &Fault{}
	}
	return f
}

// seed gives every line of the transcripts.
func seed(f *testing.F, add func(line string)) {
	for _, path := range unwrap(filepath.Glob("testdata/*.txtar"))(f) {
		for _, file := range unwrap(txtar.ParseFile(path))(f).Files {
			for line := range strings.Lines(string(file.Data)) {
				if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> "); ok {
					add(text)
				}
			}
		}
	}
}

// FuzzAgent: whatever an agent sends, each line is answered by one line of JSON, and no method of the operator is reached.
func FuzzAgent(f *testing.F) {
	dir, err := os.MkdirTemp("", "serve-fuzz")
	must(f, err)
	f.Cleanup(func() { os.RemoveAll(dir) })
	rt := newFake()
	s := unwrap(Listen(filepath.Join(dir, "run"), Options{Agents: rt, Operator: operator{rt}}))(f)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background()) }()
	f.Cleanup(func() {
		if err := errors.Join(s.Close(), <-ended); err != nil {
			f.Error(err)
		}
	})
	all := opening
	seed(f, func(line string) { all += "\n" + line; f.Add([]byte(opening + "\n" + line + "\n")) })
	f.Add([]byte(strings.ReplaceAll(all, "session.close", "status") + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 32<<10 {
			return // it fits the buffers of the connection
		}
		c := unwrap(dial(t.Context(), filepath.Join(dir, "run", AgentSocket)))(t)
		defer c.Close()
		if _, err := c.Write(data); err == nil {
			_ = c.CloseWrite() // it fails when the server has ended it
		}
		out, _ := io.ReadAll(c) // that it was reset is an end too
		got := bytes.Split(out, []byte("\n"))
		closed := bytes.Contains(data, []byte("close")) || bytes.ContainsRune(data, '\\')
		if lines := bytes.Count(data, []byte("\n")); len(got)-1 != lines && !closed {
			t.Fatalf("%d answers to %d lines: %q", len(got)-1, lines, out)
		}
		for _, line := range got[:len(got)-1] {
			if err := canonical.Check(line, canonical.Limits{Bytes: maxReply}); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		if touched := snapshot(rt, func() int { return len(rt.touched) }); touched != 0 {
			t.Fatal("the operator was touched")
		}
	})
}
