package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"sync"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/gate"
)

// Mind is a model that plays one agent through one run. It is asked from one
// goroutine; what it counts may be read from any. The zero value asks nobody, and
// its Next is an error.
type Mind struct {
	options Options
	dialect dialect
	sign    func(http.Header)      // sets the headers; it alone has the key, so that no %v shows it
	leaks   func(c gate.Call) bool // whether the key is in a call
	talk    talk
	begun   bool
	inRow   int // failures

	mu    sync.Mutex
	tally ensemble.Tally // guarded by mu, as is notes
	notes Notes
}

var _ ensemble.Mind = (*Mind)(nil)

// Notes say more of what came of a mind's turns than its tally.
type Notes struct {
	Ignored  int64            `json:"ignored"`       // calls of tools beyond the first of their turn
	Skipped  int64            `json:"skipped"`       // turns in which the endpoint was left alone; the tally has them as nothing
	Failures map[Reason]int64 `json:"failures"`      // why a turn was malformed, refused or late
	Last     string           `json:"last,omitzero"` // the newest failure, in our words
}

// heard is what a response says.
type heard struct {
	calls int
	first func() (name string, args []byte)
}

func (h *heard) add(call func() (string, []byte)) {
	if h.calls++; h.calls == 1 {
		h.first = call
	}
}

// New makes a mind. It reads the key file and connects to nobody yet. The error is
// *[Error] with model-options.
func New(o Options) (*Mind, error) {
	o, d, err := o.check()
	if err != nil {
		return nil, err
	}
	key, err := o.key()
	if err != nil {
		return nil, err
	}
	m := &Mind{options: o, dialect: d, sign: func(h http.Header) { d.sign(h, key) }}
	m.leaks = func(c gate.Call) bool {
		return len(key) >= minKey && (bytes.Contains(c.Arguments, []byte(key)) || bytes.Contains([]byte(c.Target), []byte(key)))
	}
	m.notes.Failures = map[Reason]int64{}
	return m, nil
}

// Tally implements [ensemble.Mind]. Its turns are the sum of all else.
func (m *Mind) Tally() ensemble.Tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally
}

// Notes are those of the turns so far.
func (m *Mind) Notes() Notes {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.notes
	out.Failures = maps.Clone(out.Failures)
	return out
}

// Next implements [ensemble.Mind]. Its errors are the context's, that a
// [Player] has no answer, and that there is no way at all.
func (m *Mind) Next(ctx context.Context, t ensemble.Turn) (gate.Call, bool, error) {
	if m.dialect == nil {
		return gate.Call{}, false, refuse(OptionsInvalid, nil, "the mind was not made by New")
	}
	if err := ctx.Err(); err != nil {
		return gate.Call{}, false, fmt.Errorf("ask the model: %w", err)
	}
	if !m.begun {
		m.begun = true
		m.talk.begin(m.options.Role, t)
	}
	m.talk.settle(t.Last)
	if m.inRow >= m.options.Failures {
		m.count(func(t *ensemble.Tally, n *Notes) { t.Nothing++; n.Skipped++ })
		return gate.Call{}, false, nil
	}
	a, ok, err := m.ask(ctx)
	var why *Error
	switch {
	case err != nil && ctx.Err() != nil:
		return gate.Call{}, false, fmt.Errorf("ask the model: %w", ctx.Err())
	case !errors.As(err, &why) && err != nil, why != nil && why.fatal():
		return gate.Call{}, false, err
	case why != nil:
		m.failed(why)
		return gate.Call{}, false, nil
	}
	m.inRow = 0
	if !ok {
		m.talk.nothing()
		m.count(func(t *ensemble.Tally, _ *Notes) { t.Nothing++ })
		return gate.Call{}, false, nil
	}
	return a, true, nil
}

// ask has one exchange with the endpoint. ok is false if the model asks for
// nothing.
func (m *Mind) ask(ctx context.Context) (c gate.Call, ok bool, err error) {
	body, err := m.dialect.ask(m.options, &m.talk)
	if err != nil {
		return c, false, fmt.Errorf("write a request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	data, err := m.post(ctx, body)
	if err != nil {
		return c, false, err
	}
	v, err := read(data)
	if err != nil {
		return c, false, err
	}
	h, err := m.dialect.hear(v)
	if err != nil || h.calls == 0 {
		return c, false, err
	}
	m.count(func(_ *ensemble.Tally, n *Notes) { n.Ignored += int64(h.calls - 1) })
	return m.take(h)
}

// take makes a call of the first one heard.
func (m *Mind) take(h heard) (c gate.Call, ok bool, err error) {
	a, err := understand(h.first())
	if err != nil {
		return c, false, err
	}
	if c, err = a.call(); err != nil {
		return gate.Call{}, false, err
	}
	if m.leaks(c) {
		return gate.Call{}, false, refuse(Leak, nil, "the call has the endpoint's own key in it")
	}
	if err := m.talk.asked(a); err != nil {
		return gate.Call{}, false, err
	}
	m.count(func(t *ensemble.Tally, _ *Notes) { t.Calls++ })
	return c, true, nil
}

// count notes a turn, or what belongs to one.
func (m *Mind) count(f func(*ensemble.Tally, *Notes)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.tally, &m.notes)
	t := &m.tally
	t.Turns = t.Calls + t.Nothing + t.Malformed + t.Refused + t.Late
}

// failed counts a turn without an answer that can be used, and tells the model of
// what it did wrong itself.
func (m *Mind) failed(why *Error) {
	m.inRow++
	m.count(func(t *ensemble.Tally, n *Notes) {
		n.Failures[why.Reason]++
		n.Last = why.Error()
		switch why.Reason {
		case Late:
			t.Late++
		case Declined, StatusOther, Unreachable:
			t.Refused++
		default:
			t.Malformed++
		}
	})
	switch why.Reason {
	case ToolUnknown, ArgumentsBad:
		m.talk.mistaken(why)
	case Declined:
		m.talk.nothing()
	}
}

// post sends a request and takes the body of a response that can be one.
func (m *Mind) post(ctx context.Context, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.options.URL+m.dialect.path(), bytes.NewReader(body))
	if err != nil {
		return nil, refuse(OptionsInvalid, nil, "the url of the endpoint cannot be asked")
	}
	req.GetBody = nil // so it is sent once
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", contentType)
	req.Header.Set("User-Agent", "iff")
	m.sign(req.Header)
	resp, err := m.options.Way.RoundTrip(req)
	if err != nil {
		return nil, broken(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refuse(StatusOther, nil, "the endpoint answered with status %d", resp.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != contentType {
		return nil, refuse(Malformed, nil, "the response is not of type %s", contentType)
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, refuse(Malformed, nil, "the response is packed, which was not asked for")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, broken(ctx, err)
	}
	if len(data) > maxAnswer {
		return nil, refuse(Malformed, nil, "the response has more than %d bytes", maxAnswer)
	}
	return data, nil
}

const contentType = "application/json"

// broken is why there is no response. What the transport says may quote the
// server, so only the host's own refusals are told.
func broken(ctx context.Context, err error) error {
	var ours *Error
	var r *gate.Refusal
	switch {
	case errors.As(err, &ours):
		return ours
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return refuse(Late, nil, "the endpoint did not answer in time")
	case errors.As(err, &r) && r.Reason != gate.HostFailed:
		return refuse(Unreachable, nil, "%s: %s", r.Reason, r.Detail)
	}
	return refuse(Unreachable, nil, "there is no connection to the endpoint, or it broke off")
}

// faultOf is what to make of a response that is an error of the endpoint's, or no
// object.
func faultOf(v value) error {
	if !v.isObject() {
		return refuse(Malformed, nil, "the response is no object")
	}
	return refuse(StatusOther, nil, "the endpoint answered with an error")
}
