package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/sweep"
)

// one makes the run of --only.
func (c sweepCmd) one(a *app) error {
	p := sweep.Plan{Version: iff.Version, Seed: sweepSeed}
	if c.Seed != nil {
		p.Seed = *c.Seed
	}
	run, err := c.only(p)
	if err != nil {
		return err
	}
	kit, err := ensemble.NewKit(a.ctx)
	if err != nil {
		return err
	}
	result, err := sweep.One(a.ctx, run, sweep.On{Kit: kit}, c.Dir)
	if err != nil {
		return err
	}
	p.Seeds, p.Cells, p.Scenarios = 1, []sweep.Cell{run.Cell}, []ensemble.Scenario{run.Scenario}
	by := ensemble.Criterion(c.Criterion)
	o := sweep.Of(result)
	report := sweep.Judge(p, []sweep.Outcome{o}, by)
	out := sweepOf(report, []sweep.Outcome{o})
	out.Run = &sweepOnlyJSON{
		Run: runOf(p, run, by, o), Records: result.Records, Right: run.Scenario.Right(result, by), Class: string(result.Want.Class), Objects: texts(result.Want.Objects),
		Findings: sweepFindings(result), Odd: list(result.Odd),
	}
	for i := range out.Wrong {
		out.Wrong[i] = out.Run.Run // a plan of one run has index 0
	}
	if a.json || c.Format == "json" {
		err = writeJSON(a.out, out)
	} else {
		a.printOnly(out.Run)
	}
	if err == nil && !report.Holds() {
		err = &outcomeError{exitDoesNot}
	}
	return err
}

// only reads what --only names.
func (c sweepCmd) only(p sweep.Plan) (sweep.Run, error) {
	parts := strings.Split(c.Only, "/")
	if len(parts) != 3 {
		return sweep.Run{}, badOnly(fmt.Errorf("it has %d parts, not 3", len(parts)))
	}
	cell, err := sweep.ParseCell(parts[0])
	if err != nil {
		return sweep.Run{}, badOnly(err)
	}
	scenario, err := sweep.Scenario(parts[1])
	if err != nil {
		return sweep.Run{}, badOnly(err)
	}
	index, err := strconv.Atoi(parts[2])
	if err != nil || index < 0 || index >= sweep.MaxRuns {
		return sweep.Run{}, badOnly(fmt.Errorf("its index is %q, and no number from 0 on", parts[2]))
	}
	return p.Run(cell, scenario, index), nil
}

func badOnly(err error) error {
	return &usageError{reason: "usage", detail: "--only: " + err.Error(), remedy: "name a run, such as --only N=10,K=2,R=5/f1/0"}
}

// sweepFindings leaves out ids and times: what they are of is gone. Their order
// does not depend on those either.
func sweepFindings(r ensemble.Result) []sweepFindingJSON {
	out := []sweepFindingJSON{}
	for _, f := range r.Report.Findings {
		out = append(out, sweepFindingJSON{string(f.Class), string(f.Object), string(f.Landed), string(f.Before), string(f.After), string(f.Planned), f.Detail})
	}
	slices.SortFunc(out, func(a, b sweepFindingJSON) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Class, b.Class), strings.Compare(a.Landed, b.Landed),
			strings.Compare(a.Before, b.Before), strings.Compare(a.After, b.After), strings.Compare(a.Planned, b.Planned), strings.Compare(a.Detail, b.Detail))
	})
	return out
}

func (a *app) printOnly(o *sweepOnlyJSON) {
	head := a.paint(green, "RIGHT")
	if !o.Right {
		head = a.paint(red, "WRONG")
	}
	r := o.Run
	fault := r.Fault
	if fault == "" {
		fault = "none"
	}
	a.printf("%s  N=%d K=%d R=%d %s, run %d, its seed %s\n", head, r.N, r.K, r.R, r.Scenario, r.Index, r.Seed)
	a.printf("       fault    %s\n", fault)
	if o.Class != "" {
		a.printf("       wanted   %s on %s\n", o.Class, said(strings.Join(o.Objects, " ")))
	}
	a.printf("       verdict  %s, %s, %d records\n", r.Verdict, plural(int(r.Calls), "call"), o.Records)
	a.printf("       paper    %s\n", paperSays(sweep.Outcome{Literal: r.Literal, Set: r.Set}))
	for i, f := range o.Findings {
		if i == shownFindings {
			a.printf("  and %s: --json has them\n", plural(len(o.Findings)-i, "more finding"))
			break
		}
		a.printf("       found    %s  %s  %s\n", f.Class, said(f.Object), said(oneLine(f.Detail)))
	}
	for _, odd := range o.Odd {
		a.printf("       odd      %s\n", said(oneLine(odd)))
	}
}
