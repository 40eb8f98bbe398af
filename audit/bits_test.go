package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// specimen is a log of some 200 records, and for each checkpoint in it the disk as it would be if that were the newest snapshot: so
// that what a change does is seen without reading the log from its beginning each time.
type specimen struct {
	data   []byte
	lines  [][]byte
	starts []int // of the lines
	batch  []int64
	disks  []*audittest.Memory
	sizes  []int64 // of the checkpoints
}

// newSpecimen makes one that ends with a close, or with a crash that left the last batch whole.
func newSpecimen(t *testing.T, closed bool) *specimen {
	t.Helper()
	m := &audittest.Memory{}
	inner, err := m.Open()
	must(t, err)
	s := new(specimen)
	var snapshots [][]byte
	saved := make(chan []byte, 1)
	store := &hooked{Store: inner, save: func(ctx context.Context, name string, data []byte) error {
		if name == "snapshot" {
			saved <- bytes.Clone(data)
		}
		return inner.Save(ctx, name, data)
	}}
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), rarely())
	must(t, err)
	for i := range 46 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
		if i%3 == 0 {
			note, err := l.Checkpoint(t.Context())
			must(t, err)
			snapshots = append(snapshots, <-saved)
			v, err := audit.Verifier(origin, trusttest.NewKey(1).Public())
			must(t, err)
			c, err := audit.OpenCheckpoint(note, v)
			must(t, err)
			s.sizes = append(s.sizes, c.Size)
		}
	}
	_, err = l.Append(t.Context(), call(100)[:3]...)
	must(t, err)
	end := m.Copy()
	must(t, l.Close())
	if closed {
		end = m.Copy()
	}
	must(t, end.Edit(0, func(b []byte) []byte { s.data = bytes.Clone(b); return b }))
	at := 0
	for line := range bytes.Lines(s.data) {
		s.starts = append(s.starts, at)
		at += len(line)
		line = bytes.TrimSuffix(line, []byte("\n"))
		r, err := record.ParseLine(string(line))
		must(t, err)
		s.lines, s.batch = append(s.lines, line), append(s.batch, r.Batch)
	}
	for i := range s.sizes {
		d := end.Copy()
		keep(t, d, "snapshot", snapshots[i])
		s.disks = append(s.disks, d)
	}
	return s
}

// disk is a copy of the log with other lines, and the newest snapshot whose checkpoint's record is before line n.
func (s *specimen) disk(n int, data []byte) (*audittest.Memory, error) {
	i := len(s.sizes) - 1
	for i >= 0 && s.sizes[i] >= int64(n) {
		i--
	}
	if i < 0 {
		d := s.disks[0].Copy()
		store, err := d.Open()
		if err != nil {
			return nil, err
		}
		if err := store.Save(context.Background(), "snapshot", nil); err != nil {
			return nil, err
		}
		return d, firstError(store.Close(), d.Edit(0, func([]byte) []byte { return data }))
	}
	d := s.disks[i].Copy()
	return d, d.Edit(0, func([]byte) []byte { return data })
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// opened is what is there once the log was opened; an error is a refusal.
func opened(d *audittest.Memory) (lines [][]byte, err error) {
	store, err := d.Open()
	if err != nil {
		return nil, err
	}
	l, _, err := openLog(context.Background(), store, rarely())
	if err != nil {
		return nil, err
	}
	lines, err = linesOf(context.Background(), store)
	return lines, firstError(err, l.Close())
}

// judge says whether what became of a log, whose line n is the first that was changed or cut, is right: a refusal, or the exact
// lines before it and behind them nothing but what the recovery says. A log whose line n belongs to a batch that others follow is
// refused.
func (s *specimen) judge(n int, cutOff bool, got [][]byte, err error) error {
	if err != nil {
		if reasonOf(err) == "" {
			return fmt.Errorf("no reason is given: %w", err)
		}
		return nil
	}
	if last := s.batch[len(s.batch)-1]; !cutOff && last > int64(n) {
		return fmt.Errorf("it opens, with %d records, though batch %d follows", len(got), last)
	}
	if len(got) < n {
		return fmt.Errorf("%d lines are left of %d", len(got), n)
	}
	for i, line := range got {
		if i < n {
			if !bytes.Equal(line, s.lines[i]) {
				return fmt.Errorf("line %d is another", i)
			}
			continue
		}
		r, err := record.ParseLine(string(line))
		if err != nil {
			return err
		}
		if _, ok := r.Body.(record.Recovery); !ok {
			return silent{i, line}
		}
	}
	return nil
}

// silent is a line that stands for another one and was not noticed.
type silent struct {
	seq  int
	line []byte
}

func (s silent) Error() string { return fmt.Sprintf("line %d is %s", s.seq, s.line) }

// parallel calls f for 0 to n-1.
func parallel(n int, f func(int) error) error {
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += len(errs) {
				errs[w] = f(i)
			}
		})
	}
	wg.Wait()
	return firstError(errs...)
}

func (s *specimen) lineAt(offset int) int {
	n := 0
	for n+1 < len(s.starts) && s.starts[n+1] <= offset {
		n++
	}
	return n
}

func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{true, false} {
		s := newSpecimen(t, closed)
		err := parallel(len(s.data), func(at int) error {
			if around := s.data[max(at-2, 0):min(at+2, len(s.data))]; !*everything && at%(97*sparser) != 0 && !bytes.Contains(around, []byte("\n")) {
				return nil
			}
			n := bytes.Count(s.data[:at], []byte("\n"))
			d, err := s.disk(n, bytes.Clone(s.data[:at]))
			if err != nil {
				return err
			}
			got, err := opened(d)
			if err == nil && n == 0 {
				return fmt.Errorf("cut at %d: it opens", at)
			}
			if err != nil && n > 0 {
				return fmt.Errorf("cut at %d: refused, which a crash could have left: %w", at, err)
			}
			if err := s.judge(n, true, got, err); err != nil {
				return fmt.Errorf("cut at %d: %w", at, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		t.Logf("closed %v: %d records, %d bytes", closed, len(s.lines), len(s.data))
	}
}

func TestEveryBit(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{true, false} {
		s := newSpecimen(t, closed)
		silents := 0
		var mu sync.Mutex
		err := parallel(len(s.data), func(at int) error {
			for bit := range 8 {
				last := at >= s.starts[len(s.starts)-1]
				if sample := at*8 + bit; !*everything && sample%(1021*sparser) != 0 && (!last || sample%(5*sparser) != 0) {
					continue
				}
				n := s.lineAt(at)
				end := len(s.data)
				if *everything && n+12 < len(s.starts) && (at*8+bit)%509 != 0 {
					end = s.starts[n+12] // the batches that follow at once are enough to refuse
				}
				data := bytes.Clone(s.data[:end])
				data[at] ^= 1 << bit
				d, err := s.disk(n, data)
				if err != nil {
					return err
				}
				got, err := opened(d)
				err = s.judge(n, false, got, err)
				if unnoticed, ok := err.(silent); ok && last {
					mu.Lock()
					silents++
					mu.Unlock()
					if err = s.named(data, int64(unnoticed.seq)); err == nil {
						continue
					}
				}
				if err != nil {
					return fmt.Errorf("bit %d of byte %d (%q, line %d): %w", bit, at, s.data[at], n, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		t.Logf("closed %v: %d records, %d bytes, %d changes of the last record went unnoticed", closed, len(s.lines), len(s.data), silents)
	}
}

// named says whether the report names a record as one that nothing vouches for: no checkpoint of the log itself.
func (s *specimen) named(data []byte, seq int64) error {
	d, err := s.disk(0, data)
	if err != nil {
		return err
	}
	store, err := d.Open()
	if err != nil {
		return err
	}
	defer store.Close()
	rep, err := audit.Verify(context.Background(), store, audit.VerifyOptions{Pin: pin(), Workers: 1})
	if err != nil || !rep.Holds() {
		return err
	}
	if from, to := uncovered(rep); from > seq || seq >= to {
		return fmt.Errorf("record %d was changed, the report holds and says only %q", seq, rep.Unchecked)
	}
	return nil
}

// uncovered is the range of records that a report says no checkpoint covers, not even the log's own; empty if it says nothing.
func uncovered(rep *audit.Report) (from, to int64) {
	for _, text := range rep.Unchecked {
		if n, _ := fmt.Sscanf(text, "records %d to %d: no checkpoint", &from, &to); n == 2 {
			return from, to + 1
		}
		if n, _ := fmt.Sscanf(text, "record %d: it holds the newest checkpoint, and no checkpoint covers", &from); n == 1 {
			return from, from + 1
		}
	}
	return 0, 0
}
