package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// byWorkers is what sweeps put out that differ only in how many runs are made at
// once.
func byWorkers(t *testing.T, bend func(ensemble.Config, *ensemble.Result) error) []string {
	t.Helper()
	p := small(25)
	var out []string
	for _, workers := range []int{1, 2, 7} {
		f := &fake{bend: bend}
		outcomes, err := Make(t.Context(), p, f, Options{Workers: workers, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if f.count() != p.Runs() || len(f.made) != p.Runs() {
			t.Fatalf("%d workers made %d runs, %d of them different, and not %d", workers, f.count(), len(f.made), p.Runs())
		}
		out = append(out, printed(t, p, outcomes))
	}
	return out
}

func TestSameBytesWhateverTheWorkers(t *testing.T) {
	if out := byWorkers(t, nil); len(slices.Compact(out)) != 1 {
		t.Error("the result differs with the number of workers")
	}
	var at atomic.Int64
	counting := func(_ ensemble.Config, r *ensemble.Result) error { r.Calls = at.Add(1); return nil }
	if out := byWorkers(t, counting); len(slices.Compact(out)) == 1 {
		t.Error("the check lets runs pass that depend on when they are made")
	}
}

func TestWrongRunsAreCounted(t *testing.T) {
	p := Plan{Version: "1", Seed: 3, Seeds: 2, Cells: []Cell{{10, 2, 5}, {50, 4, 10}}, Scenarios: ensemble.Scenarios()}
	find := func(name string) (int, Run) {
		for i := range p.Runs() {
			if r := p.At(i); r.Scenario.Name == name && r.Index == 1 && r.Cell.N == 50 {
				return i, r
			}
		}
		t.Fatalf("no scenario %s", name)
		return 0, Run{}
	}
	for _, c := range []struct {
		scenario string
		bend     func(*ensemble.Result)
		want     Report
	}{
		{"clean", func(r *ensemble.Result) { r.Verdict = record.Fail }, Report{FalseAlarms: 1}},
		{"clean", func(r *ensemble.Result) { r.Verdict = record.Open }, Report{FalseAlarms: 1}},
		{"f3", func(r *ensemble.Result) { r.Verdict = record.Pass }, Report{Misses: 1}},
		{"f3", func(r *ensemble.Result) { r.Verdict = record.Open }, Report{Misses: 1}},
		{"f3", func(r *ensemble.Result) { r.Report.Findings[0].Class = verdict.Drift }, Report{Misplaced: 1}},
		{"f3", func(r *ensemble.Result) { r.Report.Findings[0].Object = "work:elsewhere" }, Report{Misplaced: 1}},
		{"f4", func(r *ensemble.Result) { r.Odd = []string{"x"} }, Report{Misplaced: 1, Odd: 1}},
		{"crash", func(r *ensemble.Result) { r.Verdict = record.Fail }, Report{FalseAlarms: 1}},
		{"crash", func(r *ensemble.Result) { r.Verdict = record.Open }, Report{}},
	} {
		number, run := find(c.scenario)
		f := &fake{bend: func(made ensemble.Config, r *ensemble.Result) error {
			if made.Fault == ensemble.Crash || slices.Contains([]ensemble.Fault{ensemble.Restored, ensemble.Erased, ensemble.Unobserved}, made.Fault) {
				*r = ensemble.Result{Config: made, Verdict: record.Pass}
			}
			if made.Seed == run.Seed {
				c.bend(r)
			}
			return nil
		}}
		outcomes, err := Make(t.Context(), p, f, Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		got := Judge(p, outcomes, ensemble.ByIff)
		if got.FalseAlarms != c.want.FalseAlarms || got.Misses != c.want.Misses || got.Misplaced != c.want.Misplaced || got.Odd != c.want.Odd {
			t.Errorf("%s: %d false alarms, %d misses, %d misplaced, %d odd", c.scenario, got.FalseAlarms, got.Misses, got.Misplaced, got.Odd)
		}
		sum := c.want.FalseAlarms + c.want.Misses
		if got.Holds() != (sum+c.want.Misplaced == 0) || got.Total() != (Rate{p.Runs() - sum, p.Runs()}) {
			t.Errorf("%s: holds %v, total %v", c.scenario, got.Holds(), got.Total())
		}
		if sum+c.want.Misplaced > 0 && !slices.Equal(got.Wrong, []int{number}) {
			t.Errorf("%s: wrong runs are %v and not %d", c.scenario, got.Wrong, number)
		}
		if sum > 0 && (got.WorstFirst()[0].Cell != run.Cell || got.WorstFirst()[0].Wrong() != 1) {
			t.Errorf("%s: the worst cell is %v", c.scenario, got.WorstFirst()[0])
		}
	}
}

// TestCriteriaJudgeTheSameRuns gives each criterion another opinion of one run.
func TestCriteriaJudgeTheSameRuns(t *testing.T) {
	p := small(2)
	f := &fake{bend: func(c ensemble.Config, r *ensemble.Result) error {
		r.Literal = false
		r.Set = true
		return nil
	}}
	outcomes, err := Make(t.Context(), p, f, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[ensemble.Criterion][2]int{ensemble.ByIff: {0, 0}, ensemble.ByPaperLiteral: {4, 0}, ensemble.ByPaperSet: {0, 4}} {
		r := Judge(p, outcomes, by)
		if r.FalseAlarms != want[0] || r.Misses != want[1] || r.Misplaced != 0 {
			t.Errorf("%s: %d false alarms, %d misses, %d misplaced", by, r.FalseAlarms, r.Misses, r.Misplaced)
		}
	}
}

// A sweep needs no more room than a corpus for each worker: where there is no more,
// none is made ahead.
func TestNoRoomAhead(t *testing.T) {
	p := small(25)
	for _, most := range []int64{1, 2, 0} {
		f := &fake{room: most}
		if _, err := Make(t.Context(), p, f, Options{Workers: 1, Dir: t.TempDir()}); err != nil || f.count() != p.Runs() {
			t.Errorf("with room for %d corpora %d runs were made: %v", most, f.count(), err)
		}
	}
	full := errors.New("full")
	for _, c := range []struct {
		workers int
		queue   []series
		further bool
	}{
		{1, []series{{}}, true},
		{1, []series{{}, {}, {}}, false},
		{1, []series{{err: full}}, false},
		{1 << 40, []series{{}}, false}, // there is not that much room
	} {
		m := &making{dir: t.TempDir(), workers: c.workers}
		if got := m.further(c.queue); got != (c.further && room(m.dir) > 1) {
			t.Errorf("%d workers, %d ahead: another one %v", c.workers, len(c.queue), got)
		}
	}
	if room(t.TempDir()) == 0 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
		t.Error("how much room there is was not told")
	}
}

// Runs of one index have one corpus. One that cannot be had again is made again; that
// others were at it is told.
func TestRunsShareCorpora(t *testing.T) {
	p := Plan{Version: "1", Seed: 42, Seeds: 40, Cells: small(1).Cells, Scenarios: ensemble.PaperScenarios()}
	series := int64(p.Runs() / len(p.Scenarios))
	for _, c := range []struct {
		what     string
		worn     func() error
		from, to int64 // corpora
		tells    bool
	}{
		{"nothing", nil, series, series + 60, false}, // the last few are split among workers
		{"no room", func() error { return errors.New("no space left") }, int64(p.Runs()), int64(p.Runs()), false},
		{"others", func() error { return fmt.Errorf("%w: replaced", ensemble.ErrNotOurs) }, 1, series, true},
	} {
		f := &fake{worn: c.worn}
		outcomes, err := Make(t.Context(), p, f, Options{Workers: 3, Dir: t.TempDir()})
		if errors.Is(err, ensemble.ErrNotOurs) != c.tells || (err != nil) != c.tells {
			t.Errorf("%s: it ended with %v", c.what, err)
		}
		if n := f.sites.Load(); n < c.from || n > c.to {
			t.Errorf("%s: %d corpora were made for %d runs", c.what, n, p.Runs())
		}
		if !c.tells && slices.ContainsFunc(outcomes, func(o Outcome) bool { return !o.Made() }) {
			t.Errorf("%s: runs are missing", c.what)
		}
		if n := f.ahead.Load(); n != 0 {
			t.Errorf("%s: %d corpora were forgotten", c.what, n)
		}
	}
}

// Every worker has runs, also where there are few.
func TestFewRunsForManyWorkers(t *testing.T) {
	var mu sync.Mutex
	together, most := 0, 0
	enough := make(chan struct{})
	p := Plan{Version: "1", Seed: 42, Seeds: 1, Cells: small(1).Cells, Scenarios: ensemble.Scenarios()}
	f := &fake{bend: func(ensemble.Config, *ensemble.Result) error {
		mu.Lock()
		if together++; together > most {
			if most = together; most == 8 {
				close(enough)
			}
		}
		mu.Unlock()
		select { // each waits until eight are at work
		case <-enough:
		case <-time.After(20 * time.Second):
		}
		mu.Lock()
		together--
		mu.Unlock()
		return nil
	}}
	if _, err := Make(t.Context(), p, f, Options{Workers: 8, Dir: t.TempDir()}); err != nil || most != 8 {
		t.Errorf("of 8 workers %d are at work at once: %v", most, err)
	}
}

// A corpus that cannot be made is no corpus.
func TestRealCorpusThatCannotBeMade(t *testing.T) {
	kit, err := ensemble.NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := small(1).At(0).Config()
	for what, bend := range map[string]func(*ensemble.Config){
		"no directory": func(c *ensemble.Config) { c.Dir = filepath.Join(t.TempDir(), "gone") },
		"no such cell": func(c *ensemble.Config) { c.N = 1000 },
	} {
		bad := c
		bend(&bad)
		if s, err := (On{kit}).Site(bad); err == nil || s != nil {
			t.Errorf("%s: %v, %v", what, s, err)
		}
	}
}

func TestStopped(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	f := new(fake)
	f.bend = func(ensemble.Config, *ensemble.Result) error {
		if f.count() == 5 {
			stop()
		}
		return nil
	}
	p := small(50)
	outcomes, err := Make(ctx, p, f, Options{Workers: 2, Dir: dir})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if n := len(slices.DeleteFunc(outcomes, func(o Outcome) bool { return !o.Made() })); n == 0 || n > 10 {
		t.Errorf("%d runs are there of 5 or so", n)
	}
	if n := f.ahead.Load(); n != 0 {
		t.Errorf("%d corpora were made and forgotten", n)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	broken := errors.New("broken")
	_, err = Make(t.Context(), p, &fake{bend: func(c ensemble.Config, _ *ensemble.Result) error {
		if c.Seed == p.At(17).Seed {
			return broken
		}
		return nil
	}}, Options{Workers: 3, Dir: dir})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), p.At(17).String()+" of seed 42") {
		t.Errorf("a run that cannot be made: %v", err)
	}
}
