package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/ensemble"
)

func TestSeedsOfRuns(t *testing.T) {
	// What was printed of a run has to make it again in every release.
	p := Plan{Seed: 1}
	clean := ensemble.PaperScenarios()[0]
	if got := p.Run(Cell{10, 2, 5}, clean, 0).Seed; got != 0xc92dc708ec419746 {
		t.Errorf("the seed of a run is %#x; it was another", got)
	}
	first := p.Run(Cell{10, 2, 5}, clean, 0)
	for _, s := range ensemble.Scenarios() {
		if r := p.Run(first.Cell, s, 0); r.Files != first.Files || r.Files != 0xda3fa18442677091 || r.Config().Files != r.Files {
			t.Errorf("the seed of the corpus of %s is %#x; it was another", r, r.Files)
		}
	}
	for _, r := range []Run{p.Run(Cell{10, 2, 10}, clean, 0), p.Run(first.Cell, clean, 1), Plan{Seed: 2}.Run(first.Cell, clean, 0)} {
		if r.Files == first.Files {
			t.Errorf("%s has the corpus of %s", r, first)
		}
	}
	seen := map[uint64]string{}
	for _, seed := range []uint64{0, 1, 2} {
		whole := Plan{Seed: seed, Seeds: 3, Cells: Cells(), Scenarios: ensemble.Scenarios()}
		for i := range whole.Runs() {
			r := whole.At(i)
			if old, ok := seen[r.Seed]; ok {
				t.Fatalf("%s of seed %d has the seed of %s", r, seed, old)
			}
			seen[r.Seed] = r.String()
		}
	}
}

// TestRunsAreThoseOfTheWhole finds the runs of a smaller plan in a larger one, each
// once.
func TestRunsAreThoseOfTheWhole(t *testing.T) {
	whole := Plan{Seed: 9, Seeds: 4, Cells: Cells(), Scenarios: ensemble.Scenarios()}
	all := map[string]ensemble.Config{}
	for i := range whole.Runs() {
		all[whole.At(i).String()] = whole.At(i).Config()
	}
	if len(all) != whole.Runs() || whole.Runs() != 27*4*len(ensemble.Scenarios()) {
		t.Fatalf("%d runs have %d names", whole.Runs(), len(all))
	}
	part := Plan{Seed: 9, Seeds: 2, Cells: whole.Cells[5:8], Scenarios: whole.Scenarios[2:4]}
	for i := range part.Runs() {
		r := part.At(i)
		if c, ok := all[r.String()]; !ok || c != r.Config() || c.Seed != r.Seed || c.Files != r.Files {
			t.Errorf("%s is another run in a smaller plan", r)
		}
	}
}

func TestPlanCheck(t *testing.T) {
	if err := small(3).Check(); err != nil {
		t.Error(err)
	}
	for want, bend := range map[string]func(*Plan){
		"no cell":             func(p *Plan) { p.Cells = nil },
		"no scenario":         func(p *Plan) { p.Scenarios = nil },
		"from 1 to 262144":    func(p *Plan) { p.Seeds = 0 },
		"seeds are 262145":    func(p *Plan) { p.Seeds = 262145 },
		"seeds are -1":        func(p *Plan) { p.Seeds = -1 },
		"cell N=10":           func(p *Plan) { p.Cells = []Cell{{10, 2, 5}, {10, 2, 5}} },
		"scenario clean is t": func(p *Plan) { p.Scenarios = slices.Repeat(p.Scenarios[:1], 2) },
	} {
		p := small(1)
		bend(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
		if _, err := Make(t.Context(), p, new(fake), Options{Dir: t.TempDir()}); err == nil {
			t.Errorf("%s: it was made all the same", want)
		}
	}
	if len(Cells()) != 27 {
		t.Errorf("the paper has 27 cells, not %d", len(Cells()))
	}
	for _, c := range Cells() {
		if got, err := ParseCell(c.String()); got != c || err != nil {
			t.Errorf("%s: %v %v", c, got, err)
		}
	}
	for _, bad := range []string{"", "N=10", "N=11,K=2,R=5", "N=10,K=2,R=5 ", "n=10,k=2,r=5"} {
		if _, err := ParseCell(bad); err == nil {
			t.Errorf("%q is taken for a cell", bad)
		}
	}
}
