package gate

import (
	"context"
	"sync"
	"time"
)

// term is the time that a step of a call has: a context that ends with it, and
// what is to be done if nobody has ended the step some time later. Every call has
// several steps, so that one timer does both, and a channel is made for who asks. A
// context made from it ends on a goroutine of package context, soon after.
type term struct {
	context.Context // that of the gate, which never ends
	until           time.Time
	grace           time.Duration
	late            func(begun chan<- struct{}) // nil: nothing is done

	mu    sync.Mutex
	timer *time.Timer
	done  chan struct{} // nil until somebody asks for it
	err   error         // nil as long as the context has not ended
	ended bool          // by end
	begun chan struct{} // of late, which closes it; nil before its time
}

// term begins a step. late is called grace after the time is over, unless the step
// has been ended by then, and closes the channel that it gets.
func (g *Gate) term(grace time.Duration, late func(begun chan<- struct{})) *term {
	t := &term{Context: g.base, until: time.Now().Add(g.limits.Call), grace: grace, late: late}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(g.limits.Call, t.ring)
	return t
}

// ring is called when the time is over, and once more when the grace is.
func (t *term) ring() {
	t.mu.Lock()
	switch {
	case t.ended:
	case t.err == nil && t.grace > 0:
		t.over(context.DeadlineExceeded)
		t.timer.Reset(t.grace)
	default:
		t.over(context.DeadlineExceeded)
		if t.late != nil {
			t.begun = make(chan struct{})
			defer t.late(t.begun)
		}
	}
	t.mu.Unlock()
}

// over ends the context, once.
func (t *term) over(why error) {
	if t.err != nil {
		return
	}
	t.err = why
	if t.done != nil {
		close(t.done)
	}
}

// end ends the step and its context. It is false where it was too late: then late
// has begun when end returns.
func (t *term) end() bool {
	t.mu.Lock()
	t.ended = t.begun == nil
	t.over(context.Canceled)
	t.mu.Unlock()
	if !t.ended {
		<-t.begun
		return false
	}
	t.timer.Stop()
	return true
}

// Deadline implements [context.Context].
func (t *term) Deadline() (time.Time, bool) { return t.until, true }

// Done implements [context.Context].
func (t *term) Done() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done == nil {
		t.done = make(chan struct{})
		if t.err != nil {
			close(t.done)
		}
	}
	return t.done
}

// Err implements [context.Context].
func (t *term) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
