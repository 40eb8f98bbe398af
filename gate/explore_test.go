package gate

import (
	"flag"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Everything is explored with go test ./gate -run Explore -args -explore, which
// takes minutes; without, what fits into seconds.
var everything = flag.Bool("explore", false, "explore all scenarios")

// survey explores scenarios, as many at once as there are processors, and adds up
// what there is to see.
func survey(t *testing.T, what string, scenarios []*explorer) {
	t.Helper()
	at, states, moves := time.Now(), 0, 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan *explorer)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for x := range next {
				s, n, err := x.explore()
				x.seen = nil
				mu.Lock()
				states, moves = states+s, moves+n
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, x := range scenarios {
		next <- x
	}
	close(next)
	wg.Wait()
	t.Logf("%s: %d scenarios, %d states, %d moves, %v", what, len(scenarios), states, moves, time.Since(at).Round(time.Millisecond))
}

func TestExplore(t *testing.T) {
	stage, err := newStage()
	if err != nil {
		t.Fatal(err)
	}
	if *everything {
		survey(t, "one call, three disturbances", ones(stage, 3, true))
		survey(t, "one call and the sessions' beginning, three disturbances", openings(stage, 3))
		survey(t, "two calls, two disturbances", pairs(stage, 2))
		survey(t, "three calls, none", triples(stage, kinds, 0))
		survey(t, "three calls, one disturbance", triples(stage, leading(), 1))
		return
	}
	survey(t, "one call, two disturbances", ones(stage, 2, true))
	survey(t, "one call and the sessions' beginning, two disturbances", openings(stage, 2))
	survey(t, "two calls, one disturbance, a sample", sample(pairs(stage, 1), 6))
	survey(t, "three calls, none, a sample", sample(triples(stage, kinds, 0), 10))
}
