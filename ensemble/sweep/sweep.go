package sweep

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/iff-run/iff/ensemble"
)

// Runner makes corpora for runs; that of an [ensemble.Kit] is [On]. It is used by
// several goroutines at once.
type Runner interface {
	Site(c ensemble.Config) (Site, error)
}

// Site is a corpus on which runs are played one after the other ([ensemble.Site]).
// What it has is used by one goroutine at a time.
type Site interface {
	Run(ctx context.Context, c ensemble.Config) (ensemble.Result, error)
	Restore() error
	Close() error
}

// On makes real runs.
type On struct{ Kit *ensemble.Kit }

// Site implements [Runner].
func (o On) Site(c ensemble.Config) (Site, error) {
	s, err := o.Kit.Site(c)
	if err != nil {
		return nil, err // and no Site that is a nil one
	}
	return s, nil
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
	site, err := with.Site(c)
	if err != nil {
		return ensemble.Result{}, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	return site.Run(ctx, c)
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

// series is runs that have their corpus in common.
type series struct {
	runs []int // that are to do
	site Site  // nil if their corpus is not made
	err  error // why it could not be
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
	next, results := make(chan series), make(chan ended, m.workers)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(next)
		for todo := m.todo; len(todo) > 0; {
			most := 1 + len(todo)/(m.workers*(1+ahead)) // so that no worker is without while another has many
			n := min(m.together(todo), most)
			select {
			case next <- series{runs: todo[:n]}:
				todo = todo[n:]
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

// together is how many of the next runs have their corpus in common.
func (m *making) together(todo []int) int {
	first := m.plan.At(todo[0])
	n := 1
	for n < len(todo) && m.plan.At(todo[n]).Files == first.Files {
		n++
	}
	return n
}

// ahead is how many corpora a worker has beside the one that it needs.
const ahead = 2

// work plays runs until none is left, in turn on the corpora that it has: then most
// files of each are older than a tick of a clock.
func (m *making) work(ctx context.Context, next <-chan series, results chan<- ended) {
	var queue []series
	defer func() {
		for _, g := range queue {
			if err := g.close(); err != nil {
				results <- ended{g.runs[0], Outcome{}, err}
			}
		}
	}()
	for ctx.Err() == nil {
		for len(queue) == 0 || m.further(queue) {
			g, ok := <-next
			if !ok {
				break
			}
			queue = append(queue, g)
			m.settle(&queue[len(queue)-1])
		}
		if len(queue) == 0 {
			return
		}
		run := queue[0].runs[0]
		out, err := m.play(ctx, queue)
		g := queue[0]
		if queue = queue[1:]; len(g.runs) > 0 {
			queue = append(queue, g)
		}
		results <- ended{run, out, err}
	}
}

// More than a run takes, its corpus and its log.
const (
	bytesOfRun = 4 << 20
	filesOfRun = 512 // with directories
)

// further says whether a worker makes another corpus ahead: not where one could not
// be made, and not from the room that the runs of all workers may need.
func (m *making) further(queue []series) bool {
	return len(queue) <= ahead && queue[len(queue)-1].err == nil && room(m.dir) > int64(m.workers)
}

// settle makes the corpus of a series, if it is not there.
func (m *making) settle(g *series) {
	if g.site == nil {
		c := m.plan.At(g.runs[0]).Config()
		c.Dir = m.dir
		g.site, g.err = m.with.Site(c)
	}
}

// clear makes the corpus of the first series, if it is not there: where there is no
// room for it, with those of the others out of its way.
func (m *making) clear(queue []series) error {
	m.settle(&queue[0])
	if queue[0].err == nil {
		return nil
	}
	for i := range queue[1:] {
		if err := queue[1+i].close(); err != nil {
			return err
		}
	}
	m.settle(&queue[0])
	return queue[0].err
}

// play plays the next run of the first series, and has the corpus ready for the one
// behind it, or removes it.
func (m *making) play(ctx context.Context, queue []series) (Outcome, error) {
	err := m.clear(queue)
	g := &queue[0]
	run := m.plan.At(g.runs[0])
	g.runs = g.runs[1:]
	var result ensemble.Result
	if err == nil {
		c := run.Config()
		c.Dir = m.dir
		result, err = g.site.Run(ctx, c)
	}
	if err != nil || len(g.runs) == 0 {
		err = errors.Join(err, g.close())
	} else {
		err = g.restore()
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("run %s of seed %d: %w", run, m.plan.Seed, err)
	}
	return Of(result), nil
}

// restore has the corpus of a series ready for its next run. Where that cannot be for
// now, as there is no room, it is made when its turn comes.
func (g *series) restore() error {
	err := g.site.Restore()
	if err == nil {
		return nil
	}
	if closed := g.close(); closed != nil || errors.Is(err, ensemble.ErrNotOurs) {
		return errors.Join(err, closed)
	}
	return nil
}

// close removes the corpus of a series, if there is one.
func (g *series) close() error {
	if g.site == nil {
		return nil
	}
	s := g.site
	g.site = nil
	return s.Close()
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
