package gate

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// sampled is how many mutants are made without -explore.
const sampled = 8

// TestMutants plants bugs in the machine and looks for each with the laws and the
// exploration, which find nothing in the machine as it is. With -explore all of
// them are planted, else some, others every time.
func TestMutants(t *testing.T) {
	all := slices.Concat(mutants, mutantsElsewhere)
	n := newNursery(t)
	for _, m := range all {
		n.mutated(m) // each has to be possible
	}
	if !*everything {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:sampled]
	}
	all = append([]mutant{{name: "none"}}, all...)
	for i, m := range all {
		n.add(i, m)
	}
	program := n.build()
	killed := hunted(t, program, len(all))
	for i, m := range all {
		found := killed[i]
		switch {
		case i == 0 && found != "":
			t.Errorf("the machine as it is: %s", found)
		case i > 0 && found == "":
			t.Errorf("%s (%s): nobody finds it", m.name, m.file)
		case i > 0:
			t.Logf("%s: %s", m.name, found)
		}
	}
	t.Logf("%d bugs planted", len(all)-1)
}

// hunted runs the program for each mutant and gives the last line of what it
// found; empty if it found nothing.
func hunted(t *testing.T, program string, mutants int) []string {
	t.Helper()
	found := make([]string, mutants)
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				found[i] = huntOne(t, program, i)
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	wg.Wait()
	return found
}

func huntOne(t *testing.T, program string, i int) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, strconv.Itoa(i)).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &exit):
		t.Errorf("mutant %d: %v", i, err)
		return ""
	}
	text := strings.TrimSpace(string(out))
	if exit.ExitCode() != 1 {
		line, _, _ := strings.Cut(text, "\n")
		return line // it broke down
	}
	return text[strings.LastIndex(text, "\n")+1:]
}
