//go:build linux || darwin

package rehash_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/rehash"
)

const benchFiles, benchSize = 20_000, 4096

// benchTree is directories of 100 files each, at rest.
func benchTree(b *testing.B, n, size int) (root string, files []string) {
	b.Helper()
	root = b.TempDir()
	for i := range n {
		d, f := i/100, i%100
		file := filepath.Join(root, fmt.Sprintf("part-%03d", d/20), fmt.Sprintf("directory-%03d", d), fmt.Sprintf("file-%03d.txt", f))
		write(b, file, string(slices.Repeat([]byte{byte(d), byte(f), '-', '\n'}, size/4)), 0o644)
		files = append(files, file)
	}
	time.Sleep(50 * time.Millisecond)
	return root, files
}

func patterns(tb testing.TB, texts ...string) corpus.Patterns {
	tb.Helper()
	p, err := corpus.ParsePatterns(texts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func open(tb testing.TB, root string, options rehash.Options, volatile ...string) *rehash.Observer {
	tb.Helper()
	o, err := rehash.New(root, "work", patterns(tb, volatile...), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { o.Close() })
	return o
}

// compare runs bare and ours in turns. It reports what part of bare's speed ours has, by the clock and by processor time, which
// is speed a core and does not depend on who else is at work, and how long both took for each of n files.
func compare(b *testing.B, n int, bare, ours func()) {
	var clock, used [2]time.Duration
	for b.Loop() {
		for i, f := range []func(){bare, ours} {
			start, before := time.Now(), processor(b)
			f()
			clock[i] += time.Since(start)
			used[i] += processor(b) - before
		}
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) / float64(n) }
	b.ReportMetric(float64(clock[0])/float64(clock[1]), "of-bare-speed")
	b.ReportMetric(float64(used[0])/float64(used[1]), "of-bare-a-core")
	b.ReportMetric(each(clock[1]), "us/file")
	b.ReportMetric(each(clock[0]), "bare-us/file")
	b.ReportMetric(0, "ns/op")
}

// processor is the processor time this process has used.
func processor(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hashBare is open, read to the end, close, hash: what sha256sum does, in one buffer.
func hashBare(b *testing.B, files []string, buf []byte) {
	h := sha256.New()
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		h.Reset()
		for {
			n, err := f.Read(buf)
			h.Write(buf[:n])
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		h.Sum(nil)
		f.Close()
	}
}

// BenchmarkFull reads every byte, on one processor as the bare loop does. The least files show what looking before and after
// costs, for owner, mode and attributes are part of a state and sha256sum asks for none of them.
func BenchmarkFull(b *testing.B) {
	buf := make([]byte, 128<<10)
	for _, c := range []struct{ n, size int }{{benchFiles, benchSize}, {5000, 16 << 10}, {2000, 64 << 10}, {8, 32 << 20}} {
		b.Run(fmt.Sprintf("%dx%dKiB", c.n, c.size>>10), func(b *testing.B) {
			root, files := benchTree(b, c.n, c.size)
			o := open(b, root, rehash.Options{Workers: 1}, ".git/**", "**/*.swp")
			b.SetBytes(int64(2 * c.n * c.size)) // bare and ours
			take(b, o.Full)
			compare(b, c.n, func() { hashBare(b, files, buf) }, func() { take(b, o.Full) })
		})
	}
}

// BenchmarkStatRound is a snapshot of an unchanged tree beside a bare lstat of each file.
func BenchmarkStatRound(b *testing.B) {
	root, files := benchTree(b, benchFiles, benchSize)
	for _, workers := range []int{1, 0} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			o := open(b, root, rehash.Options{Workers: workers}, ".git/**", "**/*.swp")
			take(b, o.Snapshot)
			compare(b, len(files), func() {
				for _, f := range files {
					if _, err := os.Lstat(f); err != nil {
						b.Fatal(err)
					}
				}
			}, func() { take(b, o.Snapshot) })
		})
	}
}

func take(tb testing.TB, snapshot func(context.Context) (*corpus.Snapshot, error)) *corpus.Snapshot {
	tb.Helper()
	s, err := snapshot(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// BenchmarkRead is the reading of one leased file of 4 KiB, three directories deep, at rest and just written.
func BenchmarkRead(b *testing.B) {
	root := b.TempDir()
	dir := filepath.Join(root, "a", "b", "c")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, make([]byte, benchSize), 0o644); err != nil {
		b.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	o := open(b, root, rehash.Options{})
	buf := make([]byte, 128<<10)
	objects := []corpus.Object{corpus.Name("work", "a/b/c/file")}
	b.ReportAllocs()
	compare(b, 1, func() { hashBare(b, []string{file}, buf) }, func() {
		if s, err := o.Read(b.Context(), objects); err != nil || !s[0].Known() {
			b.Fatal(s, err)
		}
	})
}
