package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iff-run/iff/ensemble/trial"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// What is printed for people; --json has all of it.
const (
	shownAsked   = 12 // calls of a round
	shownTargets = 5  // of a rule
	shownLeft    = 10 // of a copy
)

// printRound prints what came of the newest round, or, before the first, what acts on
// what.
func (c ensembleRunCmd) printRound(a *app, r trial.Result) {
	if len(r.Rounds) == 0 {
		c.printBegin(a, r)
		return
	}
	round := r.Rounds[len(r.Rounds)-1]
	a.printf("\nround %d  %s  %s\n", round.Number, a.paintVerdict(round.Report.Result), tallied(round.Calls))
	shown := 0
	for _, k := range round.Calls {
		if !k.Asked() && k.Status != gate.Doubtful {
			continue
		}
		if shown++; shown <= shownAsked {
			a.printf("  %s\n", askedWords(k))
		}
	}
	if shown > shownAsked {
		a.printf("  and %s: --json has them\n", plural(shown-shownAsked, "more call"))
	}
	a.printFound(round.Report)
}

func (c ensembleRunCmd) printBegin(a *app, r trial.Result) {
	who := "scripts"
	if c.Model != "" {
		who = "the model " + said(c.Name)
	}
	a.printf("%s, %s, seed %d, driven by %s; a person who is asked says: %s\n", plural(len(r.Agents), "agent"), plural(c.Rounds, "round"), c.Seed, who, c.Answer)
	k := r.Copied
	a.printf("  on a copy of %s: %s, %s, %s, %s\n", said(r.Corpus), plural(int(k.Files), "file"), directories(k.Directories), plural(int(k.Links), "link"), size(k.Bytes))
	for i, l := range k.Left {
		if i == shownLeft {
			a.printf("  and %s left out\n", count(k.Omitted-shownLeft))
			break
		}
		a.printf("  left out: %s  %s\n", said(l.Path), l.Why)
	}
	if len(k.Made) > 0 {
		a.printf("  made for scripts: %s\n", saidAll(k.Made))
	}
	for _, g := range r.Agents {
		a.printf("  %s\n", agentWords(g))
	}
	for _, s := range r.Refused {
		a.printf("  not loaded: %s  %s\n", short(s.Directory), shownError(s.Err))
	}
	if len(r.Unused) > 0 {
		a.printf("  not used: %s; --agents %d has them all\n", saidAll(r.Unused), len(r.Agents)+len(r.Unused))
	}
}

func shownError(err error) string {
	if reason := reasonOf(err); reason != "" {
		return reason
	}
	return shown(err)
}

func directories(n int64) string {
	if n == 1 {
		return "1 directory"
	}
	return count(n) + " directories"
}

func agentWords(g trial.Agent) string {
	if g.Skill == "" {
		return fmt.Sprintf("%s uses no skill, level %s", said(g.Name), g.Level)
	}
	return fmt.Sprintf("%s uses %s, level %s", said(g.Name), said(g.Skill), g.Level)
}

func (a *app) paintVerdict(v record.Result) string {
	switch v {
	case record.Pass:
		return a.paint(green, string(v))
	case record.Fail:
		return a.paint(red, string(v))
	}
	return a.paint("33", string(record.Open))
}

// tallied counts calls: how they were decided, and how those ended that were not done.
func tallied(calls []trial.Call) string {
	var done, asked, policy, grant int
	others := map[string]int{}
	for _, k := range calls {
		if k.Asked() {
			asked++
		}
		if k.Let(record.CausePolicy) {
			policy++
		}
		if k.Let(record.CauseLevel) && k.Effect != "none" {
			grant++
		}
		if k.Done() {
			done++
		} else {
			others[cmp.Or(string(k.Reason), string(k.Status))]++
		}
	}
	text := fmt.Sprintf("%s: %d done, %d asked, %d let through by a policy, %d by a grant", plural(len(calls), "call"), done, asked, policy, grant)
	for _, reason := range slices.Sorted(maps.Keys(others)) {
		text += fmt.Sprintf(", %d %s", others[reason], reason)
	}
	return text
}

// askedWords is a call that somebody was asked about: who wants what, why it was
// asked, and what was said.
func askedWords(k trial.Call) string {
	var w words
	w.add("%-14s", said(k.Agent))
	what := said(k.Capability)
	if k.Op != "" {
		what += " " + k.Op
	}
	w.add("%s %s", what, said(k.Target))
	if k.Asked() {
		w.add("%s", visible.Escape(k.Why()))
	}
	switch {
	case k.Cause == record.CausePolicy:
		w.add("policy: %s", orDash(string(k.Decision)))
	case k.Cause == record.CauseHuman:
		w.add("person: %s", orDash(string(k.Decision)))
	default:
		w.add("%s: %s", k.Cause, orDash(string(k.Decision)))
	}
	w.named("rule", k.Rule)
	if !k.Done() && string(k.Reason) != "denied" {
		w.add("%s %s", k.Status, k.Reason)
	}
	return w.String()
}

func (a *app) printFound(r verdict.Report) {
	for i, f := range r.Findings {
		if i == shownFindings {
			a.printf("  and %s: --json has them\n", plural(len(r.Findings)-i, "more finding"))
			return
		}
		colour := red
		if !f.Class.Fails() {
			colour = "33"
		}
		a.printf("  %s  %s  %s\n", a.paint(colour, string(f.Class)), said(string(f.Object)), undouble(oneLine(visible.Escape(f.Detail))))
	}
}

// printEnd is the summary.
func (c ensembleRunCmd) printEnd(a *app, r trial.Result, kept string) error {
	var calls []trial.Call
	for _, round := range r.Rounds {
		calls = append(calls, round.Calls...)
	}
	a.printf("\n%s  %s, %s\n", a.paintVerdict(r.Verdict()), plural(len(r.Rounds), "round"), tallied(calls))
	a.printf("      over all rounds %s: %s changed\n", a.paintVerdict(r.Whole.Result), plural(int(r.Whole.Counts.Changed), "object"))
	a.printFound(r.Whole)
	a.printf("\n")
	if err := a.table(agentRows(r, calls)); err != nil {
		return err
	}
	if err := a.printPermits(r.Permits()); err != nil {
		return err
	}
	a.printf("\n%s\nagain: %s\n", untested, c.again(a, r))
	if kept != "" {
		a.printf("kept:  %s, the copy in %s, the log in %s\n       %s\n", short(kept), trial.CorpusDir, trial.LogDir, verifyKept(r, kept))
	}
	return nil
}

func agentRows(r trial.Result, calls []trial.Call) [][]string {
	rows := [][]string{{"AGENT", "SKILL", "TURNS", "CALLS", "DONE", "ASKED", "NOT DONE", "NOTHING", "MALFORMED", "REFUSED", "LATE"}}
	for _, g := range r.Agents {
		var done, asked, not int
		for _, k := range calls {
			if k.Agent != g.Name {
				continue
			}
			if k.Asked() {
				asked++
			}
			if k.Done() {
				done++
			} else {
				not++
			}
		}
		name := said(g.Name)
		if g.Silenced > 0 {
			name += fmt.Sprintf(" (not asked from round %d on: what it read may not flow to the endpoint)", g.Silenced)
		}
		row := []string{name, orDash(visible.Escape(g.Skill))}
		for _, n := range []int64{g.Tally.Turns, g.Tally.Calls, int64(done), int64(asked), int64(not), g.Tally.Nothing, g.Tally.Malformed, g.Tally.Refused, g.Tally.Late} {
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return rows
}

func (a *app) printPermits(permits []trial.Permit) error {
	if len(permits) == 0 {
		a.printf("\nNothing irreversible was done without a person.\n")
		return nil
	}
	a.printf("\nIrreversible, and done without a person:\n")
	var rows [][]string
	for _, p := range permits {
		by := "policy"
		if p.Cause == record.CauseLevel {
			by = "grant"
		}
		targets := saidAll(p.Targets[:min(len(p.Targets), shownTargets)])
		if more := len(p.Targets) - shownTargets; more > 0 {
			targets += fmt.Sprintf(", and %d more", more)
		}
		rows = append(rows, []string{"  " + by, said(p.Rule), fmt.Sprint(p.Done), targets})
	}
	return a.table(rows)
}

// verifyKept is the command that checks the log of a run that is kept.
func verifyKept(r trial.Result, kept string) string {
	if kept == "" {
		return ""
	}
	return strings.Join([]string{"iff audit verify --log", shellWord(filepath.Join(kept, trial.LogDir)), "--key", shellWord(r.Key)}, " ")
}
