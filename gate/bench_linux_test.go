package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// idle is a host and observer of files that are as they are to be.
type idle struct {
	file  corpus.Copy
	state corpus.State
}

func (i idle) Touches(env capability.Envelope) (gate.Touches, error) {
	in, path, _ := env.Target().Path()
	return gate.Touches{Op: "write", Changes: []corpus.Object{corpus.Name(in, path)}, Reversible: true}, nil
}

func (i idle) Plan(_ context.Context, env capability.Envelope, _ gate.Staged) (gate.Plan, error) {
	in, path, _ := env.Target().Path()
	return gate.Plan{
		Reach: gate.Exact, Changes: []corpus.Change{{Object: corpus.Name(in, path), Before: i.state, After: i.state}},
		Before: []corpus.Copy{i.file}, After: []corpus.Copy{i.file},
	}, nil
}

func (i idle) Do(_ context.Context, p *gate.Permit) (gate.Result, error) {
	_, err := p.Take()
	return gate.Result{Data: []byte(`{}`)}, err
}

func (i idle) Name() string    { return "idle" }
func (i idle) Blind() []string { return nil }

func (i idle) Read(_ context.Context, objects []corpus.Object) ([]corpus.State, error) {
	out := make([]corpus.State, len(objects))
	for n := range out {
		out[n] = i.state
	}
	return out, nil
}

func (i idle) Snapshot(context.Context) (*corpus.Snapshot, error) {
	return corpus.NewSnapshot(nil), nil
}

// BenchmarkCall has irreversible calls decided by level, recorded in a log on
// disk and done by a host that does nothing. Bare, in the same run, is a loop
// that writes as many bytes as the log took in two batches for each call, or for
// each round of calls, and calls fdatasync after each.
func BenchmarkCall(b *testing.B) {
	for _, flight := range []int{1, 64} {
		b.Run(fmt.Sprintf("flight=%d", flight), func(b *testing.B) { benchmarkCall(b, flight) })
	}
}

func benchmarkCall(b *testing.B, flight int) {
	dir := b.TempDir()
	store, err := file.Create(durable.OS(), filepath.Join(dir, "log"), nil)
	if err != nil {
		b.Fatal(err)
	}
	log, err := audit.Create(b.Context(), store, record.Init{Origin: "iff.test/log", Profile: "dev", Scheme: "default"}, trusttest.NewKey(1), audit.Options{})
	if err != nil {
		b.Fatal(err)
	}
	host := idle{gatetest.File("idle"), gatetest.File("idle").State()}
	bench := gatetest.New(b, nil, func(p *gate.Parts) {
		p.Sink, p.Keep = log, log.Keep
		p.Hosts = map[capability.Capability]gate.Host{capability.FSWriteIrrev: host}
		p.Observers = map[string]corpus.Observer{gatetest.Corpus: host}
	})
	s := bench.Open("agent", gatetest.Declared)
	size := logSize(b, dir)
	n := max(b.N/flight, 1)
	b.ReportAllocs()
	b.ResetTimer()
	start, cpu := time.Now(), cpuTime(b)
	var wg sync.WaitGroup
	for w := range flight {
		wg.Go(func() {
			c := gatetest.Irreversibly("write", fmt.Sprint("out/", w), "idle")
			for range n {
				if r := s.Call(context.Background(), c); r.Status != gate.Done {
					b.Error(r)
					return
				}
			}
		})
	}
	wg.Wait()
	took, used := time.Since(start), cpuTime(b)-cpu
	b.StopTimer()
	bench.Close()
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	bare := bareSyncs(b, filepath.Join(dir, "bare"), 2*n, int(logSize(b, dir)-size)/(2*n))
	calls := float64(n * flight)
	b.ReportMetric(calls/took.Seconds(), "calls/s")
	b.ReportMetric(float64(used.Nanoseconds())/1000/calls, "cpu-us/call")
	b.ReportMetric(float64((took-bare).Microseconds())/float64(n), "us-over-bare")
	b.ReportMetric(took.Seconds()/bare.Seconds(), "times-bare")
	b.ReportMetric(float64(bare.Microseconds())/float64(2*n), "us/bare-sync")
}

// cpuTime is the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func logSize(b *testing.B, dir string) (size int64) {
	b.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "log", "*.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range segments {
		data, err := os.ReadFile(s)
		if err != nil {
			b.Fatal(err)
		}
		size += int64(len(bytes.TrimRight(data, "\n")))
	}
	return size
}

// bareSyncs writes into a file that is long enough already, as the log does.
func bareSyncs(b *testing.B, path string, syncs, bytesEach int) time.Duration {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := bytes.Repeat([]byte("x"), bytesEach)
	for range syncs {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := f.Seek(0, 0); err != nil || f.Sync() != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for range syncs {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}
