package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// fake makes runs that are as wanted, at once and in any order, save for those
// that bend changes.
type fake struct {
	bend func(c ensemble.Config, r *ensemble.Result) error // nil for nothing
	room int64                                             // most corpora at a time; 0 for any number
	worn func() error                                      // says of a corpus that it cannot be had again; nil if it can

	sites atomic.Int64 // corpora that were made
	ahead atomic.Int64 // of them those that are there
	mu    sync.Mutex
	made  map[ensemble.Config]int // without their directory
}

// Site implements [Runner].
func (f *fake) Site(c ensemble.Config) (Site, error) {
	if n := f.ahead.Add(1); f.room > 0 && n > f.room {
		f.ahead.Add(-1)
		return nil, errors.New("no space left")
	}
	f.sites.Add(1)
	c.Seed, c.Fault, c.K, c.R, c.Cast = 0, "", 0, 0, 0
	return &fakeSite{f, c}, nil
}

// fakeSite is the corpus of runs, which is there until it is closed.
type fakeSite struct {
	of *fake
	c  ensemble.Config
}

func (s *fakeSite) Run(ctx context.Context, c ensemble.Config) (ensemble.Result, error) {
	if c.N != s.c.N || c.Files != s.c.Files || c.Dir != s.c.Dir {
		return ensemble.Result{}, errors.New("this is the corpus of another run")
	}
	return s.of.run(ctx, c)
}

func (s *fakeSite) Restore() error {
	if s.of.worn != nil {
		return s.of.worn()
	}
	return nil
}

func (s *fakeSite) Close() error {
	s.of.ahead.Add(-1)
	return nil
}

func (f *fake) run(ctx context.Context, c ensemble.Config) (ensemble.Result, error) {
	for range c.Seed % 7 {
		runtime.Gosched() // some take longer than others
	}
	if err := ctx.Err(); err != nil {
		return ensemble.Result{}, err
	}
	if c.Dir == "" {
		return ensemble.Result{}, fmt.Errorf("no directory was given")
	}
	c.Dir = ""
	f.mu.Lock()
	if f.made == nil {
		f.made = map[ensemble.Config]int{}
	}
	f.made[c]++
	f.mu.Unlock()
	r := ensemble.Result{Config: c, Verdict: record.Pass, Literal: c.Fault == ensemble.Honest, Set: c.Fault == ensemble.Honest, Calls: int64(c.Seed % 100), Records: 7}
	if c.Fault != ensemble.Honest {
		r.Verdict, r.Want.Class = record.Fail, verdict.Bypass
		r.Report.Findings = []verdict.Finding{{Class: verdict.Bypass, Detail: "planted"}}
	}
	if f.bend != nil {
		if err := f.bend(c, &r); err != nil {
			return ensemble.Result{}, err
		}
	}
	return r, nil
}

// count is how many runs were made.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, times := range f.made {
		n += times
	}
	return n
}

// small is a plan of 2 cells, 2 scenarios and as many seeds.
func small(seeds int) Plan {
	return Plan{Version: "1.2.3", Seed: 42, Seeds: seeds, Cells: []Cell{{10, 2, 5}, {50, 8, 25}}, Scenarios: ensemble.PaperScenarios()[:2]}
}

// printed is all that a sweep puts out.
func printed(t *testing.T, p Plan, outcomes []Outcome) string {
	t.Helper()
	var out bytes.Buffer
	r := Judge(p, outcomes, ensemble.ByIff)
	for _, err := range []error{r.Markdown(&out), r.LaTeX(&out), r.CSV(&out), r.RunsCSV(&out, outcomes)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
