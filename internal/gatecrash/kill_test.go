package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff"
)

var (
	kills = flag.Int("kills", 8, "how many processes TestKills kills")
	child = flag.String("be", "", "be a process that is killed: make calls on the home in this directory")
	buggy = flag.String("be-buggy", "", "the same, with an agent that writes behind the back of iff")
	seed  = flag.Uint64("seed", 1, "of the calls of a process that is killed")
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case *child != "":
		fail(work(context.Background(), *child, *seed, os.Stdout, honest))
		return
	case *buggy != "":
		fail(work(context.Background(), *buggy, *seed, os.Stdout, stealthy(filepath.Join(filepath.Dir(*buggy), "work"))))
		return
	}
	os.Exit(m.Run())
}

func starting(t *testing.T, how string) *run {
	t.Helper()
	return &run{dir: t.TempDir(), command: []string{os.Args[0], how}, rand: rand.New(rand.NewPCG(rand.Uint64(), 0))}
}

func TestKills(t *testing.T) {
	r := starting(t, "-be")
	if err := r.kills(t.Context(), *kills, func() {}); err != nil {
		t.Error(err)
	}
	t.Log(r.summary())
	if r.told == 0 || r.pass+r.open != int64(*kills) {
		t.Error("this shows nothing")
	}
}

// An effect that comes before its intent is found out.
func TestKillsCatch(t *testing.T) {
	r := starting(t, "-be-buggy")
	err := r.kills(t.Context(), 20, func() {})
	if err == nil || !strings.Contains(err.Error(), "FAIL") {
		t.Errorf("not caught: %v", err)
	}
	t.Logf("after %d kills: %.300v", r.killed, err)
}

// stealthy is the planted bug: it writes now and then what it is about to ask
// for.
func stealthy(dir string) func(iff.Call) {
	calls := 0
	var mu sync.Mutex
	return func(c iff.Call) {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%10 == 0 {
			_ = os.WriteFile(filepath.Join(dir, c.Target), []byte("already\n"), 0o644) // where there is no such directory, not
		}
	}
}
