package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/sweep"
)

type sweepCmd struct {
	Seeds     int      `help:"Runs of each scenario in each cell; 200 if nothing else is said." placeholder:"S"`
	Seed      *uint64  `help:"Seed of the sweep, from which all others follow; 1 if nothing else is said." placeholder:"N"`
	Scenarios []string `help:"paper (clean and F1 to F4, if nothing else is said), all, or names." placeholder:"NAME"`
	Cells     []string `help:"Only cells of these sizes, such as N=10,K=2; N is 10, 50 or 200, K is 2, 4 or 8, R is 5, 10 or 25." placeholder:"SIZE"`
	Criterion string   `help:"What judges the runs: iff's verdict, or the paper's definition, literally or collapsed to sets." enum:"iff,paper-literal,paper-set" default:"iff"`
	Format    string   `help:"How the result is printed." enum:"text,markdown,csv,json,latex" default:"text"`
	Workers   int      `help:"Runs at once; by default twice as many as there are processors." placeholder:"N"`
	Dir       string   `help:"Where corpora are made, in a directory of their own; by default memory." placeholder:"DIR"`
	Out       string   `help:"Keep every run in this directory, and tables at the end. Again with the same directory it goes on, or judges anew." placeholder:"DIR"`
	Only      string   `help:"Make one run, and show what came of it." placeholder:"CELL/SCENARIO/INDEX"`
}

// Bounds of a sweep.
const (
	sweepSeeds   = 200
	sweepSeed    = 1
	mostWorkers  = 256
	sweepMemory  = 140 << 20 // bytes that the collector aims at
	sweepGarbage = 4000      // percent: runs leave much and keep little
)

// Run makes the runs, or reads those that are kept, and judges them.
func (c sweepCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(sweepGarbage))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(sweepMemory))
	if c.Only != "" {
		return c.one(a)
	}
	p, err := c.plan()
	if err != nil {
		return err
	}
	outcomes, err := c.outcomes(a, p)
	if err != nil {
		return err
	}
	report := sweep.Judge(p, outcomes, ensemble.Criterion(c.Criterion))
	if c.Out != "" {
		if err := keepTables(c.Out, report, outcomes); err != nil {
			return &advisedError{fmt.Errorf("the runs are kept, the tables are not: %w", err), "make room, then run it again"}
		}
	}
	if err := c.show(a, report, outcomes); err != nil {
		return err
	}
	if !report.Holds() {
		return &outcomeError{exitDoesNot}
	}
	return nil
}

func (c sweepCmd) check() error {
	bad := func(format string, args ...any) error {
		return &usageError{reason: "usage", detail: fmt.Sprintf(format, args...), remedy: "see: iff sweep --help"}
	}
	switch {
	case c.Seeds < 0:
		return bad("--seeds is %d; it is 1 or more", c.Seeds)
	case c.Workers < 0 || c.Workers > mostWorkers:
		return bad("--workers is %d; it goes from 1 to %d", c.Workers, mostWorkers)
	case c.Only != "" && (c.Out != "" || c.Seeds != 0 || c.Scenarios != nil || c.Cells != nil):
		return bad("--only is one run: it goes with --seed, --criterion and --dir, and not with --out, --seeds, --scenarios or --cells")
	case c.Only != "" && c.Format != "text" && c.Format != "json":
		return bad("--only prints no table; leave out --format %s", c.Format)
	}
	return errors.Join(existing("--dir", c.Dir), existing("--out", placeOf(c.Out)))
}

// existing says of a flag that its directory is not there. An empty one was not
// given.
func existing(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &usageError{reason: "usage", detail: fmt.Sprintf("%s: there is no directory %q", flag, dir), remedy: "make it, or name another one"}
	}
	return nil
}

// placeOf is a directory if something is there, or else where it is to be made.
func placeOf(dir string) string {
	if _, err := os.Lstat(dir); dir == "" || err == nil {
		return dir
	}
	return filepath.Dir(filepath.Clean(dir))
}

// plan is that of the directory, if there is one, with what the flags say.
func (c sweepCmd) plan() (sweep.Plan, error) {
	p := sweep.Plan{Seed: sweepSeed, Seeds: sweepSeeds, Cells: sweep.Cells(), Scenarios: ensemble.PaperScenarios()}
	if c.Out != "" {
		kept, ok, err := sweep.Planned(c.Out)
		if err != nil {
			return p, err
		}
		if ok {
			p = kept
		}
	}
	p.Version = iff.Version
	if c.Seed != nil {
		p.Seed = *c.Seed
	}
	if c.Seeds != 0 {
		p.Seeds = c.Seeds
	}
	var err error
	if c.Cells != nil {
		if p.Cells, err = cellsWith(c.Cells); err != nil {
			return p, err
		}
	}
	if c.Scenarios != nil {
		if p.Scenarios, err = scenariosOf(c.Scenarios); err != nil {
			return p, err
		}
	}
	if err := p.Check(); err != nil {
		return p, &usageError{reason: "usage", detail: strings.TrimPrefix(err.Error(), "sweep: "), remedy: "see: iff sweep --help"}
	}
	return p, nil
}

// cellsWith are those of the paper that have one of the sizes given for each letter.
func cellsWith(sizes []string) ([]sweep.Cell, error) {
	all := sweep.Cells()
	allowed := map[string][]int{}
	for _, text := range sizes {
		name, value, _ := strings.Cut(text, "=")
		n, err := strconv.Atoi(value)
		if err != nil || !slices.ContainsFunc(all, func(c sweep.Cell) bool { return sizeOf(c, name) == n }) {
			return nil, &usageError{reason: "usage", detail: fmt.Sprintf("--cells: there is no cell of %q", text), remedy: "N is 10, 50 or 200, K is 2, 4 or 8, R is 5, 10 or 25; such as --cells N=10,K=2"}
		}
		allowed[name] = append(allowed[name], n)
	}
	return slices.DeleteFunc(all, func(c sweep.Cell) bool {
		for name, of := range allowed {
			if !slices.Contains(of, sizeOf(c, name)) {
				return true
			}
		}
		return false
	}), nil
}

// sizeOf is 0 for a name that is none; no size is 0.
func sizeOf(c sweep.Cell, name string) int {
	switch name {
	case "N":
		return c.N
	case "K":
		return c.K
	case "R":
		return c.R
	}
	return 0
}

// scenariosOf are those named, in the order in which tables have them.
func scenariosOf(wanted []string) ([]ensemble.Scenario, error) {
	switch {
	case slices.Equal(wanted, []string{"paper"}):
		return ensemble.PaperScenarios(), nil
	case slices.Equal(wanted, []string{"all"}):
		return ensemble.Scenarios(), nil
	}
	for _, name := range wanted {
		if _, err := sweep.Scenario(name); err != nil {
			return nil, &usageError{reason: "usage", detail: "--scenarios: " + err.Error(), remedy: "name some of them, or all, or paper"}
		}
	}
	return slices.DeleteFunc(ensemble.Scenarios(), func(s ensemble.Scenario) bool { return !slices.Contains(wanted, s.Name) }), nil
}

// outcomes makes what is not kept yet.
func (c sweepCmd) outcomes(a *app, p sweep.Plan) (out []sweep.Outcome, err error) {
	o := sweep.Options{Workers: c.Workers, Dir: c.Dir}
	kept := 0
	if c.Out != "" {
		if o.Journal, err = sweep.OpenJournal(c.Out, p); err != nil {
			return nil, full(err, c.Out)
		}
		kept = o.Journal.Done()
		if n := o.Journal.Damaged(); n > 0 {
			fmt.Fprintf(a.err, "warning: %s of the journal did not hold; those runs are made again\n", plural(n, "line"))
		}
		if kept == p.Runs() {
			return o.Journal.Outcomes(), o.Journal.Close()
		}
	}
	begun := a.now()
	out, err = c.all(a, p, o)
	if o.Journal != nil {
		err = errors.Join(err, o.Journal.Close())
	}
	made := 0
	for _, r := range out {
		if r.Made() {
			made++
		}
	}
	if err != nil {
		return nil, c.stopped(err, made, p.Runs())
	}
	a.took(made-kept, kept, a.now().Sub(begun))
	return out, nil
}

func (c sweepCmd) all(a *app, p sweep.Plan, o sweep.Options) ([]sweep.Outcome, error) {
	kit, err := ensemble.NewKit(a.ctx)
	if err != nil {
		return nil, err
	}
	m := a.counting("runs")
	defer m.done()
	o.Progress = func(done, total int) {
		if m != nil {
			m.total = int64(total)
			m.at(int64(done))
		}
	}
	return sweep.Make(a.ctx, p, sweep.On{Kit: kit}, o)
}

// counting is a meter of things and not of bytes, for a verb whose result may go
// into a file: it needs a terminal to show itself on, and nothing else.
func (a *app) counting(what string) *meter {
	if !a.tty {
		return nil
	}
	now := a.now()
	return &meter{out: a.err, now: a.now, what: what, begun: now, last: now, unit: count}
}

// took says what differs from one time to the next, apart from the result.
func (a *app) took(made, kept int, d time.Duration) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := ""
	if kept > 0 {
		before = fmt.Sprintf(", %s kept from before", count(int64(kept)))
	}
	fmt.Fprintf(a.err, "%s in %.1f s, %.0f a second, memory %s%s\n", plural(made, "run"), d.Seconds(), float64(made)/max(d.Seconds(), 0.001), size(int64(m.Sys)), before)
}

// stopped says of a sweep that did not end what is left of it, and how to go on.
func (c sweepCmd) stopped(err error, made, of int) error {
	left := "nothing is kept"
	remedy := "run it again; with --out DIR it goes on where it was"
	if c.Out != "" {
		left = "kept in " + filepath.Clean(c.Out)
		remedy = "go on: iff sweep --out " + c.Out
	}
	if errors.Is(err, context.Canceled) {
		return &usageError{reason: "interrupted", detail: fmt.Sprintf("interrupted: %d of %d runs were made, %s", made, of, left), remedy: remedy}
	}
	err = fmt.Errorf("%d of %d runs were made, %s: %w", made, of, left, err)
	if noRoom(err) {
		remedy = "the disk is full: make room, then " + remedy
	}
	return &advisedError{err, remedy}
}

// full says of a journal that cannot be begun that the disk is full, if it is.
func full(err error, dir string) error {
	if noRoom(err) {
		return &advisedError{err, "the disk is full: make room, then iff sweep --out " + dir}
	}
	return err
}

func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || reasonOf(err) == string(audit.LogFull)
}
