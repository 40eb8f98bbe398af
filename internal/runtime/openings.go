package runtime

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// openings let those who ask for a barrier at the same time share one: each gets one
// that began after it asked. The zero value is ready.
type openings struct {
	mu   sync.Mutex
	next *opening // that is to begin; guarded by mu
	now  *opening // the newest that has begun; guarded by mu
}

type opening struct {
	done chan struct{}
	err  error // once done is closed; until take has come back it is errBroken
}

// errBroken is what those hear who waited for a barrier that broke.
var errBroken = errors.New("the barrier was not taken")

// barrier waits for a barrier that begins from now on, or takes it.
func (o *openings) barrier(ctx context.Context, take func(context.Context) error) error {
	for {
		o.mu.Lock()
		one := o.next
		if one == nil {
			one = &opening{done: make(chan struct{}), err: errBroken}
			o.next = one
			o.mu.Unlock()
			runtime.Gosched() // who asks at the same moment is to come in time
			return o.lead(ctx, one, take)
		}
		o.mu.Unlock()
		select {
		case <-one.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		// Who took it may have gone away; that is not the end of those who waited.
		if !errors.Is(one.err, context.Canceled) && !errors.Is(one.err, context.DeadlineExceeded) {
			return one.err
		}
	}
}

// lead takes one when the one before is over: only one leader waits at a time.
func (o *openings) lead(ctx context.Context, one *opening, take func(context.Context) error) error {
	defer close(one.done)
	o.mu.Lock()
	before := o.now
	o.mu.Unlock()
	var err error
	if before != nil {
		select {
		case <-before.done:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	o.mu.Lock()
	o.next = nil
	if err == nil {
		o.now = one
	}
	o.mu.Unlock()
	if err == nil {
		err = take(ctx)
	}
	one.err = err
	return err
}
