// Command gatecrash kills runtimes in the middle of calls on real files, and
// looks each time that nothing is left unexplained.
//
//	go run ./internal/gatecrash -n 500
//
// One process after the other starts a runtime on the same home and corpus, and
// has many sessions write, append, rename, delete and change modes at once. It
// is killed with SIGKILL at a random instant: while it starts and resolves what
// the one before left, in the middle of calls, while it ends. Then:
//
//	the verdict over everything since the first snapshot is PASS, or OPEN with
//	the calls named, and never FAIL
//	whatever was told to an agent as done is in the log as done
//	after the next start no staging name is left in the corpus
//	the log verifies
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"
)

func main() {
	n := flag.Int("n", 200, "how many processes are killed")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the calls, and of the instants at which they are killed")
	child := flag.String("child", "", "be a process that is killed: make calls on the home in this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *child != "" {
		fail(work(ctx, *child, *seed, os.Stdout, honest))
		return
	}
	dir, err := os.MkdirTemp("", "iff-gatecrash-")
	fail(err)
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	fail(err)
	fmt.Printf("seed %d, in %s\n", *seed, dir)
	r := &run{dir: dir, command: []string{self, "-child"}, rand: rand.New(rand.NewPCG(*seed, 0))}
	err = r.kills(ctx, *n, func() { fmt.Println(r.summary()) })
	fmt.Println(r.summary())
	fail(err)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
