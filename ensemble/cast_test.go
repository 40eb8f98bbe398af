package ensemble_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// cell is the n-th of the paper's cells.
func cell(n uint64) (files, agents, rounds int) {
	return []int{10, 50, 200}[n%3], []int{2, 4, 8}[n/3%3], []int{5, 10, 25}[n/9%3]
}

// Every scenario is judged as it has to be, with the right class on the right
// objects, wherever the fault strikes. The sample of what the sweep does 27,000 times.
func TestScenarios(t *testing.T) {
	k := newKit(t)
	for _, s := range ensemble.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(4) {
				n, agents, r := cell(seed * 7)
				got := play(t, k, s.Config(n, agents, r, seed))
				if !s.Right(got, ensemble.ByIff) {
					t.Errorf("seed %d: %s is not right", seed, got.Verdict)
				}
				if got.Calls == 0 || got.Records < got.Calls {
					t.Errorf("seed %d: %d calls, %d records: nothing happened", seed, got.Calls, got.Records)
				}
			}
		})
	}
}

// What a scenario calls right, held against runs that went wrong.
func TestRight(t *testing.T) {
	k := newKit(t)
	for _, s := range ensemble.Scenarios() {
		r := play(t, k, s.Config(10, 2, 5, 3))
		if s.Blind {
			continue
		}
		for _, v := range []record.Result{record.Pass, record.Open, record.Fail, ""} {
			r.Verdict = v
			want := v == record.Fail
			switch s.Name {
			case "clean":
				want = v == record.Pass
			case "crash":
				want = v == record.Pass || v == record.Open
			}
			if s.Right(r, ensemble.ByIff) != want {
				t.Errorf("%s: a run that is %q is right: %t", s.Name, v, !want)
			}
		}
	}
	blind := ensemble.Scenarios()[len(ensemble.Scenarios())-1]
	if !blind.Blind || blind.Right(ensemble.Result{}, ensemble.ByIff) {
		t.Error("a run that nobody judged is right")
	}
	if (ensemble.Scenario{}).Right(ensemble.Result{}, ensemble.ByIff) || (ensemble.Result{}).Holds("") {
		t.Error("nothing is right")
	}
}

// told is what a sweep says of a run.
func told(r ensemble.Result) string {
	return fmt.Sprintf("%+v %s %v %d %t %t %t", r.Config, r.Verdict, r.Classes(), r.Calls, r.AsWanted(), r.Literal, r.Set)
}

// What comes of a run follows from its Config alone, whatever runs beside it.
func TestRunsCanBeMadeAgain(t *testing.T) {
	k := newKit(t)
	var configs []ensemble.Config
	for i, s := range ensemble.Scenarios() {
		n, agents, r := cell(uint64(i))
		configs = append(configs, s.Config(n, agents, r, uint64(i)+40))
	}
	alone := make([]string, len(configs))
	for i, c := range configs {
		alone[i] = told(play(t, k, c))
	}
	var wg sync.WaitGroup
	for i, c := range configs {
		wg.Go(func() {
			r, err := k.Run(t.Context(), c)
			if got := told(r); err != nil || got != alone[i] {
				t.Errorf("beside others it is\n%s (%v), alone\n%s", got, err, alone[i])
			}
		})
	}
	wg.Wait()
	other := configs[0]
	other.Seed++
	if told(play(t, k, other)) == alone[0] {
		t.Error("another seed makes the same run")
	}
}

// The paper's definition fails on honest runs when taken literally, and does not see
// faults when taken as sets, on the very runs that ours judges right.
func TestThePapersDefinition(t *testing.T) {
	k := newKit(t)
	failed, missed, passed := 0, 0, 0
	for seed := range uint64(12) {
		clean := play(t, k, ensemble.PaperScenarios()[0].Config(10, 4, 10, seed))
		if !clean.Holds(ensemble.ByPaperLiteral) {
			failed++
		}
		if clean.Holds(ensemble.ByPaperLiteral) && !clean.Holds(ensemble.ByPaperSet) {
			t.Errorf("seed %d: equal as multisets and not as sets", seed)
		}
		fault := play(t, k, ensemble.PaperScenarios()[2].Config(10, 4, 10, seed))
		if fault.Holds(ensemble.ByPaperSet) {
			missed++
		}
		short := play(t, k, ensemble.PaperScenarios()[0].Config(200, 2, 5, seed))
		if short.Holds(ensemble.ByPaperLiteral) {
			passed++
		}
	}
	if failed == 0 || missed == 0 || passed == 0 {
		t.Errorf("%d honest runs failed literally, %d faults were missed as sets, %d short honest runs passed: the criteria do not differ", failed, missed, passed)
	}
}

// A fault strikes once: agents that ask about its object afterwards are answered as
// they are elsewhere. Eight agents and ten files come back to most.
func TestFaultsStrikeOnce(t *testing.T) {
	k := newKit(t)
	forged := 0
	for seed := range uint64(40) {
		c := ensemble.Config{N: 10, K: 8, R: 25, Seed: seed, Fault: ensemble.FakeApproval, Cast: ensemble.Paper}
		found := len(play(t, k, c).Report.Findings)
		if forged += found; found != 1 {
			t.Errorf("seed %d: %d approvals were forged", seed, found)
		}
	}
	if forged == 0 {
		t.Error("no approval was forged")
	}
}

// A crash of the paper's cast matters: a call that changes something is under way, and
// in most runs it is left to the next runtime to say whether it happened.
func TestCrashesMatter(t *testing.T) {
	k := newKit(t)
	doubtful := 0
	for seed := range uint64(24) {
		n, agents, r := cell(seed)
		got := play(t, k, ensemble.Config{N: n, K: agents, R: r, Seed: seed, Fault: ensemble.Crash, Cast: ensemble.Paper})
		if got.Report.Counts.Resolved > 0 {
			doubtful++
		}
		if got.Report.Counts.Resolved+got.Report.Counts.Irreversible == 0 {
			t.Errorf("seed %d: nothing was under way", seed)
		}
	}
	if doubtful < 12 || doubtful == 24 {
		t.Errorf("in %d of 24 runs a call was in doubt; in some the log had its outcome already", doubtful)
	}
}

// A script is the paper's: it reads, and changes for good, and nothing else; and it
// forgets what is gone.
func TestScripts(t *testing.T) {
	files := []string{"finance/a.csv", "finance/b.csv"}
	for n, role := range ensemble.Roles() {
		a, b := ensemble.Script(n, 5), ensemble.Script(n, 5)
		kinds := map[string]int{}
		for round := range 200 {
			turn := ensemble.Turn{Round: round + 1, Rounds: 200, Files: files}
			c, ok, err := a.Next(t.Context(), turn)
			again, _, _ := b.Next(t.Context(), turn)
			if err != nil || !ok || c.Target != again.Target || string(c.Arguments) != string(again.Arguments) {
				t.Fatalf("%s: round %d: %+v, then %+v (%v)", role.Name, round, c, again, err)
			}
			kinds[c.Capability]++
		}
		if kinds["fs.read"] < 50 || kinds["fs.write.irrev"] < 50 || kinds["fs.write.rev"] > 0 {
			t.Errorf("%s asks for %v", role.Name, kinds)
		}
		if tally := a.Tally(); tally.Turns != 200 || tally.Calls != 200 {
			t.Errorf("%s: %+v", role.Name, tally)
		}
		gone := ensemble.Script(n, 6)
		turn := ensemble.Turn{Round: 1, Rounds: 9, Files: files[:1]}
		for range 60 {
			c, _, _ := gone.Next(t.Context(), turn)
			if c.Target == files[0] {
				turn = ensemble.Turn{Files: files, LastCall: c, Last: gate.Reply{Status: gate.Refused, Reason: gate.NotFound}}
				break
			}
		}
		for range 60 {
			c, _, _ := gone.Next(t.Context(), turn)
			if turn.LastCall.Target != "" && c.Target == files[0] {
				t.Errorf("%s asks again for what is gone", role.Name)
			}
			turn.Last = gate.Reply{}
		}
	}
}

// A run leaves nothing, made or not.
func TestRunsLeaveNothing(t *testing.T) {
	k, dir := newKit(t), t.TempDir()
	c := ensemble.PaperScenarios()[0].Config(10, 2, 5, 1)
	c.Dir = dir
	play(t, k, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	site, err := k.Site(c)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("ahead of a run there is %v (%v), and not its corpus", entries, err)
	}
	if _, err := site.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a run whose context had ended ends with %v", err)
	}
	if err := site.Close(); err != nil {
		t.Error(err)
	}
	c.Cast = 9
	if _, err := k.Run(t.Context(), c); err == nil {
		t.Error("there is a ninth cast")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("runs leave %v (%v)", entries, err)
	}
	if !slices.Contains(ensemble.Criteria(), ensemble.ByIff) {
		t.Error("ours is no criterion")
	}
}
