package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/ensemble"
)

// options say which runs are made.
type options struct {
	seed, n, again uint64
	faults         bool
	fault          ensemble.Fault
	size           ensemble.Config // N, K and R for all runs; 0 is by the seed
	workers        int
	dir            string
}

// config is the i-th run.
func (o options) config(i uint64) ensemble.Config {
	fault, seed := o.fault, o.seed+i/o.again
	if o.faults {
		all := ensemble.Faults()
		fault = all[seed%uint64(len(all))]
	}
	c := ensemble.Sized(seed, fault)
	c.Dir, c.N, c.K, c.R = o.dir, cmp.Or(o.size.N, c.N), cmp.Or(o.size.K, c.K), cmp.Or(o.size.R, c.R)
	return c
}

// sweep makes the runs, some at once.
func (o options) sweep(ctx context.Context, kit *ensemble.Kit, t *totals, until time.Time) error {
	var next atomic.Uint64
	var wg sync.WaitGroup
	errs := make(chan error, o.workers)
	for range o.workers {
		wg.Go(func() {
			for ctx.Err() == nil && (until.IsZero() || time.Now().Before(until)) {
				i := next.Add(1) - 1
				if i >= o.n*o.again {
					return
				}
				c := o.config(i)
				r, err := kit.Run(ctx, c)
				if err != nil && ctx.Err() == nil {
					errs <- fmt.Errorf("seed %d, fault %q: %w", c.Seed, c.Fault, err)
					return
				}
				if err == nil {
					t.add(r)
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// totals add up what came of runs.
type totals struct {
	out   io.Writer
	begun time.Time

	mu      sync.Mutex // guards what follows
	by      map[ensemble.Fault]*total
	wrong   int64
	records int64
	calls   int64
	runs    int64
	told    time.Time
}

type total struct{ runs, passed, open, failed, asWanted int64 }

func newTotals(out io.Writer) *totals {
	now := time.Now()
	return &totals{out: out, begun: now, told: now, by: make(map[ensemble.Fault]*total)}
}

// every is how often progress is printed.
const every = 10 * time.Second

func (t *totals) add(r ensemble.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.by[r.Config.Fault]
	if one == nil {
		one = new(total)
		t.by[r.Config.Fault] = one
	}
	t.runs, t.records, t.calls, one.runs = t.runs+1, t.records+r.Records, t.calls+r.Calls, one.runs+1
	switch r.Verdict {
	case "PASS":
		one.passed++
	case "OPEN":
		one.open++
	default:
		one.failed++
	}
	if r.AsWanted() {
		one.asWanted++
	} else {
		t.wrong++
		t.tell(r)
	}
	if time.Since(t.told) > every {
		t.told = time.Now()
		fmt.Fprintf(t.out, "%d runs, %d calls, %d records, %d wrong, %.0f runs/s\n", t.runs, t.calls, t.records, t.wrong, float64(t.runs)/time.Since(t.begun).Seconds())
	}
}

// tell prints a run whose verdict is not as wanted.
func (t *totals) tell(r ensemble.Result) {
	c := r.Config
	fmt.Fprintf(t.out, "WRONG -seed %d -fault %q (N %d, K %d, R %d): %s, wanted %s on %v\n", c.Seed, c.Fault, c.N, c.K, c.R, r.Verdict, r.Want.Class, r.Want.Objects)
	for _, f := range r.Report.Findings[:min(len(r.Report.Findings), 5)] {
		fmt.Fprintf(t.out, "  %s %s %s %s: %s\n", f.Class, f.Object, f.Landed, f.Call, f.Detail)
	}
	for _, odd := range r.Odd[:min(len(r.Odd), 5)] {
		fmt.Fprintf(t.out, "  %s\n", strings.TrimSpace(odd))
	}
}

func (t *totals) print() {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "%-16s %8s %8s %8s %8s %10s\n", "fault", "runs", "PASS", "OPEN", "FAIL", "as wanted")
	for _, f := range slices.Sorted(maps.Keys(t.by)) {
		name, one := string(f), t.by[f]
		if f == ensemble.Honest {
			name = "honest"
		}
		fmt.Fprintf(t.out, "%-16s %8d %8d %8d %8d %9.3f%%\n", name, one.runs, one.passed, one.open, one.failed, 100*float64(one.asWanted)/float64(one.runs))
	}
	took := time.Since(t.begun)
	fmt.Fprintf(t.out, "%d runs, %d calls, %d records in %s (%.0f runs/s), %d not as wanted\n", t.runs, t.calls, t.records, took.Round(time.Second), float64(t.runs)/took.Seconds(), t.wrong)
}
