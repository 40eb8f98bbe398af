package anchor

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// fake is an anchor that does as told.
type fake struct {
	name string
	put  func(ctx context.Context, size int64) error

	mu    sync.Mutex
	taken []int64
	tried []time.Duration // since start
	start time.Time
}

func newFake(name string, put func(ctx context.Context, size int64) error) *fake {
	return &fake{name: name, put: put, start: time.Now()}
}

func (f *fake) Name() string { return f.name }

func (f *fake) Put(ctx context.Context, checkpoint []byte, _ Extend) error {
	_, h, err := unsigned(checkpoint)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.tried = append(f.tried, time.Since(f.start))
	f.mu.Unlock()
	if err := f.put(ctx, h.size); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = append(f.taken, h.size)
	return nil
}

func (f *fake) Newest(context.Context) (Vouched, bool, error) { return Vouched{}, false, nil }

var errPlanted = errors.New("planted")

func takes(context.Context, int64) error   { return nil }
func refuses(context.Context, int64) error { return errPlanted }

func slow(d time.Duration) func(context.Context, int64) error {
	return func(ctx context.Context, _ int64) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func publish(t *testing.T, s *Set, l *witnesstest.Log, sizes ...int64) {
	t.Helper()
	for _, size := range sizes {
		if err := s.Publish(l.Checkpoint(size), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Newest wins: what came while an anchor was busy is one checkpoint, the largest.
func TestSetNewestWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := grown(20)
		quick, busy := newFake("quick", takes), newFake("busy", slow(time.Second))
		s := NewSet(t.Context(), []Anchor{quick, busy}, SetOptions{})
		publish(t, s, l, 1)
		synctest.Wait()
		publish(t, s, l, 2, 9, 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if !reflect.DeepEqual(busy.taken, []int64{1, 9}) || quick.taken[len(quick.taken)-1] != 3 && quick.taken[len(quick.taken)-1] != 9 {
			t.Errorf("%v %v", busy.taken, quick.taken)
		}
	})
}

// A failing anchor is asked again after pauses that grow, with the newest, and does not hold up the others.
func TestSetTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := grown(20)
		fails := 4
		flaky := newFake("flaky", func(_ context.Context, size int64) error {
			if fails--; fails >= 0 {
				return errPlanted
			}
			return nil
		})
		quick := newFake("quick", takes)
		s := NewSet(t.Context(), []Anchor{flaky, quick}, SetOptions{})
		publish(t, s, l, 1)
		time.Sleep(2 * time.Second)
		publish(t, s, l, 5)
		synctest.Wait()
		st := s.Status()
		if st[0].Name != "flaky" || st[0].Size != 0 || st[0].Waiting != 5 || !errors.Is(st[0].Err, errPlanted) || st[0].Tries != 2 || st[0].Failed.IsZero() {
			t.Errorf("%+v", st[0])
		}
		if st[1] != (Status{Name: "quick", Size: 5, Taken: time.Now()}) {
			t.Errorf("%+v", st[1])
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if st := s.Status()[0]; st.Size != 5 || st.Waiting != 0 || st.Err != nil || st.Tries != 0 || !st.Failed.IsZero() || st.Taken.IsZero() {
			t.Errorf("%+v", st)
		}
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second}; !reflect.DeepEqual(flaky.tried, want) {
			t.Errorf("%v", flaky.tried)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSetPausesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := newFake("never", refuses)
		s := NewSet(t.Context(), []Anchor{never}, SetOptions{})
		publish(t, s, grown(1), 1)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := len(never.tried); n < 24*12 || n > 24*12+10 {
			t.Errorf("asked %d times in a day", n)
		}
		if err := s.Close(); !errors.Is(err, errPlanted) {
			t.Errorf("%v", err)
		}
	})
}

// Close tries once more what waits, even in a pause, and says what was not taken.
func TestSetClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := grown(9)
		up := false
		late := newFake("late", func(context.Context, int64) error {
			if !up {
				return errPlanted
			}
			return nil
		})
		s := NewSet(t.Context(), []Anchor{late, newFake("never", refuses)}, SetOptions{})
		publish(t, s, l, 9)
		synctest.Wait()
		up = true
		err := s.Close()
		if !errors.Is(err, errPlanted) || !reflect.DeepEqual(late.taken, []int64{9}) {
			t.Errorf("%v %v", err, late.taken)
		}
		if err := s.Publish(l.Checkpoint(9), nil); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if again := s.Close(); !errors.Is(again, errPlanted) {
			t.Errorf("a second Close: %v", again)
		}
	})
}

// Close waits for its grace, tells anchors to give up, and leaves behind one that does not.
func TestSetCloseIsBounded(t *testing.T) {
	for what, c := range map[string]struct {
		put  func(ctx context.Context, size int64) error
		took time.Duration
		ok   bool
	}{
		"in time":         {slow(2 * time.Second), 2 * time.Second, true},
		"gives up":        {slow(time.Hour), 3 * time.Second, false},
		"does not listen": {func(context.Context, int64) error { time.Sleep(time.Hour); return errPlanted }, 6 * time.Second, false},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewSet(t.Context(), []Anchor{newFake("a", c.put), newFake("b", takes)}, SetOptions{Grace: 3 * time.Second})
				publish(t, s, grown(1), 1)
				synctest.Wait()
				start := time.Now()
				err := s.Close()
				if took := time.Since(start); took != c.took || (err == nil) != c.ok {
					t.Errorf("%v %v", took, err)
				}
				time.Sleep(2 * time.Hour) // what was left behind ends too
			})
		})
	}
}

func TestSetEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFake("a", slow(time.Hour))
		s := NewSet(ctx, []Anchor{f, newFake("idle", takes)}, SetOptions{})
		publish(t, s, grown(1), 1)
		synctest.Wait()
		cancel()
		synctest.Wait()
		for _, l := range s.lanes {
			select {
			case <-l.done:
			default:
				t.Error("still running")
			}
		}
		if err := s.Close(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

func TestSetOfNone(t *testing.T) {
	s := NewSet(t.Context(), nil, SetOptions{})
	if err := s.Publish(grown(1).Checkpoint(1), nil); err != nil {
		t.Error(err)
	}
	if err := s.Publish([]byte("junk"), nil); reasonOf(t, err) != Invalid {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// With real anchors, several writers publish and the largest arrives everywhere.
func TestSetTogether(t *testing.T) {
	l := grown(40)
	d, w := newDisk(t), newWitness(t, l)
	file, client := mustFile(t, d, l), clientOf(t, d, l, w.VerifierKey(), w)
	s := NewSet(t.Context(), []Anchor{file, client}, SetOptions{})
	var mu sync.Mutex
	next := int64(1)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				mu.Lock()
				size := next
				next++
				if size > 40 {
					mu.Unlock()
					return
				}
				if err := s.Publish(l.Checkpoint(size), extend(l, size)); err != nil {
					t.Error(err)
				}
				mu.Unlock()
				s.Status()
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if stands(t, file) != 40 || stands(t, client) != 40 {
		t.Errorf("%d %d", stands(t, file), stands(t, client))
	}
}

func TestBackoff(t *testing.T) {
	for tries := 1; tries < 200; tries++ {
		if p := backoff(tries); p < firstPause || p > longPause || tries > 1 && p < backoff(tries-1) {
			t.Errorf("%d: %v", tries, p)
		}
	}
}
