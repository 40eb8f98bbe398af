package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iff-run/iff/ensemble"
)

// MaxRuns is how many runs a plan may have.
const MaxRuns = 1 << 20

// Cell is the size of runs: N files, K agents, R rounds.
type Cell struct{ N, K, R int }

// Cells are those of the paper, all 27.
func Cells() []Cell {
	var out []Cell
	for _, n := range []int{10, 50, 200} {
		for _, k := range []int{2, 4, 8} {
			for _, r := range []int{5, 10, 25} {
				out = append(out, Cell{n, k, r})
			}
		}
	}
	return out
}

// String is, for instance, N=10,K=2,R=5.
func (c Cell) String() string { return fmt.Sprintf("N=%d,K=%d,R=%d", c.N, c.K, c.R) }

// ParseCell reads what String writes.
func ParseCell(text string) (Cell, error) {
	for _, c := range Cells() {
		if c.String() == text {
			return c, nil
		}
	}
	return Cell{}, fmt.Errorf("there is no cell %q; one is %s", text, Cells()[0])
}

// Plan says which runs a sweep has. The zero value has none, and is refused.
type Plan struct {
	Version   string // of the program: runs of another may come out otherwise
	Seed      uint64
	Seeds     int // runs of each scenario in each cell, 1 or more
	Cells     []Cell
	Scenarios []ensemble.Scenario
}

// Check says what is wrong with the plan.
func (p Plan) Check() error {
	most := MaxRuns / max(1, len(p.Cells)*len(p.Scenarios))
	switch {
	case len(p.Cells) == 0:
		return fmt.Errorf("sweep: the plan has no cell")
	case len(p.Scenarios) == 0:
		return fmt.Errorf("sweep: the plan has no scenario")
	case p.Seeds < 1 || p.Seeds > most:
		return fmt.Errorf("sweep: seeds are %d; for %d cells and %d scenarios they go from 1 to %d", p.Seeds, len(p.Cells), len(p.Scenarios), most)
	}
	for i, c := range p.Cells {
		if slices.Contains(p.Cells[:i], c) {
			return fmt.Errorf("sweep: cell %s is there twice", c)
		}
	}
	for i, s := range p.Scenarios {
		if slices.Contains(names(p.Scenarios[:i]), s.Name) {
			return fmt.Errorf("sweep: scenario %s is there twice", s.Name)
		}
	}
	return nil
}

// Runs is how many runs there are.
func (p Plan) Runs() int { return p.Seeds * p.round() }

// round is how many runs have the same index.
func (p Plan) round() int { return len(p.Cells) * len(p.Scenarios) }

// At is the i-th run, from 0.
func (p Plan) At(i int) Run {
	at := i % p.round()
	return p.Run(p.Cells[at/len(p.Scenarios)], p.Scenarios[at%len(p.Scenarios)], i/p.round())
}

// Run is a run of a cell and a scenario, whether or not the plan has them.
func (p Plan) Run(c Cell, s ensemble.Scenario, index int) Run {
	return Run{Cell: c, Scenario: s, Index: index, Seed: mix(p.Seed, c, s.Name, index), Files: mix(p.Seed, c, "", index)}
}

// Run is one run of a sweep.
type Run struct {
	Cell     Cell
	Scenario ensemble.Scenario
	Index    int    // from 0
	Seed     uint64 // of all but the corpus
	Files    uint64 // of the corpus, which the runs of an index in a cell have in common
}

// String is, for instance, N=10,K=2,R=5/clean/17.
func (r Run) String() string { return fmt.Sprintf("%s/%s/%d", r.Cell, r.Scenario.Name, r.Index) }

// Config is what makes the run.
func (r Run) Config() ensemble.Config {
	c := r.Scenario.Config(r.Cell.N, r.Cell.K, r.Cell.R, r.Seed)
	c.Files = r.Files
	return c
}

// mix makes a run's seed, or that of its corpus, which no scenario names. It must stay
// as it is: what is printed of a run makes it again.
func mix(seed uint64, c Cell, scenario string, index int) uint64 {
	text := strings.Join([]string{"iff/sweep/v1", strconv.FormatUint(seed, 10), c.String(), scenario, strconv.Itoa(index)}, "\n")
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}

func names(of []ensemble.Scenario) []string {
	out := make([]string, 0, len(of))
	for _, s := range of {
		out = append(out, s.Name)
	}
	return out
}
