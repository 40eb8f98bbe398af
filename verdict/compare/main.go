// Command compare has package verdict and the independent checker judge random
// logs, and says where they disagree.
//
//	go run ./verdict/compare [-from seed] [-n logs]
//
// It ends at the first disagreement with exit code 1 and prints the log.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/verdict/verdicttest"
)

func main() {
	from := flag.Uint64("from", 0, "first seed")
	n := flag.Uint64("n", 1_000_000, "how many logs")
	flag.Parse()
	began := time.Now()
	seed, words := compare(*from, *n)
	if words != "" {
		fmt.Printf("seed %d:\n%s\n%s\n", seed, words, verdicttest.Random(seed))
		os.Exit(1)
	}
	took := time.Since(began)
	fmt.Printf("%d logs from seed %d: no disagreement (%.0f logs/s)\n", *n, *from, float64(*n)/took.Seconds())
}

// compare looks at n seeds on all processors, and stops at the first
// disagreement.
func compare(from, n uint64) (seed uint64, words string) {
	var next atomic.Uint64
	var stop atomic.Bool
	var once sync.Once
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < n && !stop.Load(); i = next.Add(1) - 1 {
				if w := verdicttest.Compare(verdicttest.Random(from + i)); w != "" {
					stop.Store(true)
					once.Do(func() { seed, words = from+i, w })
				}
			}
		})
	}
	all.Wait()
	return seed, words
}
