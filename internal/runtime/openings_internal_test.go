package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

// taken counts barriers, each of which ends when it is let go.
type taken struct {
	mu    sync.Mutex
	began int
	gate  chan error
}

func (t *taken) take(ctx context.Context) error {
	t.mu.Lock()
	t.began++
	t.mu.Unlock()
	select {
	case err := <-t.gate:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *taken) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.began
}

func TestOpeningsShareTheNextBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o openings
		b := &taken{gate: make(chan error)}
		errs := make(chan error, 9)
		ask := func(ctx context.Context) { go func() { errs <- o.barrier(ctx, b.take) }() }
		ask(t.Context())
		synctest.Wait() // the first is under way: it began before the others asked
		for range 8 {
			ask(t.Context())
		}
		synctest.Wait()
		if n := b.count(); n != 1 {
			t.Fatalf("%d barriers at once", n)
		}
		b.gate <- nil
		synctest.Wait()
		if n := b.count(); n != 2 || len(errs) != 1 {
			t.Fatalf("%d barriers, %d answers; those who asked while one was taken need another", n, len(errs))
		}
		failed := errors.New("unread")
		b.gate <- failed
		synctest.Wait()
		if n := b.count(); n != 2 || len(errs) != 9 {
			t.Fatalf("%d barriers, %d answers", n, len(errs))
		}
		for i := range 9 {
			if err := <-errs; (i > 0) != errors.Is(err, failed) {
				t.Errorf("answer %d is %v", i, err)
			}
		}
	})
}

func TestOpeningsOutliveWhoTookTheBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o openings
		b := &taken{gate: make(chan error)}
		first, second, third := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { first <- o.barrier(t.Context(), b.take) }()
		synctest.Wait()
		leader, leave := context.WithCancel(t.Context())
		go func() { second <- o.barrier(leader, b.take) }()
		synctest.Wait()
		go func() { third <- o.barrier(t.Context(), b.take) }()
		synctest.Wait()
		b.gate <- nil
		synctest.Wait()
		leave()
		synctest.Wait()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("who went away has %v", err)
		}
		b.gate <- nil
		if err := <-third; err != nil || b.count() != 3 || <-first != nil {
			t.Errorf("who stayed has %v after %d barriers", err, b.count())
		}
	})
}

// Of a barrier that breaks nobody hears that it was taken.
func TestOpeningsOfABarrierThatBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o openings
		b := &taken{gate: make(chan error)}
		first, second, third := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { first <- o.barrier(t.Context(), b.take) }()
		synctest.Wait()
		go func() {
			defer func() { second <- fmt.Errorf("%v", recover()) }()
			_ = o.barrier(t.Context(), func(context.Context) error { panic("broken") })
		}()
		synctest.Wait()
		go func() { third <- o.barrier(t.Context(), b.take) }()
		synctest.Wait()
		b.gate <- nil
		if err := <-second; err.Error() != "broken" || <-first != nil {
			t.Errorf("who took it has %v", err)
		}
		if err := <-third; !errors.Is(err, errBroken) {
			t.Errorf("who waited for it has %v", err)
		}
	})
}
