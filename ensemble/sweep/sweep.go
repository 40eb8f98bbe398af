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
// once. What Prepare gives is called once, also if the context has ended: then it
// tidies up.
type Runner interface {
	Prepare(c ensemble.Config) (run func(context.Context) (ensemble.Result, error), err error)
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
	run, err := with.Prepare(c)
	if err != nil {
		return ensemble.Result{}, err
	}
	return run(ctx)
}

// making is a sweep under way.
type making struct {
	plan     Plan
	with     Runner
	journal  *Journal
	progress func(done, total int)
	dir      string
	workers  int
	todo     []int // numbers of runs
	outcomes []Outcome
}

// ready is a run whose corpus is made.
type ready struct {
	run  int
	play func(context.Context) (ensemble.Result, error)
	err  error
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
	m.workers = min(workers, len(m.todo))
	done := 0
	for r := range m.start(ctx) {
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
func (m *making) start(ctx context.Context) <-chan ended {
	next, results := make(chan int), make(chan ended, m.workers)
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
	for range m.workers {
		wg.Go(func() { m.work(ctx, next, results) })
	}
	go func() { wg.Wait(); close(results) }()
	return results
}

// ahead is how many corpora a worker makes before it needs them.
const ahead = 2

// work plays runs until none is left, also of those that are prepared.
func (m *making) work(ctx context.Context, next <-chan int, results chan<- ended) {
	var queue []ready
	for {
		for len(queue) == 0 || m.further(queue) {
			run, ok := <-next
			if !ok {
				break
			}
			queue = append(queue, m.prepare(run))
		}
		if len(queue) == 0 {
			return
		}
		r := queue[0]
		queue = queue[1:]
		if r.err != nil { // ahead there may have been no room; now nothing of this worker's is in its way
			r = m.prepare(r.run)
		}
		out, err := m.play(ctx, r)
		results <- ended{r.run, out, err}
	}
}

// roomOfRun is more than a run takes, its corpus and its log, in bytes.
const roomOfRun = 4 << 20

// further says whether a worker makes another corpus ahead: not where one could not
// be made, and not from the room that the runs of all workers may need.
func (m *making) further(queue []ready) bool {
	return len(queue) <= ahead && queue[len(queue)-1].err == nil && room(m.dir) > int64(m.workers)*roomOfRun
}

func (m *making) prepare(run int) ready {
	c := m.plan.At(run).Config()
	c.Dir = m.dir
	play, err := m.with.Prepare(c)
	return ready{run, play, err}
}

func (m *making) play(ctx context.Context, r ready) (out Outcome, err error) {
	if err = r.err; err == nil {
		var result ensemble.Result
		if result, err = r.play(ctx); err == nil {
			return Of(result), nil
		}
	}
	return Outcome{}, fmt.Errorf("run %s of seed %d: %w", m.plan.At(r.run), m.plan.Seed, err)
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
