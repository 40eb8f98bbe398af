package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/record"
)

// desk is where the questions of a home are read and answered: the inbox of its
// runtime, over the operator's socket. It connects when it is needed, and again
// after the runtime has ended. It is safe for concurrent use; Close waits for
// all that is under way.
type desk struct {
	path string // of the socket
	log  string // origin; questions of another log are not shown
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	watched *serve.Client // on which next waited; of next
	missed  bool          // next found nobody; of next

	mu     sync.Mutex
	client *serve.Client // nil while there is no connection; guarded by mu
	closed bool          // guarded by mu
}

func newDesk(ctx context.Context, h *home.Home) *desk {
	ctx, stop := context.WithCancel(ctx)
	return &desk{path: filepath.Join(h.SocketDir(), serve.OperatorSocket), log: h.Config().Log.Origin, ctx: ctx, stop: stop}
}

// Close ends the connection. Calls that are made later fail.
func (d *desk) Close() error {
	d.stop()
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.work.Wait()
	return d.drop(nil)
}

// call makes one call, on a new connection if there is none.
func (d *desk) call(method string, params, result any) error {
	c, err := d.connect()
	if err != nil {
		return err
	}
	return d.over(c, method, params, result)
}

// over makes a call on what connect gave.
func (d *desk) over(c *serve.Client, method string, params, result any) error {
	defer d.work.Done()
	err := c.Call(d.ctx, method, params, result)
	var lost *serve.Error
	if errors.As(err, &lost) {
		err = errors.Join(err, d.drop(c))
	}
	return err
}

// connect is the connection, which is for one call of over.
func (d *desk) connect() (*serve.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, context.Canceled
	}
	if d.client == nil {
		c, err := serve.Dial(d.ctx, d.path)
		if err != nil {
			return nil, err
		}
		d.client = c
	}
	d.work.Add(1)
	return d.client, nil
}

// drop forgets a connection, or any if which is nil.
func (d *desk) drop(which *serve.Client) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.client
	if c == nil || which != nil && c != which {
		return nil
	}
	d.client = nil
	return c.Close()
}

// list is what waits and what was answered lately.
func (d *desk) list() (serve.Inbox, error) {
	var in serve.Inbox
	err := d.call("inbox.list", nil, &in)
	return in, err
}

// next is list as soon as it has changed since, or at once on a new connection,
// where the runtime may be another one. If there was none a moment ago it takes
// its time. Only one goroutine calls it.
func (d *desk) next(since int64) (serve.Inbox, error) {
	if d.missed {
		select {
		case <-d.ctx.Done():
		case <-time.After(time.Second):
		}
	}
	var in serve.Inbox
	c, err := d.connect()
	switch {
	case err != nil:
	case c == d.watched:
		err = d.over(c, "inbox.wait", struct {
			Since int64 `json:"since"`
		}{since}, &in)
	default:
		err = d.over(c, "inbox.list", nil, &in)
	}
	d.watched, d.missed = c, err != nil
	if err != nil {
		d.watched = nil
	}
	return in, err
}

// question is one that waits, from which the rendering is made here. Its own
// word for which it is must be what was asked for.
func (d *desk) question(id string) (approval.Question, error) {
	var raw canonical.Raw
	err := d.call("inbox.get", struct {
		Request string `json:"request"`
	}{id}, &raw)
	if err != nil {
		return approval.Question{}, err
	}
	q, err := approval.ParseQuestion([]byte(raw.String()))
	if err == nil && (q.Request != id || q.Log != d.log) {
		err = &approval.Error{Reason: approval.QuestionInvalid, Detail: fmt.Sprintf("asked for request %s of log %s, the runtime shows %s of %s; do not answer it", id, d.log, q.Request, q.Log)}
	}
	return q, err
}

// answer brings answers, each to the question at its place. What is returned is
// as long.
func (d *desk) answer(ids []string, answers []approval.Answer) ([]serve.Answered, error) {
	var params struct {
		Answers []serve.Answer `json:"answers"`
	}
	for i, a := range answers {
		data, err := a.MarshalJSON()
		if err != nil {
			return nil, err
		}
		raw, err := canonical.NewRaw(data, canonical.Limits{Bytes: approval.MaxAnswer})
		if err != nil {
			return nil, err
		}
		params.Answers = append(params.Answers, serve.Answer{Request: ids[i], Answer: raw})
	}
	var out struct {
		Answered []serve.Answered `json:"answered"`
	}
	if err := d.call("inbox.answer", params, &out); err != nil {
		return nil, err
	}
	if len(out.Answered) != len(ids) {
		return nil, fmt.Errorf("the runtime says of %d answers what became of %d; see iff inbox", len(ids), len(out.Answered))
	}
	return out.Answered, nil
}

// notRunning says whether an error means that there is no runtime.
func notRunning(err error) bool {
	var e *serve.Error
	return errors.As(err, &e) && e.Reason == serve.NotRunning
}

// denial is an unsigned denial by a person.
func denial() approval.Answer {
	return approval.Answer{Choice: record.Deny, Cause: record.CauseHuman}
}
