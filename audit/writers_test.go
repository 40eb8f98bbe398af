package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// ticking is a clock that never shows the same time twice.
func ticking() func() time.Time {
	var mu sync.Mutex
	now := clock()
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Microsecond)
		return now
	}
}

// 512 goroutines append to one log: no gap, one chain, a plain tree, each record where its mark says, those of one Append together.
func TestManyWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	store, err := file.Create(durable.OS(), dir, &file.Options{SegmentBytes: 200_000})
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), audit.Options{Now: ticking(), CheckpointEvery: 500})
	must(t, err)
	const writers, each = 512, 3
	var wg sync.WaitGroup
	marks := make([][]record.Mark, writers*each)
	failed := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := w*each + i
				for _, part := range [][]record.Entry{call(n)[:2], call(n)[2:]} {
					m, err := l.Append(context.Background(), part...)
					if err != nil {
						failed <- err
						return
					}
					marks[n] = append(marks[n], m...)
				}
				if n%300 == 0 {
					if _, err := l.Checkpoint(context.Background()); err != nil {
						failed <- err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Fatal(err)
	}
	must(t, l.Close())

	read, err := file.OpenRead(durable.OS(), dir)
	must(t, err)
	lines, err := linesOf(t.Context(), read)
	must(t, err)
	rep, err := audit.Verify(t.Context(), read, audit.VerifyOptions{Pin: pin(), Blobs: true})
	must(t, err)
	if !rep.Holds() || rep.Records != int64(len(lines)) || rep.Segments < 3 || rep.State != l.State().Digest() {
		t.Fatalf("%+v", rep)
	}
	if root, err := plainRoot(lines); err != nil || root != rep.Root {
		t.Errorf("the root is not that of a plain tree: %v", err)
	}
	if len(rep.Calls) != 0 {
		t.Errorf("open calls: %v", rep.Calls)
	}
	for n, m := range marks {
		for i, mark := range m {
			r, err := record.ParseLine(string(lines[mark.Seq]))
			must(t, err)
			if record.Leaf(lines[mark.Seq]) != mark.Hash || mark.Seq != m[i&^1].Seq+int64(i&1) || r.Request != call(n)[i].Request || r.Body.Kind() != call(n)[i].Body.Kind() {
				t.Fatalf("call %d, record %d is not at its mark %d", n, i, mark.Seq)
			}
		}
	}
	again, err := replayed(t, lines)
	must(t, err)
	if !slices.EqualFunc(again, lines, bytes.Equal) {
		t.Error("the same entries in the same batches at the same times make another log")
	}
}

// Appends that nothing interrupts, a few at a time so that most are written by who appends, while the log is closed: each is
// durable or refused, and none is lost.
func TestAloneWhileClosing(t *testing.T) {
	for round := range 20 {
		m := &audittest.Memory{}
		store, err := m.Open()
		must(t, err)
		l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), audit.Options{Now: ticking(), CheckpointEvery: 8})
		must(t, err)
		var wg sync.WaitGroup
		var told [3][]record.Mark
		for w := range told {
			wg.Go(func() {
				for n := w; ; n += len(told) {
					marks, err := l.Append(context.Background(), call(n)[:2]...)
					var e *audit.Error
					if errors.As(err, &e) && e.Reason == audit.LogClosed {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					told[w] = append(told[w], marks...)
				}
			})
		}
		time.Sleep(time.Duration(round) * 100 * time.Microsecond)
		must(t, l.Close())
		wg.Wait()
		lines, err := linesOfMemory(t, m, nil)
		must(t, err)
		for _, mark := range slices.Concat(told[:]...) {
			if mark.Seq >= int64(len(lines)) || record.Leaf(lines[mark.Seq]) != mark.Hash {
				t.Fatalf("record %d of %d was told to be durable", mark.Seq, len(lines))
			}
		}
	}
}

// replayed is the log that the records of another one make, appended batch by batch by one writer.
func replayed(t *testing.T, lines [][]byte) ([][]byte, error) {
	var records []record.Record
	for _, line := range lines {
		r, err := record.ParseLine(string(line))
		if err != nil {
			return nil, err
		}
		if back, err := r.Line(); err != nil || !bytes.Equal(back, line) {
			return nil, fmt.Errorf("record %d is written as %s, %w", r.Seq, back, err)
		}
		records = append(records, r)
	}
	m := &audittest.Memory{}
	return linesOfMemory(t, m, rewrite(t, m, records))
}

// rewrite makes a log of records on a disk, with the keys of these tests: in the same batches, at the same times.
func rewrite(t testing.TB, m *audittest.Memory, records []record.Record) error {
	t.Helper()
	var times []time.Time // of the batches to come
	next := func() time.Time {
		now := times[0]
		if len(times) > 1 {
			times = times[1:]
		}
		return now
	}
	opts := audit.Options{Now: next, CheckpointEvery: 1 << 40}
	store, err := m.Open()
	if err != nil {
		return err
	}
	times = []time.Time{records[0].Time}
	l, err := audit.Create(t.Context(), store, records[0].Body.(record.Init), logKeys()[0], opts)
	if err != nil {
		return err
	}
	keys := logKeys()[1:]
	for rest := records[1:]; len(rest) > 0 && err == nil; {
		n := 1
		for n < len(rest) && rest[n].Batch == rest[0].Batch {
			n++
		}
		times = []time.Time{rest[0].Time}
		switch rest[0].Body.(type) {
		case record.Checkpoint:
			_, err = l.Checkpoint(t.Context())
		case record.KeyRotated:
			if n < len(rest) { // Rotate makes the checkpoint behind it too
				if _, ok := rest[n].Body.(record.Checkpoint); ok {
					times = append(times, rest[n].Time)
					n++
				}
			}
			err = l.Rotate(t.Context(), keys[0])
			keys = keys[1:]
		default:
			var entries []record.Entry
			for _, r := range rest[:n] {
				entries = append(entries, record.Entry{Session: r.Session, Request: r.Request, Body: r.Body})
			}
			_, err = l.Append(t.Context(), entries...)
		}
		rest = rest[n:]
	}
	return errors.Join(err, l.Close())
}

func linesOfMemory(t testing.TB, m *audittest.Memory, err error) ([][]byte, error) {
	t.Helper()
	if err != nil {
		return nil, err
	}
	store, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return linesOf(t.Context(), store)
}

// A second process is refused, and told which one has the log. Reading goes on beside.
func TestSecondWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	store, err := file.Create(durable.OS(), dir, nil)
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), options())
	must(t, err)
	out, err := child("second", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if want := fmt.Sprintf("process %d", os.Getpid()); !strings.Contains(string(out), want) || !strings.Contains(string(out), "read 1 records") {
		t.Errorf("the second process says %q; the log is held by %s", out, want)
	}
	_, err = l.Append(t.Context(), call(1)...)
	must(t, err)
	must(t, l.Close())
}
