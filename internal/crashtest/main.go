// Command crashtest kills processes that append to a log, and looks each time that the next one finds all that was acknowledged.
//
//	go run ./internal/crashtest -n 2000
//
// One process after the other appends to a log in real files, from many goroutines, and writes the number and hash of each
// record to a pipe as soon as it is acknowledged. It is killed with SIGKILL at a random instant: while it opens the log and
// recovers, while it appends, while it closes. Then the log is opened as the next process would, and read:
//
//	every acknowledged record is in its place, with its hash
//	there is no gap, every line has the hash of the one before, and the whole verifies
//	what was there when the log was last opened is there still, byte for byte: nothing was replaced by something else
//	the calls that are in doubt are those with an intent and no outcome
//
// A process that is killed loses nothing that it gave to the kernel. So this says nothing about syncs and power cuts, which the
// fault matrix of package audit is about; it is about what is written in which order, about locks, recovery, and
// whatever no simulated disk shows.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"github.com/iff-run/iff/internal/durable"
)

func main() {
	n := flag.Int("n", 1000, "how many processes are killed")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the instants at which they are killed")
	dir := flag.String("dir", "", "where the logs are made; a temporary directory if empty")
	child := flag.String("child", "", "be a process that is killed: append to the log in this directory")
	flag.Parse()
	if *child != "" {
		fail(pour(context.Background(), durable.OS(), *child, os.Stdin, os.Stdout))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	where := *dir
	if where == "" {
		temp, err := os.MkdirTemp("", "iff-crashtest-")
		fail(err)
		defer os.RemoveAll(temp)
		where = temp
	}
	self, err := os.Executable()
	fail(err)
	fmt.Printf("seed %d, in %s\n", *seed, where)
	r := run{dir: where, command: []string{self, "-child"}, rand: rand.New(rand.NewPCG(*seed, 0))}
	began := time.Now()
	err = r.kills(ctx, *n, func() { fmt.Println(r.summary(time.Since(began))) })
	fmt.Println(r.summary(time.Since(began)))
	fail(err)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
