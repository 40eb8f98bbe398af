package iff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
)

// BenchmarkFileWrite is a durable write of 4 KiB over an existing file, through
// everything: decided, recorded, done, read by the observer, recorded. Beside it,
// in the same run, the bare loop: write a file beside, sync, rename, sync the
// directory.
func BenchmarkFileWrite(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d", writers), func(b *testing.B) { benchWrites(b, writers) })
	}
}

func benchWrites(b *testing.B, writers int) {
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // as iff serve sets it
	dir, work := newHome(b)
	roomToUndo(b, dir)
	for i := range writers {
		if err := os.WriteFile(filepath.Join(work, fmt.Sprint(i, ".md")), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	_, _, rt := boot(b, dir, nobody)
	var sessions []*iff.Session
	for range (writers + 31) / 32 {
		s, err := rt.Open(b.Context(), "bench", iff.OpenOptions{})
		if err != nil {
			b.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	var contents [2][]byte // in turns, so that each write changes something
	for i := range contents {
		contents[i] = fmt.Appendf(nil, `{"content":"%8d%s","op":"write"}`, i, strings.Repeat("x", 4088))
	}
	turns := make([]int, writers)
	ours := func(i int) {
		turns[i]++
		r := sessions[i%len(sessions)].Call(b.Context(), iff.Call{Capability: "fs.write.rev", Target: fmt.Sprint(i, ".md"), Arguments: contents[turns[i]%2]})
		if r.Status != gate.Done {
			b.Errorf("%+v", r)
		}
	}
	bare := func(i int) {
		if err := replaceFile(filepath.Join(work, fmt.Sprint(i, ".md")), []byte(strings.Repeat("y", 4096))); err != nil {
			b.Error(err)
		}
	}
	b.ResetTimer()
	var took, baseline time.Duration
	done := 0
	for b.Loop() {
		const each = 20
		took += inParallel(writers, each, ours)
		baseline += inParallel(writers, each, bare)
		done += writers * each
	}
	b.ReportMetric(float64(done)/took.Seconds(), "writes/s")
	b.ReportMetric(float64(done)/baseline.Seconds(), "bare/s")
	b.ReportMetric(baseline.Seconds()/took.Seconds(), "ofbare")
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(done) * float64(writers) }
	b.ReportMetric(each(took), "us/write")
	if writers == 1 {
		b.ReportMetric(each(took)-2*each(baseline), "us-over-two-bare")
	}
	b.ReportMetric(0, "ns/op")
}

// roomToUndo lets a session keep more states before than a benchmark makes.
func roomToUndo(b *testing.B, dir string) {
	path := filepath.Join(dir, "iff.toml")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), "\n[gate]\n", "\n[gate]\nbuffer = \"4GiB\"\n", 1)), 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// inParallel has each of the writers call f so many times.
func inParallel(writers, times int, f func(writer int)) time.Duration {
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for range times {
				f(i)
			}
		})
	}
	wg.Wait()
	return time.Since(begun)
}

func replaceFile(path string, data []byte) error {
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
