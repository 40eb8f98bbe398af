package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/iff-run/iff/internal/canonical"
)

// ownNumbers begin the ids of requests that do not pass through the SDK, far from
// those that it counts from one.
const ownNumbers = 1 << 30

// plainly says whether calls of tools need not pass through the SDK: to a program,
// in a version in which a request is all that there is to a call. The SDK would
// write each request twice, read each answer three times more, and hand it from
// goroutine to goroutine.
func (l *link) plainly() bool {
	agreed := l.session.InitializeResult()
	return l.pipe != nil && agreed != nil && agreed.ProtocolVersion <= versions[0]
}

// callTool sends a call of a tool that does not pass through the SDK, and waits for
// its answer, which the screen keeps in the flight.
func (l *link) callTool(ctx context.Context, u *upstream, f *flight, name, arguments string) error {
	quoted, ok := quote(name)
	if !ok {
		return errors.New("the name of the tool is not UTF-8")
	}
	number := ownNumbers + f.number
	id, err := jsonrpc.MakeID(float64(number)) // exact
	if err != nil {
		return err
	}
	meta := ""
	if f.talk != nil && f.talk.follows {
		meta = fmt.Sprintf(`"_meta":{"progressToken":%d},`, f.number)
	}
	f.landed = make(chan struct{})
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"name":%s,"arguments":%s}}`, number, callTool, meta, quoted, arguments)
	if l.ended() {
		return io.EOF // nothing was sent
	}
	if err := l.pipe.send(ctx, line, func() { l.screen.enter(id, f) }); err != nil {
		return err
	}
	select {
	case <-f.landed:
	case <-l.dead:
		select {
		case <-f.landed: // it was the last
		default:
			return io.EOF
		}
	case <-ctx.Done():
		if l.screen.withdraw(id) {
			u.beside(func() { l.cancel(ctx, number) })
			return ctx.Err()
		}
		<-f.landed // at any moment
	}
	if f.refused != nil {
		return f.refused
	}
	return f.said
}

// cancel tells the server that nobody waits for an answer any more.
func (l *link) cancel(ctx context.Context, number int64) {
	reason, _ := quote(ctx.Err().Error())
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), graceToCancel)
	defer stop()
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":%s,"requestId":%d}}`, reason, number)
	_ = l.pipe.send(ctx, line, func() {}) // it is for the server's good
}

// lands gives an answer to who waits for it, if the SDK does not. What cannot be
// read at once takes the long way.
func (s *screen) lands(data []byte) bool {
	if !bytes.Contains(data, []byte(`"result"`)) {
		return false
	}
	raw, err := canonical.NewRaw(data, limits)
	if err != nil {
		return false
	}
	list := members(raw.String())
	result, version := find(list, "result"), find(list, "jsonrpc")
	if len(list) != 3 || result == "" || version != `"2.0"` {
		return false
	}
	var number int64
	if canonical.Parse([]byte(find(list, "id")), &number, canonical.Limits{}) != nil || number <= ownNumbers {
		return false
	}
	id, err := jsonrpc.MakeID(float64(number))
	if err != nil {
		return false
	}
	if f := s.land(id); f != nil {
		f.raw = []byte(result)
		close(f.landed)
	}
	return true // what nobody waits for is nothing
}
