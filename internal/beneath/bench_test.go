//go:build linux

package beneath

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bareRead is the least that reads a file: open, size, read, close, by path and with no check at all.
func bareRead(b *testing.B, path string) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		b.Fatal(err)
	}
	data := make([]byte, st.Size)
	if n, err := unix.Read(fd, data); err != nil || n != len(data) {
		b.Fatal(n, err)
	}
	return data
}

// reportRatio says how much longer ours took than bare, run in turns.
func reportRatio(b *testing.B, bare, ours func()) {
	var bareTime, oursTime time.Duration
	for b.Loop() {
		start := time.Now()
		bare()
		middle := time.Now()
		ours()
		bareTime += middle.Sub(start)
		oursTime += time.Since(middle)
	}
	b.ReportMetric(float64(oursTime)/float64(bareTime), "x-bare")
	b.ReportMetric(float64(oursTime.Nanoseconds())/float64(b.N), "ours-ns/op")
	b.ReportMetric(float64(bareTime.Nanoseconds())/float64(b.N), "bare-ns/op")
}

func BenchmarkReadFile(b *testing.B) {
	dir := b.TempDir()
	for _, size := range []int{0, 5 << 10, 1 << 20} {
		write(b, filepath.Join(dir, fmt.Sprint(size)), strings.Repeat("x", size), 0o644)
	}
	time.Sleep(2 * settle) // a file just written is read twice
	for _, size := range []int{0, 5 << 10, 1 << 20} {
		for _, way := range []string{"openat2", "openat", "root"} {
			if ways[way] == nil {
				continue
			}
			b.Run(fmt.Sprintf("%d/%s", size, way), func(b *testing.B) {
				d := mustOpen(b, opener(ways[way]), dir)
				name := fmt.Sprint(size)
				path := filepath.Join(dir, name)
				reportRatio(b, func() { bareRead(b, path) }, func() {
					if _, err := d.ReadFile(name, 1<<20); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

func BenchmarkEntries(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				write(b, filepath.Join(dir, fmt.Sprintf("a-file-%d", i)), "", 0o644)
			}
			d := mustOpen(b, Open, dir)
			reportRatio(b, func() { bareList(b, dir, n) }, func() {
				if _, err := d.Entries(n); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// bareList reads the names and does nothing with them.
func bareList(b *testing.B, dir string, n int) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(fd)
	var block [8192]byte
	names := make([]string, 0, n)
	for {
		size, err := unix.Getdents(fd, block[:])
		if err != nil {
			b.Fatal(err)
		}
		if size == 0 {
			break
		}
		_, _, names = unix.ParseDirent(block[:size], -1, names)
	}
	if len(names) != n {
		b.Fatal(len(names))
	}
}
