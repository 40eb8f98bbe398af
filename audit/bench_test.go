package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

var benchRecords = flag.Int("log.records", 1_000_000, "records of the log that proofs, opening and verifying are measured on")

var benchDir = flag.String("log.dir", "", "directory that is to keep that log; empty for a temporary one")

// onDisk makes a log in a directory of real files.
func onDisk(b *testing.B, dir string) *audit.Log {
	b.Helper()
	store, err := file.Create(durable.OS(), dir, nil)
	must(b, err)
	l, err := audit.Create(context.Background(), store, begin(), trusttest.NewKey(1), audit.Options{})
	must(b, err)
	return l
}

// share divides n appends among writers.
func share(n, writers int, f func(writer int, appends int) error) error {
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { errs[w] = f(w, n/writers+min(1, max(0, n%writers-w))) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkAppend appends one record at a time from a number of writers, each
// waiting until its record is durable. Bare, in the same run, is a loop that
// writes as many bytes for as many records at once and calls fdatasync: for one
// writer a line, for more a batch with a line of each.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			dir := b.TempDir()
			l := onDisk(b, filepath.Join(dir, "log"))
			entries := call(1)
			n := max(b.N, 1)
			b.ResetTimer()
			start := time.Now()
			must(b, share(n, writers, func(w, appends int) error {
				for i := range appends {
					if _, err := l.Append(context.Background(), entries[i%len(entries)]); err != nil {
						return err
					}
				}
				return nil
			}))
			took := time.Since(start)
			b.StopTimer()
			must(b, l.Close())
			size := logSize(b, filepath.Join(dir, "log"))
			batches := max(n/writers, 1)
			bare := bareAppend(b, filepath.Join(dir, "bare"), batches, int(size)/batches)
			b.ReportMetric(float64(n)/took.Seconds(), "records/s")
			b.ReportMetric(float64(size)/took.Seconds()/1e6, "MB/s")
			b.ReportMetric(took.Seconds()/bare.Seconds(), "times-bare")
			b.ReportMetric(bare.Seconds()/took.Seconds(), "of-bare")
		})
	}
}

func logSize(b *testing.B, dir string) (size int64) {
	segments, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	must(b, err)
	for _, s := range segments {
		info, err := os.Stat(s)
		must(b, err)
		size += info.Size()
	}
	return size
}

func bareAppend(b *testing.B, path string, batches, bytesEach int) time.Duration {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(b, err)
	defer f.Close()
	data := bytes.Repeat([]byte("x"), bytesEach)
	start := time.Now()
	for range batches {
		_, err := f.Write(data)
		must(b, err)
		must(b, fdatasync(f))
	}
	return time.Since(start)
}

// bigLog makes a log of benchRecords records without waiting for each.
func bigLog(b *testing.B) (dir string, size int64) {
	b.Helper()
	if dir = *benchDir; dir == "" {
		dir = filepath.Join(b.TempDir(), "log")
	}
	l := onDisk(b, dir)
	must(b, share(*benchRecords/100, 8, func(w, appends int) error {
		var entries []record.Entry
		for i := range 25 {
			entries = append(entries, call(w*1_000_000+i)...)
		}
		for range appends {
			if _, err := l.Append(context.Background(), entries...); err != nil {
				return err
			}
		}
		return nil
	}))
	must(b, l.Close())
	return dir, logSize(b, dir)
}

// BenchmarkBig measures on one large log: verifying it, opening it, proving one
// record of it.
func BenchmarkBig(b *testing.B) {
	dir, size := bigLog(b)
	b.Run("verify", func(b *testing.B) { benchVerify(b, dir, *benchRecords, size) })
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			store, err := file.Open(durable.OS(), dir, nil)
			must(b, err)
			l, _, err := audit.Open(context.Background(), store, pin(), audit.Options{}, trusttest.NewKey(1))
			must(b, err)
			must(b, l.Close())
		}
		b.ReportMetric(float64(size)/1e6, "log-MB")
	})
	b.Run("prove", func(b *testing.B) {
		store, err := file.OpenRead(durable.OS(), dir)
		must(b, err)
		defer store.Close()
		var text []byte
		for i := 0; b.Loop(); i++ {
			v, err := audit.Read(context.Background(), store, pin(), audit.Options{}, trusttest.NewKey(1).Public())
			must(b, err)
			r, err := v.Receipt(context.Background(), int64(i)*7919%(v.Size()-1000))
			must(b, err)
			text = r.Marshal()
		}
		b.ReportMetric(float64(len(text)), "receipt-bytes")
		b.ReportMetric(float64(*benchRecords), "records")
	})
}

func benchVerify(b *testing.B, dir string, records int, size int64) {
	store, err := file.OpenRead(durable.OS(), dir)
	must(b, err)
	defer store.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program sets it
	var took, cpu, bare time.Duration
	var peak uint64
	for b.Loop() {
		stop := watchHeap(&peak)
		start, used := time.Now(), cpuTime()
		rep, err := audit.Verify(context.Background(), store, audit.VerifyOptions{Pin: pin()})
		took += time.Since(start)
		cpu += cpuTime() - used
		stop()
		must(b, err)
		if !rep.Holds() {
			b.Fatal(rep.Problem.Error())
		}
		bare += bareHash(b, store)
	}
	n := float64(b.N)
	perCore := float64(size) * n / cpu.Seconds() / 1e6
	b.ReportMetric(float64(size)*n/took.Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(size)/1e6, "log-MB")
	b.ReportMetric(perCore, "MB/s-a-core")
	b.ReportMetric(float64(records)*n/took.Seconds(), "records/s")
	b.ReportMetric(perCore/(float64(size)*n/bare.Seconds()/1e6), "of-bare-a-core")
	b.ReportMetric(float64(peak)/1e6, "heap-MB")
}

// bareHash is SHA-256 over the same bytes, read the same way, on one core.
func bareHash(b *testing.B, store audit.Store) time.Duration {
	used := cpuTime()
	h := sha256.New()
	for block, err := range store.Blocks(context.Background(), audit.Position{}) {
		must(b, err)
		h.Write(block.Data)
	}
	return cpuTime() - used
}

// watchHeap notes the largest heap in use until it is stopped.
func watchHeap(peak *uint64) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*peak = max(*peak, m.HeapInuse+m.StackInuse)
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-ended }
}

// BenchmarkVerify is over a log whose calls touch one object, and one whose
// lines are long because they touch twenty.
func BenchmarkVerify(b *testing.B) {
	for _, objects := range []int{1, 20} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "log")
			l := onDisk(b, dir)
			must(b, share(8*2000, 8, func(w, appends int) error {
				for i := range appends {
					entries := call(w*1_000_000 + i)
					plan := repeat(entries[2].Body.(record.Intent).Plan[0], objects)
					entries[2].Body = record.Intent{Attempt: 1, Fence: 1, Key: entries[2].Request, Plan: plan}
					entries[3].Body = record.Executed{Outcome: record.Outcome{Readings: plan}}
					if _, err := l.Append(context.Background(), entries...); err != nil {
						return err
					}
				}
				return nil
			}))
			must(b, l.Close())
			benchVerify(b, dir, 8*2000*4, logSize(b, dir))
		})
	}
}

func repeat(c record.Change, n int) []record.Change {
	out := make([]record.Change, n)
	for i := range out {
		c.Object = corpus.Object("work/" + strings.Repeat("d/", i%5) + fmt.Sprint(i))
		out[i] = c
	}
	return out
}
