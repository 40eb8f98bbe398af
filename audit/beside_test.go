package audit_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// beside runs a function again and again while a log in files is appended to, in batches that are long enough to be seen half written,
// and once more when that is over.
func beside(t *testing.T, f func(dir string, l *audit.Log) error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	store, err := file.Create(durable.OS(), dir, &file.Options{SegmentBytes: 3 << 20})
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), audit.Options{CheckpointEvery: 900})
	must(t, err)
	done := make(chan struct{})
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		defer close(done)
		for i := 0; i < 60 && failed == nil; i++ {
			var entries []record.Entry
			for j := range 1 + i%20*20 {
				entries = append(entries, small(1000+j))
			}
			_, failed = l.Append(context.Background(), append(entries, call(i)...)...)
		}
	})
	runs := 0
	for last := false; !last; runs++ {
		select {
		case <-done:
			last = true
		default:
		}
		if err := f(dir, l); err != nil {
			t.Errorf("time %d: %v", runs, err)
			break
		}
	}
	wg.Wait()
	must(t, errors.Join(failed, l.Close()))
	t.Logf("%d times", runs)
}

// The owner of a log proves records while others append.
func TestProofsBeside(t *testing.T) {
	v, err := audit.Verifier(origin, trusttest.NewKey(1).Public())
	must(t, err)
	beside(t, func(_ string, l *audit.Log) error {
		view := l.View()
		_, size := view.Newest()
		for seq := range min(size, 3) {
			for _, n := range []int64{seq, size / 2, size - 1 - seq} {
				r, err := view.Receipt(context.Background(), n)
				if err != nil {
					return err
				}
				if _, err := r.Check(v); err != nil {
					return err
				}
			}
		}
		if size > 1 {
			if _, err := view.Consistency(context.Background(), size/2, size); err != nil {
				return err
			}
		}
		l.State().Calls()
		return nil
	})
}

// Another process reads a log while its owner appends: always a beginning of it, never an error.
func TestReadBeside(t *testing.T) {
	var before int64
	beside(t, func(dir string, _ *audit.Log) error {
		store, err := file.OpenRead(durable.OS(), dir)
		if err != nil {
			return err
		}
		defer store.Close()
		v, err := audit.Read(context.Background(), store, pin(), options(), trusttest.NewKey(1).Public())
		if err != nil {
			return err
		}
		if v.Size() < before {
			return errors.New("it got shorter")
		}
		before = v.Size()
		_, err = v.Find(context.Background(), v.Size()-1)
		return err
	})
}

// Another process verifies a log while its owner appends. A batch that is being written may look like a torn one, and like nothing else;
// looked at again it is whole.
func TestVerifyBeside(t *testing.T) {
	unfinished := 0
	beside(t, func(dir string, _ *audit.Log) error {
		for range 100 {
			store, err := file.OpenRead(durable.OS(), dir)
			if err != nil {
				return err
			}
			rep, err := audit.Verify(context.Background(), store, audit.VerifyOptions{Pin: pin()})
			if err := errors.Join(err, store.Close()); err != nil || rep.Holds() {
				return err
			}
			if !slices.Contains([]audit.Reason{audit.LineInvalid, audit.LineUnended, audit.LineBlank}, rep.Problem.Reason) {
				return rep.Problem.Error()
			}
			unfinished++
		}
		return errors.New("it never holds")
	})
	t.Logf("%d times a batch was half written", unfinished)
}

// What a log was when it was opened stays what it was while the log goes on, also where it has to be read anew.
func TestViewOfAnOpenedLogStays(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, rarely())
	_, err := l.Append(t.Context(), small(1), small(2), small(3), small(4), small(5), small(6))
	must(t, err)
	must(t, l.Close()) // as the eighth record: one node is all of the tree, until eight more stand there
	inner, err := m.Open()
	must(t, err)
	store := &hooked{Store: inner}
	l, _, err = audit.Open(t.Context(), store, pin(), rarely(), trusttest.NewKey(1))
	must(t, err)
	v := l.View()
	before, err := v.Find(t.Context(), 3)
	must(t, err)
	_, err = l.Append(t.Context(), append(call(1), call(2)...)...)
	must(t, err)
	failed := 0
	store.blocks = func(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
		if failed++; failed == 1 {
			return func(yield func(audit.Block, error) bool) { yield(audit.Block{}, errors.New("the disk fails once")) }
		}
		return inner.Blocks(ctx, from)
	}
	after, err := v.Find(t.Context(), 3)
	if err != nil || failed < 2 || string(after.Line) != string(before.Line) {
		t.Errorf("%v, read %d times: %s, was %s", err, failed, after.Line, before.Line)
	}
	store.blocks = nil
	must(t, l.Close())
}
