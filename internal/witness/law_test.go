package witness

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// forest is one history and two that fork from it, all signed by the same key.
func forest() []*witnesstest.Log {
	l := grown(20)
	out := []*witnesstest.Log{l}
	for i, at := range []int64{0, 7} {
		f := l.Fork(at)
		f.Grow(20, fmt.Sprint("fork ", i))
		out = append(out, f)
	}
	return out
}

// point is a checkpoint that was cosigned.
type point struct {
	size int64
	root tlog.Hash
}

// oneHistory says whether all points lie on one of the histories: then, and only then, every pair is consistent.
func oneHistory(histories []*witnesstest.Log, points []point) error {
	for _, l := range histories {
		all := true
		for _, p := range points {
			all = all && l.Root(p.size) == p.root
		}
		if all {
			return nil
		}
	}
	return fmt.Errorf("no history has all of %v", points)
}

// play asks a witness at random, restarting it now and then, and gives an error if what it cosigned does not lie in one history,
// in order.
func play(s steps, turns int, pick func(n int, what string) int) error {
	d, histories := durabletest.New(), forest()
	opts := Options{Name: name, Logs: []string{histories[0].VerifierKey()}}
	w, err := Open(d, dir, opts)
	var points []point
	for turn := 0; turn < turns && err == nil; turn++ {
		if pick(12, "restart") == 11 {
			w.Close()
			if w, err = Open(d, dir, opts); err != nil {
				return err
			}
		}
		l := histories[pick(3, "history")]
		size := int64(pick(20, "size") + 1)
		old := w.logs[origin].held.size
		if pick(4, "old") == 3 {
			old = int64(pick(21, "which old"))
		}
		var proof []tlog.Hash
		if from := min(old, size); from > 0 && pick(5, "proof") != 4 {
			proof = l.Prove(from, size)
		}
		if _, e := w.cosign(s, witnesstest.Request(old, proof, l.Checkpoint(size))); e.Outcome == Cosigned {
			if n := len(points); n > 0 && points[n-1].size > size {
				return fmt.Errorf("%d after %d", size, points[n-1].size)
			}
			points = append(points, point{size, l.Root(size)})
			err = oneHistory(histories, points)
		}
	}
	w.Close()
	return err
}

func TestCosignsOneHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := rapid.IntRange(1, 60).Draw(t, "turns")
		err := play(right(), turns, func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) })
		if err != nil {
			t.Fatal(err)
		}
	})
}

// mutants are wrong ways to judge and to keep, each of which a law or the matrix must catch.
func mutants() map[string]steps {
	wrong := func(f func(held, given head, old int64, proof tlog.TreeProof) Outcome) steps {
		return steps{f, (*Witness).keep}
	}
	return map[string]steps{
		"sizes compared with <=": wrong(func(held, given head, old int64, proof tlog.TreeProof) Outcome {
			if old <= held.size && old < given.size {
				held.size = old
				if old == 0 {
					return Cosigned
				}
			}
			return judge(held, given, old, proof)
		}),
		"proof not checked": wrong(func(held, given head, old int64, _ tlog.TreeProof) Outcome {
			if old == held.size && old < given.size {
				return Cosigned
			}
			return judge(held, given, old, nil)
		}),
		"proof checked against the size alone": wrong(func(held, given head, old int64, proof tlog.TreeProof) Outcome {
			if held.size > 0 && old == held.size && old < given.size && len(proof) > 0 {
				return Cosigned
			}
			return judge(held, given, old, proof)
		}),
		"root not compared at the same size": wrong(func(held, given head, old int64, proof tlog.TreeProof) Outcome {
			if old == held.size && old == given.size {
				return Cosigned
			}
			return judge(held, given, old, proof)
		}),
		"old size believed": wrong(func(held, given head, old int64, proof tlog.TreeProof) Outcome {
			held.size = old
			return judge(held, given, old, proof)
		}),
		"kept nowhere": {judge, func(*Witness, string, []byte) error { return nil }},
		"kept in memory until the next one": {judge, func() func(*Witness, string, []byte) error {
			var before []byte
			return func(w *Witness, origin string, cosigned []byte) error {
				now := before
				before = cosigned
				if now == nil {
					return nil
				}
				return w.keep(origin, now)
			}
		}()},
	}
}

func TestLawCatches(t *testing.T) {
	for what, s := range mutants() {
		caught := error(nil)
		for seed := uint64(0); seed < 400 && caught == nil; seed++ {
			r := rand.New(rand.NewPCG(seed, 1))
			caught = play(s, 60, func(n int, _ string) int { return r.IntN(n) })
		}
		if caught == nil {
			t.Errorf("%s: not caught", what)
		}
		t.Logf("%s: %v", what, caught)
	}
}

// Of two forks that arrive at once one wins, and stays.
func TestConcurrentForks(t *testing.T) {
	d, histories := durabletest.New(), forest()
	w := opened(t, d, histories[0].VerifierKey())
	var mu sync.Mutex
	var points []point
	race(w, histories, func(p point) {
		mu.Lock()
		defer mu.Unlock()
		points = append(points, p)
	})
	if err := oneHistory(histories, points); err != nil {
		t.Error(err)
	}
	if len(points) == 0 {
		t.Error("nothing was cosigned")
	}
}

// race has several clients of each history push it as far as it goes.
func race(w *Witness, histories []*witnesstest.Log, cosigned func(point)) {
	var wg sync.WaitGroup
	for i := range 9 {
		l := histories[i%len(histories)]
		wg.Go(func() {
			old := int64(0)
			for size := int64(1 + i); size <= l.Size(); size++ {
				o, out := ask(w, l.Request(min(old, size), size))
				if o == Conflict {
					fmt.Sscan(string(out), &old)
				}
				if o == Cosigned {
					old = size
					cosigned(point{size, l.Root(size)})
				}
			}
		})
	}
	wg.Wait()
}

// A witness that lets go between checking and writing is caught: both forks get there.
func TestConcurrentForksCatches(t *testing.T) {
	histories := forest()[:2]
	w := opened(t, durabletest.New(), histories[0].VerifierKey())
	var meet, wg sync.WaitGroup
	meet.Add(len(histories))
	torn := steps{judge, func(w *Witness, _ string, _ []byte) error {
		w.mu.Unlock()
		defer w.mu.Lock()
		meet.Done()
		meet.Wait()
		return nil
	}}
	points := make([]point, len(histories))
	for i, l := range histories {
		wg.Go(func() {
			if _, e := w.cosign(torn, l.Request(0, 9)); e.Outcome == Cosigned {
				points[i] = point{9, l.Root(9)}
			}
		})
	}
	wg.Wait()
	if oneHistory(histories, points) == nil {
		t.Error("not caught")
	}
}
