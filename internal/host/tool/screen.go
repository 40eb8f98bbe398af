package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/iff-run/iff/internal/canonical"
)

// Bounds of what a server sends.
const (
	MaxFrame = 16 << 20 // bytes of one message
	maxDepth = 64
	perUnit  = 50 // requests and notifications in a second
)

var limits = canonical.Limits{Bytes: MaxFrame, Depth: maxDepth}

// errGarbage marks what no server may send.
var errGarbage = errors.New("garbage")

func garbage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errGarbage, fmt.Sprintf(format, args...))
}

// flight is a request whose answer is wanted as it was sent: the SDK is given an
// empty one in its place. It travels in the context of the request.
type flight struct {
	sent    atomic.Bool // the server may have been given it
	number  int64       // of the connection's
	own     bool        // it is nobody's but iff's
	talk    *talk       // whose call it is; nil if there is nobody to tell
	notes   notes       // what is to be told
	left    time.Time   // when nobody waited for the answer any more; guarded by the screen
	raw     []byte      // the result; set before the SDK returns
	said    error       // the error that it answered; set before the SDK returns
	refused error       // why the answer is none; set before the SDK returns

	landed chan struct{} // closed when there is an answer; nil if the SDK waits for it
}

type flightKey struct{}

func withFlight(ctx context.Context, f *flight) context.Context {
	return context.WithValue(ctx, flightKey{}, f)
}

func flightOf(ctx context.Context) *flight {
	f, _ := ctx.Value(flightKey{}).(*flight)
	return f
}

// screen stands between a server and the SDK. It is safe for concurrent use; the
// zero value is one.
type screen struct {
	name    string // of the server
	numbers atomic.Int64

	mu       sync.Mutex
	flights  map[jsonrpc.ID]*flight
	blurred  bool      // whose requests are under way is not known any more
	since    time.Time // of the second that is counted
	requests int
	notices  int
}

// depart notes a request that is about to be sent, and lets go of it when its
// context ends.
func (s *screen) depart(ctx context.Context, msg jsonrpc.Message) {
	f := flightOf(ctx)
	req, ok := msg.(*jsonrpc.Request)
	if f == nil || !ok || !req.IsCall() {
		return
	}
	s.enter(req.ID, f)
}

func (s *screen) enter(id jsonrpc.ID, f *flight) {
	f.sent.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flights == nil {
		s.flights = make(map[jsonrpc.ID]*flight)
	}
	s.flights[id] = f
}

// withdraw notes that nobody waits for an answer any more, unless it is here.
func (s *screen) withdraw(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flights[id]
	if f == nil {
		return false
	}
	f.left = time.Now()
	return true
}

// A request that was not answered is known for a while, for the server may still be
// at it.
const (
	longestEcho = 10 * time.Minute
	mostEchoes  = 1024
)

// forget notes that a request is not waited for any more.
func (s *screen) forget(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for id, other := range s.flights {
		switch {
		case other == f && f.sent.Load():
			f.left = now
		case other == f, !other.left.IsZero() && now.Sub(other.left) > longestEcho:
			delete(s.flights, id)
		}
	}
	if len(s.flights) > mostEchoes {
		s.blurred = true
		maps.DeleteFunc(s.flights, func(_ jsonrpc.ID, f *flight) bool { return !f.left.IsZero() })
	}
}

// land gives the request that an answer is for, if it is waited for.
func (s *screen) land(id jsonrpc.ID) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flights[id]
	delete(s.flights, id)
	if f != nil && !f.left.IsZero() {
		return nil
	}
	return f
}

// blank is the answer that the SDK is given in the place of one that is wanted as
// it was sent.
var blank = []byte(`{"content":[],"contents":[],"messages":[],"tools":[],"resources":[],"resourceTemplates":[],"prompts":[],"completion":{"values":[]}}`)

// frame checks one message and gives what the SDK is to see of it; nil is nothing.
// An error ends the connection.
func (s *screen) frame(data []byte) (jsonrpc.Message, error) {
	if len(data) > MaxFrame {
		return nil, garbage("a message of more than %d bytes", MaxFrame)
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil
	}
	if data[0] != '{' {
		return nil, garbage("a message is no JSON object; batches are not taken")
	}
	if s.lands(data) {
		return nil, nil
	}
	fault := canonical.Check(data, limits)
	if fault != nil && !answers(fault, data) {
		return nil, garbage("%v", fault)
	}
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, garbage("%v", err)
	}
	resp, ok := msg.(*jsonrpc.Response)
	switch {
	case ok:
		return s.answer(resp, fault), nil
	case fault != nil:
		return nil, garbage("%v", fault)
	}
	req := msg.(*jsonrpc.Request)
	room := s.room(req)
	switch {
	case !room && req.IsCall():
		return nil, garbage("more than %d requests in a second", perUnit)
	case !room || s.pass(req):
		return nil, nil
	}
	return req, nil
}

// answer keeps the result of a request that is wanted as it was sent.
func (s *screen) answer(resp *jsonrpc.Response, fault error) jsonrpc.Message {
	f := s.land(resp.ID)
	if f != nil && f.landed != nil {
		defer close(f.landed)
	}
	switch {
	case fault != nil:
		if f != nil {
			f.refused = garbage("%v", fault)
		}
		return &jsonrpc.Response{ID: resp.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the answer is not taken"}}
	case f == nil:
		return resp
	case resp.Error != nil:
		f.said = resp.Error
		return resp
	}
	f.raw = resp.Result
	return &jsonrpc.Response{ID: resp.ID, Result: blank}
}

// room counts what a server sends unasked.
func (s *screen) room(req *jsonrpc.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.since) > time.Second {
		s.since, s.requests, s.notices = now, 0, 0
	}
	count := &s.notices
	if req.IsCall() {
		count = &s.requests
	}
	*count++
	return *count <= perUnit
}

// answers says whether a fault is one of values alone, so that a reader can still
// say which request the message answers: JSON by its grammar, and not too deep.
func answers(fault error, data []byte) bool {
	var e *canonical.Error
	if !errors.As(fault, &e) {
		return false
	}
	mild := []canonical.Reason{canonical.NumberInexact, canonical.CaseKey, canonical.DuplicateKey, canonical.LoneSurrogate}
	return slices.Contains(mild, e.Reason) && shallow(data)
}

// shallow says whether no bracket is nested too deep.
func shallow(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}
