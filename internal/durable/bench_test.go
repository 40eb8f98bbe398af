package durable_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/internal/durable"
)

// reportRatio says how much longer ours took than bare, run in turns.
func reportRatio(b *testing.B, bare, ours func() error) {
	var bareTime, oursTime time.Duration
	for b.Loop() {
		start := time.Now()
		if err := bare(); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if err := ours(); err != nil {
			b.Fatal(err)
		}
		bareTime += middle.Sub(start)
		oursTime += time.Since(middle)
	}
	b.ReportMetric(float64(oursTime)/float64(bareTime), "x-bare")
	b.ReportMetric(float64(oursTime.Nanoseconds())/float64(b.N), "ours-ns/op")
	b.ReportMetric(float64(bareTime.Nanoseconds())/float64(b.N), "bare-ns/op")
}

// bareReplace is write, sync, rename, fsync of the directory and nothing else.
func bareReplace(dir, temp, path string, data []byte) error {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := bareSync(f); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func BenchmarkWriteFile(b *testing.B) {
	for _, size := range []int{400, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir, fsys, data := b.TempDir(), durable.OS(), []byte(strings.Repeat("x", size))
			bare, temp, ours := filepath.Join(dir, "bare"), filepath.Join(dir, "temp"), filepath.Join(dir, "ours")
			reportRatio(b,
				func() error { return bareReplace(dir, temp, bare, data) },
				func() error { return durable.WriteFile(fsys, ours, data, 0o600) })
		})
	}
}

// The bare loop keeps its file open; Append opens it each time.
func BenchmarkAppend(b *testing.B) {
	dir, fsys, data := b.TempDir(), durable.OS(), []byte(strings.Repeat("x", 400))
	f, err := os.OpenFile(filepath.Join(dir, "bare"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	ours := filepath.Join(dir, "ours")
	reportRatio(b,
		func() error {
			if _, err := f.Write(data); err != nil {
				return err
			}
			return bareSync(f)
		},
		func() error { return durable.Append(fsys, ours, data, 0o600) })
}
