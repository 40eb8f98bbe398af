package anchor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

const (
	firstPause = time.Second
	longPause  = 5 * time.Minute
	// defaultGrace is how long Close lets anchors take what waits.
	defaultGrace = 5 * time.Second
)

// SetOptions are for [NewSet]. The zero value is good.
type SetOptions struct {
	// Grace is how long Close waits for anchors to take what waits, and then once more for them to give up; zero is five seconds.
	Grace time.Duration
}

// Status is what is known of one anchor since its set was made.
type Status struct {
	Name    string
	Size    int64     // of the newest checkpoint it has taken; 0 if none
	Taken   time.Time // when; zero if never
	Waiting int64     // size of the checkpoint that it has not taken; 0 if none
	Err     error     // of the last try; nil if it succeeded
	Failed  time.Time // when; zero if the last try succeeded
	Tries   int       // that failed, one after the other
}

// Set hands checkpoints to anchors in the background. Make one with [NewSet]; Close ends its goroutines, one for each anchor.
type Set struct {
	lanes   []*lane
	cancel  context.CancelFunc
	closing chan struct{}
	once    sync.Once
	grace   time.Duration
}

// lane is the way to one anchor. Only the newest checkpoint waits in it.
type lane struct {
	anchor Anchor
	wake   chan struct{} // has room for one
	done   chan struct{} // closed when its goroutine ends

	mu     sync.Mutex // guards what follows
	next   *parcel    // not taken yet; nil if nothing waits
	status Status
	closed bool
}

type parcel struct {
	checkpoint []byte
	size       int64
	extend     Extend
}

// NewSet starts to hand out checkpoints. ctx is given to the anchors; when it ends, so does the set.
func NewSet(ctx context.Context, anchors []Anchor, opts SetOptions) *Set {
	ctx, cancel := context.WithCancel(ctx)
	s := &Set{cancel: cancel, closing: make(chan struct{}), grace: opts.Grace}
	if s.grace <= 0 {
		s.grace = defaultGrace
	}
	for _, a := range anchors {
		l := &lane{anchor: a, wake: make(chan struct{}, 1), done: make(chan struct{}), status: Status{Name: a.Name()}}
		s.lanes = append(s.lanes, l)
		go l.run(ctx, s.closing)
	}
	return s
}

// Publish has every anchor given a checkpoint, in place of a smaller one that still waits. It does not wait itself. extend goes
// with this checkpoint and is called from other goroutines, later. What is not a checkpoint is anchor-invalid; after Close the
// error is fs.ErrClosed.
func (s *Set) Publish(checkpoint []byte, extend Extend) error {
	_, h, err := unsigned(checkpoint)
	if err != nil {
		return &Error{Reason: Invalid, Anchor: "set", Detail: "what was handed in is not a checkpoint: " + err.Error(), Err: err}
	}
	p := &parcel{append([]byte(nil), checkpoint...), h.size, extend}
	for _, l := range s.lanes {
		if !l.put(p) {
			return fmt.Errorf("anchors: %w", fs.ErrClosed)
		}
	}
	return nil
}

// Status tells of each anchor, in the order of NewSet.
func (s *Set) Status() []Status {
	var out []Status
	for _, l := range s.lanes {
		l.mu.Lock()
		out = append(out, l.status)
		l.mu.Unlock()
	}
	return out
}

// Close tries once more what waits, for as long as the grace, and then ends the set. The error joins what the anchors that have
// not taken the newest checkpoint said last. An anchor that does not come back even when it is told to stop, such as a file on a
// server that hangs, is left behind after another grace.
func (s *Set) Close() error {
	s.once.Do(func() {
		for _, l := range s.lanes {
			l.close()
		}
		close(s.closing)
	})
	deadline := time.NewTimer(s.grace)
	defer deadline.Stop()
	if !s.wait(deadline.C) {
		s.cancel()
		deadline.Reset(s.grace)
		s.wait(deadline.C)
	}
	s.cancel()
	return s.missed()
}

// wait says whether every goroutine ended in time.
func (s *Set) wait(deadline <-chan time.Time) bool {
	for _, l := range s.lanes {
		select {
		case <-l.done:
		case <-deadline:
			return false
		}
	}
	return true
}

func (s *Set) missed() error {
	var missed error
	for _, st := range s.Status() {
		if st.Waiting == 0 {
			continue
		}
		if st.Err == nil {
			st.Err = &Error{Reason: Unreachable, Anchor: st.Name, Detail: "it was not asked, or has not answered, before the end; the next start asks it again"}
		}
		missed = errors.Join(missed, fmt.Errorf("the checkpoint of size %d was not taken: %w", st.Waiting, st.Err))
	}
	return missed
}

// put leaves a parcel for the anchor unless a larger one waits; false if the lane is closed.
func (l *lane) put(p *parcel) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.next == nil || l.next.size <= p.size {
		l.next, l.status.Waiting = p, p.size
	}
	select {
	case l.wake <- struct{}{}:
	default: // it has been woken
	}
	return true
}

func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

func (l *lane) waiting() *parcel {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// run is the lane's goroutine: what waits is tried, with pauses that grow while it fails. When the set closes, a pause ends and
// what waits is tried a last time.
func (l *lane) run(ctx context.Context, closing <-chan struct{}) {
	defer close(l.done)
	for last := false; ; {
		pause := l.try(ctx)
		if last || ctx.Err() != nil {
			return
		}
		wake, timer := (<-chan struct{})(l.wake), (<-chan time.Time)(nil)
		if pause > 0 {
			wake, timer = nil, time.After(pause)
		}
		select {
		case <-wake:
		case <-timer:
		case <-closing:
			last = true
		case <-ctx.Done():
			return
		}
	}
}

// try hands over what waits, if anything does, and gives how long to pause before the next try, 0 if it succeeded.
func (l *lane) try(ctx context.Context) time.Duration {
	p := l.waiting()
	if p == nil {
		return 0
	}
	err := l.anchor.Put(ctx, p.checkpoint, p.extend)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	st := &l.status
	if err != nil {
		st.Err, st.Failed = err, now
		st.Tries++
		return backoff(st.Tries)
	}
	st.Size, st.Taken, st.Err, st.Failed, st.Tries = p.size, now, nil, time.Time{}, 0
	if l.next == p {
		l.next, st.Waiting = nil, 0
	}
	return 0
}

// backoff is 1, 2, 4 seconds and so on.
func backoff(tries int) time.Duration {
	return min(firstPause<<min(tries-1, 20), longPause)
}
