package tool

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxField bounds a line of an event that is not data.
const maxField = 1 << 10

// events is a stream of server-sent events whose messages are screened.
type events struct {
	screen *screen
	from   *bufio.Reader
	body   io.Closer
	failed func(error)
	ready  []byte // screened, and not yet read
	err    error
}

// Close implements [io.Closer].
func (e *events) Close() error { return e.body.Close() }

// Read implements [io.Reader].
func (e *events) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		if e.ready, e.err = e.next(); errors.Is(e.err, errGarbage) {
			e.failed(e.err)
		}
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// next is one event, as the SDK is to see it.
func (e *events) next() ([]byte, error) {
	var kept, data bytes.Buffer
	message, any := true, false
	for {
		line, err := readFrame(e.from)
		if err != nil {
			return nil, err // an event that is cut off is none
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if !any {
				return nil, nil
			}
			return e.screened(kept.Bytes(), data.Bytes(), message)
		}
		any = true
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data.Len()+len(value) > MaxFrame {
				return nil, garbage("an event of more than %d bytes", MaxFrame)
			}
			data.Write(bytes.TrimPrefix(value, []byte(" ")))
			data.WriteByte('\n')
			continue
		}
		if len(line) > maxField || kept.Len() > 8*maxField {
			return nil, garbage("an event with a field of more than %d bytes", maxField)
		}
		if name, ok := bytes.CutPrefix(line, []byte("event:")); ok {
			message = strings.TrimSpace(string(name)) == "message"
		}
		kept.Write(line)
		kept.WriteByte('\n')
	}
}

// screened is an event with what of its message the SDK is to see. One of another
// kind than message is not for the SDK.
func (e *events) screened(kept, data []byte, message bool) ([]byte, error) {
	out := bytes.Clone(kept)
	if message {
		msg, err := e.screen.frame(data)
		if err != nil {
			return nil, err
		}
		if msg != nil {
			encoded, err := jsonrpc.EncodeMessage(msg)
			if err != nil {
				return nil, garbage("%v", err)
			}
			out = append(append(append(out, "data: "...), encoded...), '\n')
		}
	}
	return append(out, '\n'), nil
}
