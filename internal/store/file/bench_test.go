package file

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
)

// BenchmarkAppend compares, in turns, a bare write and fdatasync at the end of a file with an Append, with room prepared ahead as
// programs do it and without.
func BenchmarkAppend(b *testing.B) {
	for _, lines := range []int{1, 64} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			data := []byte(strings.Repeat(strings.Repeat("x", 599)+"\n", lines))
			loops := []struct {
				name string
				run  func() error
			}{
				{"bare", bareAppend(b, data)},
				{"pad", storeAppend(b, data, &Options{PadAfter: 1})},
				{"nopad", storeAppend(b, data, &Options{PadAfter: math.MaxInt64})},
			}
			took := make([]time.Duration, len(loops))
			for b.Loop() {
				for i, l := range loops {
					start := time.Now()
					if err := l.run(); err != nil {
						b.Fatal(err)
					}
					took[i] += time.Since(start)
				}
			}
			for i, l := range loops {
				b.ReportMetric(float64(took[i].Microseconds())/float64(b.N), l.name+"-us")
				b.ReportMetric(float64(took[i])/float64(took[0]), l.name+"-x-bare")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func bareAppend(b *testing.B, data []byte) func() error {
	f, err := durable.OS().Create(filepath.Join(b.TempDir(), "bare"), fileMode)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return func() error {
		if _, err := f.Write(data); err != nil {
			return err
		}
		return f.Sync()
	}
}

func storeAppend(b *testing.B, data []byte, opts *Options) func() error {
	s, err := Create(durable.OS(), filepath.Join(b.TempDir(), "log"), opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	next := int64(0)
	return func() error {
		err := s.Append(b.Context(), audit.Batch{First: next, Lines: data})
		next++
		return err
	}
}

// BenchmarkBlocks compares with a loop that reads the same file into one buffer.
func BenchmarkBlocks(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "log")
	s, err := Create(durable.OS(), dir, &Options{SegmentBytes: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	data := []byte(strings.Repeat(strings.Repeat("x", 599)+"\n", 20_000))
	for i := range int64(16) {
		if err := s.Append(b.Context(), audit.Batch{First: i, Lines: data}); err != nil {
			b.Fatal(err)
		}
	}
	var bare, ours time.Duration
	buf := make([]byte, blockBytes)
	for b.Loop() {
		start := time.Now()
		if err := bareRead(filepath.Join(dir, segmentName(0)), buf); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		for _, err := range s.Blocks(b.Context(), audit.Position{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
		bare += middle.Sub(start)
		ours += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(bare), "x-bare")
	b.ReportMetric(float64(s.End().Offset)*float64(b.N)/1e6/ours.Seconds(), "MB/s")
	b.ReportMetric(0, "ns/op")
}

func bareRead(path string, buf []byte) error {
	r, err := durable.OS().Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for at := int64(0); ; at += int64(len(buf)) {
		if _, err := r.ReadAt(buf, at); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// BenchmarkOpen is what a short command pays: open, append a line, close.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "log")
	s, err := Create(durable.OS(), dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	line := []byte(strings.Repeat("x", 599) + "\n")
	var opening, appending, closing time.Duration
	for next := int64(0); b.Loop(); next++ {
		start := time.Now()
		if err := s.Append(b.Context(), audit.Batch{First: next, Lines: line, Reserve: 4096}); err != nil {
			b.Fatal(err)
		}
		appended := time.Now()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		closed := time.Now()
		if s, err = Open(durable.OS(), dir, nil); err != nil {
			b.Fatal(err)
		}
		appending, closing, opening = appending+appended.Sub(start), closing+closed.Sub(appended), opening+time.Since(closed)
	}
	b.ReportMetric(float64(appending.Microseconds())/float64(b.N), "append-us")
	b.ReportMetric(float64(closing.Microseconds())/float64(b.N), "close-us")
	b.ReportMetric(float64(opening.Microseconds())/float64(b.N), "open-us")
	b.ReportMetric(0, "ns/op")
	_ = s.Close()
}
