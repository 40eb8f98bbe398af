package sweep

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/iff-run/iff/ensemble"
)

// Runner makes runs; an [ensemble.Kit] is one. It is used by several goroutines at
// once.
type Runner interface {
	Run(ctx context.Context, c ensemble.Config) (ensemble.Result, error)
}

// Options say how a sweep is made. They change nothing of what comes of it.
type Options struct {
	Workers  int                   // runs at once; twice as many as the program has processors if not positive
	Dir      string                // where corpora are made, in a directory of their own; memory if empty
	Journal  *Journal              // of the same plan; nil keeps nothing
	Progress func(done, total int) // called after each run, of those that had to be made; nil for nothing
}

// Make makes the runs of a plan, save for those that the journal has, and gives the
// outcomes of all, by number. With an error it gives those that are done.
func Make(ctx context.Context, p Plan, with Runner, o Options) (_ []Outcome, err error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := &making{plan: p, with: with, journal: o.Journal, progress: o.Progress, outcomes: make([]Outcome, p.Runs())}
	if o.Journal != nil {
		if field, _, _ := o.Journal.plan.header().differs(p.header()); field != "" {
			return nil, fmt.Errorf("sweep: the journal is of another plan: %s differ", field)
		}
		m.outcomes = o.Journal.Outcomes()
	}
	for i, out := range m.outcomes {
		if !out.Made() {
			m.todo = append(m.todo, i)
		}
	}
	if len(m.todo) == 0 {
		return m.outcomes, nil
	}
	at, err := makeIn(o.Dir)
	if err != nil {
		return m.outcomes, err
	}
	m.dir = at.Path()
	err = m.all(ctx, o.Workers)
	return m.outcomes, errors.Join(err, at.Close())
}

// One makes a single run, in a directory of its own as a sweep does.
func One(ctx context.Context, r Run, with Runner, dir string) (_ ensemble.Result, err error) {
	at, err := makeIn(dir)
	if err != nil {
		return ensemble.Result{}, err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	c := r.Config()
	c.Dir = at.Path()
	return with.Run(ctx, c)
}

// making is a sweep under way.
type making struct {
	plan     Plan
	with     Runner
	journal  *Journal
	progress func(done, total int)
	dir      string
	todo     []int // numbers of runs
	outcomes []Outcome
}

// ended is a run that has ended.
type ended struct {
	run     int
	outcome Outcome
	err     error
}

// all has workers make the runs that are to do, and keeps what comes of them. It
// returns when the last worker has.
func (m *making) all(ctx context.Context, workers int) error {
	if workers <= 0 {
		workers = 2 * runtime.GOMAXPROCS(0) // a run often waits for a goroutine of its own
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	done := 0
	for r := range m.start(ctx, min(workers, len(m.todo))) {
		if err := m.keep(r); err != nil {
			stop(err)
			continue
		}
		if done++; m.progress != nil {
			m.progress(done, len(m.todo))
		}
	}
	if done == len(m.todo) {
		return nil
	}
	return context.Cause(ctx)
}

// start gives the runs that are to do, in their order, to workers. The channel has
// what comes of each, and is closed when the last worker is done.
func (m *making) start(ctx context.Context, workers int) <-chan ended {
	next, results := make(chan int), make(chan ended, workers)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(next)
		for _, run := range m.todo {
			select {
			case next <- run:
			case <-ctx.Done():
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for run := range next {
				out, err := m.one(ctx, run)
				results <- ended{run, out, err}
			}
		})
	}
	go func() { wg.Wait(); close(results) }()
	return results
}

func (m *making) one(ctx context.Context, run int) (Outcome, error) {
	r := m.plan.At(run)
	c := r.Config()
	c.Dir = m.dir
	result, err := m.with.Run(ctx, c)
	if err != nil {
		return Outcome{}, fmt.Errorf("run %s of seed %d: %w", r, m.plan.Seed, err)
	}
	return Of(result), nil
}

// keep has what is odd made again by the next sweep: it may be the machine's doing.
func (m *making) keep(r ended) error {
	if r.err != nil {
		return r.err
	}
	if m.journal != nil && r.outcome.Odd == 0 {
		if err := m.journal.add(r.run, r.outcome); err != nil {
			return err
		}
	}
	m.outcomes[r.run] = r.outcome
	return nil
}
