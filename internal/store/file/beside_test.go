package file

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// slow is a file that is read in pieces, as the kernel copies pages, with something going on in between.
type slow struct {
	durable.Reader
	between func()
}

func (s slow) ReadAt(p []byte, off int64) (n int, err error) {
	const piece = 7
	for n < len(p) && err == nil {
		var m int
		m, err = s.Reader.ReadAt(p[n:min(n+piece, len(p))], off+int64(n))
		n += m
		s.between()
	}
	if n == len(p) {
		err = nil
	}
	return n, err
}

// A reader in another process sees whole lines, a beginning of the log, whatever the writer does between any two bytes. One that
// takes the size of a file and reads as far does not.
func TestReaderBesideWriter(t *testing.T) {
	naive := 0
	for every := 1; every < 12; every++ {
		d := durabletest.New()
		s, err := Create(d, "/log", &Options{SegmentBytes: 200, Pad: 150, PadAfter: 1})
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		next, pieces := int64(0), 0
		more := func() {
			if pieces++; pieces%every == 0 && next < 60 {
				b := lines(next, 2, "a line of some length")
				appendTo(t, s, next, string(b), 50)
				next, want = next+2, append(want, b...)
			}
		}
		h := &hooked{FS: d, open: func(path string) (durable.Reader, error) {
			f, err := d.Open(path)
			return slow{f, more}, err
		}}
		r, err := OpenRead(h, "/log")
		if err != nil {
			t.Fatal(err)
		}
		for readings := 0; next < 60; readings++ {
			before := len(want)
			got, err := audittest.ReadAll(t.Context(), r)
			if err != nil || len(got)+1 < before || !bytes.HasPrefix(want, got) {
				t.Fatalf("every %d, reading %d: %q is read, %d bytes were there before, %d are now: %v", every, readings, got, before, len(want), err)
			}
			if got, err := readNaively(h); err != nil || !bytes.HasPrefix(want, got) {
				naive++
			}
			more()
		}
	}
	if naive == 0 {
		t.Error("a naive reader sees no difference")
	}
}

func readNaively(fsys durable.FS) ([]byte, error) {
	names, err := fsys.List("/log")
	if err != nil {
		return nil, err
	}
	var all []byte
	for _, name := range names {
		if name == lockName {
			continue
		}
		r, err := fsys.Open("/log/" + name)
		if err != nil {
			return nil, err
		}
		size, err := r.Size()
		if err != nil {
			return nil, err
		}
		data := make([]byte, size)
		n, _ := r.ReadAt(data, 0)
		all = append(all, bytes.TrimRight(data[:n], "\n")...)
		all = append(all, '\n')
	}
	return all, nil
}

// On the real disk, where a batch can be caught half written: what is bad in a reading lies in one batch, with none behind it.
func TestReaderBesideWriterOS(t *testing.T) {
	const batch = 10
	dir := filepath.Join(t.TempDir(), "log")
	s, err := Create(durable.OS(), dir, &small)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var acked atomic.Int64
	done := make(chan error, 1)
	go func() {
		var err error
		for first := int64(0); err == nil && first < 2000; first += batch {
			err = s.Append(context.Background(), audit.Batch{First: first, Lines: audittest.Lines(first, batch)})
			acked.Store(first + batch)
		}
		done <- err
	}()
	r, err := OpenRead(durable.OS(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for readings, running := 0, true; running; readings++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if err := oneBatchBad(t.Context(), r, acked.Load(), batch); err != nil {
			t.Fatalf("reading %d: %v", readings, err)
		}
	}
}

func oneBatchBad(ctx context.Context, r audit.Store, acked, batch int64) error {
	got, err := audittest.ReadAll(ctx, r)
	if err != nil {
		return err
	}
	next := int64(0)
	rest := append(got, '\n')
	for ; len(rest) > 1 && bytes.HasPrefix(rest, audittest.Line(next)); next++ {
		rest = rest[len(audittest.Line(next)):]
	}
	if next < acked {
		return fmt.Errorf("line %d is bad, %d were acknowledged before", next, acked)
	}
	if size := len(audittest.Lines(next-next%batch, int(batch))); len(rest) > size {
		return fmt.Errorf("line %d is bad, and %d bytes follow; its batch has %d", next, len(rest), size)
	}
	return nil
}
