package main

import (
	"fmt"
	"strconv"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/sweep"
)

type sweepJSON struct {
	Version     string              `json:"version" doc:"release that made the runs"`
	Criterion   string              `json:"criterion" doc:"what judged them"`
	Seed        string              `json:"seed" doc:"of the sweep, in decimal"`
	Seeds       int                 `json:"seeds" doc:"runs of each scenario in each cell"`
	Runs        int                 `json:"runs" doc:"all of them"`
	Right       int                 `json:"right" doc:"of them, judged as they have to be"`
	FalseAlarms int                 `json:"false_alarms" doc:"clean runs, or crashes, of which it says that they do not hold"`
	Misses      int                 `json:"misses" doc:"faults that it does not find; of iff, that do not FAIL"`
	Misplaced   int                 `json:"misplaced" doc:"of criterion iff: judged right, and not with the class, or on the objects, of the fault"`
	Odd         int                 `json:"odd" doc:"runs in which something happened that no fault explains"`
	Scenarios   []sweepScenarioJSON `json:"scenarios" doc:"over all cells"`
	Cells       []sweepCellJSON     `json:"cells" doc:"each with all scenarios"`
	Wrong       []sweepRunJSON      `json:"wrong" doc:"runs that are in one of the four counts, the first of them"`
	Omitted     int                 `json:"omitted" doc:"others, which are not listed"`
	Run         *sweepOnlyJSON      `json:"run" doc:"of --only; otherwise null"`
}

type sweepRateJSON struct {
	Scenario string  `json:"scenario" doc:"name"`
	Right    int     `json:"right" doc:"runs judged as they have to be"`
	Runs     int     `json:"runs" doc:"all"`
	Rate     float64 `json:"rate" doc:"their part, three decimals; 1 and 0 are exact"`
	Low      float64 `json:"low" doc:"lower bound of Wilson's 95 percent interval"`
	High     float64 `json:"high" doc:"upper bound"`
}

type sweepScenarioJSON struct {
	Title   string           `json:"title" doc:"as tables have it"`
	Faults  []string         `json:"faults" doc:"of which a run has one; none in clean runs"`
	Rate    sweepRateJSON    `json:"rate" doc:"how it was judged"`
	Classes []sweepClassJSON `json:"classes" doc:"what iff's verdict found, most frequent first"`
}

type sweepClassJSON struct {
	Class string `json:"class" doc:"see docs/sessions.md; empty: nothing"`
	Runs  int    `json:"runs" doc:"in how many"`
}

type sweepCellJSON struct {
	N     int             `json:"n" doc:"files"`
	K     int             `json:"k" doc:"agents"`
	R     int             `json:"r" doc:"rounds"`
	Rates []sweepRateJSON `json:"rates" doc:"by scenario"`
}

type sweepRunJSON struct {
	N        int      `json:"n" doc:"files"`
	K        int      `json:"k" doc:"agents"`
	R        int      `json:"r" doc:"rounds"`
	Scenario string   `json:"scenario" doc:"name"`
	Index    int      `json:"index" doc:"from 0"`
	Seed     string   `json:"seed" doc:"of the run, in decimal"`
	Fault    string   `json:"fault" doc:"that the seed picked; empty for none"`
	Verdict  string   `json:"verdict" doc:"of iff: PASS, FAIL or OPEN"`
	Classes  []string `json:"classes" doc:"of its findings"`
	Calls    int64    `json:"calls" doc:"that agents made"`
	Literal  bool     `json:"literal" doc:"the paper's definition, taken literally, holds"`
	Set      bool     `json:"set" doc:"the paper's definition, collapsed to sets, holds"`
	AsWanted bool     `json:"asWanted" doc:"verdict, classes and objects are those of the fault"`
	Again    string   `json:"again" doc:"command that makes it again"`
}

type sweepOnlyJSON struct {
	Run      sweepRunJSON       `json:"run" doc:"what came of it"`
	Records  int64              `json:"records" doc:"of the log; more or fewer from one time to the next"`
	Right    bool               `json:"right" doc:"judged as it has to be"`
	Class    string             `json:"class" doc:"that had to be found; empty for none"`
	Objects  []string           `json:"objects" doc:"on which"`
	Findings []sweepFindingJSON `json:"findings" doc:"of iff's verdict"`
	Odd      []string           `json:"odd" doc:"what no fault explains"`
}

type sweepFindingJSON struct {
	Class   string `json:"class" doc:"see docs/sessions.md"`
	Object  string `json:"object" doc:"what it is about"`
	Landed  string `json:"landed" doc:"of wrong-target: what was changed instead"`
	Before  string `json:"before" doc:"state as read"`
	After   string `json:"after" doc:"state as read"`
	Planned string `json:"planned" doc:"state after, as approved"`
	Detail  string `json:"detail" doc:"in words"`
}

// wrongListed is how many runs are listed that are not as they have to be.
const wrongListed = 100

func sweepOf(r sweep.Report, outcomes []sweep.Outcome) sweepJSON {
	total := r.Total()
	out := sweepJSON{
		Version: r.Plan.Version, Criterion: string(r.Criterion), Seed: strconv.FormatUint(r.Plan.Seed, 10), Seeds: r.Plan.Seeds,
		Runs: total.Runs, Right: total.Right, FalseAlarms: r.FalseAlarms, Misses: r.Misses, Misplaced: r.Misplaced, Odd: r.Odd,
		Wrong: []sweepRunJSON{}, Omitted: max(0, len(r.Wrong)-wrongListed),
	}
	for _, c := range r.Columns {
		s := sweepScenarioJSON{Title: c.Scenario.Title, Faults: texts(c.Scenario.Faults), Rate: rateOf(c.Scenario.Name, c.Rate), Classes: []sweepClassJSON{}}
		for _, k := range c.Classes {
			s.Classes = append(s.Classes, sweepClassJSON{string(k.Class), k.Runs})
		}
		out.Scenarios = append(out.Scenarios, s)
	}
	for _, row := range r.Rows {
		cell := sweepCellJSON{N: row.Cell.N, K: row.Cell.K, R: row.Cell.R}
		for s, rate := range row.Rates {
			cell.Rates = append(cell.Rates, rateOf(r.Columns[s].Scenario.Name, rate))
		}
		out.Cells = append(out.Cells, cell)
	}
	for _, i := range r.Wrong[:len(r.Wrong)-out.Omitted] {
		out.Wrong = append(out.Wrong, runOf(r.Plan, r.Plan.At(i), r.Criterion, outcomes[i]))
	}
	return out
}

func rateOf(scenario string, r sweep.Rate) sweepRateJSON {
	low, high := r.Interval()
	return sweepRateJSON{scenario, r.Right, r.Runs, sweep.Rounded(r.Value()), sweep.Rounded(low), sweep.Rounded(high)}
}

func runOf(p sweep.Plan, r sweep.Run, by ensemble.Criterion, o sweep.Outcome) sweepRunJSON {
	return sweepRunJSON{
		N: r.Cell.N, K: r.Cell.K, R: r.Cell.R, Scenario: r.Scenario.Name, Index: r.Index, Seed: strconv.FormatUint(r.Seed, 10),
		Fault: string(o.Fault), Verdict: string(o.Verdict), Classes: texts(o.Classes), Calls: o.Calls,
		Literal: o.Literal, Set: o.Set, AsWanted: o.AsWanted, Again: again(p, r, by),
	}
}

// again is the command that makes a run again.
func again(p sweep.Plan, r sweep.Run, by ensemble.Criterion) string {
	out := fmt.Sprintf("iff sweep --seed %d --only %s", p.Seed, r)
	if by != ensemble.ByIff {
		out += " --criterion " + string(by)
	}
	return out
}

func texts[T ~string](of []T) []string {
	out := make([]string, 0, len(of))
	for _, v := range of {
		out = append(out, string(v))
	}
	return out
}
