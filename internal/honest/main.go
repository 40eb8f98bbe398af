// Command honest plays many seeded runs of agents over real files, and looks at every verdict.
//
//	go run ./internal/honest -n 100000
//	go run ./internal/honest -n 100000 -faults
//
// An honest run has up to 200 files, 8 agents and 25 rounds of calls of every kind, at once, through the whole gate; its verdict has to
// be PASS. With -faults each run has one fault of package ensemble, all in turn; its verdict has to be FAIL with the class of the fault on the
// objects of the fault, PASS where no verdict can see it, PASS or OPEN where the runtime was killed.
//
// Every run that ends otherwise is printed with what makes it again: -seed S -n 1, with -fault F. Interleaving is not part of a seed, so
// a run may have to be made many times: -again 1000. The exit is 1 if there was any.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/iff-run/iff/ensemble"
)

func main() {
	o := options{}
	flag.Uint64Var(&o.seed, "seed", 1, "of the first run; each has one more")
	flag.Uint64Var(&o.n, "n", 1000, "how many runs")
	flag.Uint64Var(&o.again, "again", 1, "how often each seed is played")
	flag.BoolVar(&o.faults, "faults", false, "put a fault into each run, all in turn")
	fault := flag.String("fault", "", "put this fault into each run")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at once")
	flag.IntVar(&o.size.N, "N", 0, "files; 0 is by the seed")
	flag.IntVar(&o.size.K, "K", 0, "agents; 0 is by the seed")
	flag.IntVar(&o.size.R, "R", 0, "rounds; 0 is by the seed")
	flag.StringVar(&o.dir, "dir", "", "where corpora are made; memory if empty")
	limit := flag.Duration("for", 0, "stop after this long; 0 is never")
	profile := flag.String("cpuprofile", "", "write a profile here")
	flag.Parse()
	debug.SetGCPercent(400) // runs are short, and memory is plenty
	o.fault = ensemble.Fault(*fault)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *profile != "" {
		f, err := os.Create(*profile)
		fail(err)
		fail(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	var until time.Time
	if *limit > 0 {
		until = time.Now().Add(*limit)
	}
	kit, err := ensemble.NewKit(ctx)
	fail(err)
	t := newTotals(os.Stdout)
	fail(o.sweep(ctx, kit, t, until))
	t.print()
	if t.wrong > 0 {
		pprof.StopCPUProfile()
		os.Exit(1)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
