package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/ensemble/sweep"
	"github.com/iff-run/iff/internal/durable"
)

// show prints the result, in the format that was asked for.
func (c sweepCmd) show(a *app, r sweep.Report, outcomes []sweep.Outcome) error {
	switch {
	case a.json || c.Format == "json":
		return writeJSON(a.out, sweepOf(r, outcomes))
	case c.Format == "markdown":
		return r.Markdown(a.out)
	case c.Format == "csv":
		return r.CSV(a.out)
	case c.Format == "latex":
		return r.LaTeX(a.out)
	}
	return a.printSweep(r, outcomes)
}

// keepTables writes the result in all formats beside the runs.
func keepTables(dir string, r sweep.Report, outcomes []sweep.Outcome) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"table.md", r.Markdown}, {"table.tex", r.LaTeX},
		{"runs.csv", func(w io.Writer) error { return r.RunsCSV(w, outcomes) }},
		{"result.json", func(w io.Writer) error { return writeJSON(w, sweepOf(r, outcomes)) }},
	} {
		var text bytes.Buffer
		if err := f.write(&text); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := durable.WriteFile(durable.OS(), filepath.Join(dir, f.name), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shownWrong is how many runs are printed for people.
const shownWrong = 10

func (a *app) printSweep(r sweep.Report, outcomes []sweep.Outcome) error {
	head := a.paint(green, "HOLDS")
	if !r.Holds() {
		head = a.paint(red, "DOES NOT HOLD")
	}
	total := r.Total()
	a.printf("%s  %s, judged by criterion %s: %s, %s, %d misplaced%s\n", head, plural(total.Runs, "run"), r.Criterion,
		plural(r.FalseAlarms, "false alarm"), misses(r.Misses), r.Misplaced, oddWords(r.Odd))
	a.printf("       %s, %s, %s of each in each cell, seed %d; Wilson 95 %% intervals in brackets\n\n", plural(len(r.Rows), "cell"), plural(len(r.Columns), "scenario"), plural(r.Plan.Seeds, "run"), r.Plan.Seed)
	rows := [][]string{{"scenario", "judged right", "", "found by iff, in runs"}}
	for _, c := range r.Columns {
		rows = append(rows, []string{c.Scenario.Name, fmt.Sprintf("%d of %d", c.Right, c.Runs), c.Rate.String(), found(c.Classes)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	a.printf("\n")
	if err := a.table(cellRows(r)); err != nil {
		return err
	}
	a.printWrong(r, outcomes)
	return nil
}

func misses(n int) string {
	if n == 1 {
		return "1 miss"
	}
	return fmt.Sprintf("%d misses", n)
}

func oddWords(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %s in which something else went wrong", plural(n, "run"))
}

func found(classes []sweep.ClassCount) string {
	var out []string
	for _, c := range classes {
		name := string(c.Class)
		if name == "" {
			name = "nothing"
		}
		out = append(out, fmt.Sprintf("%s %d", name, c.Runs))
	}
	return strings.Join(out, ", ")
}

// cellRows are the cells, the worst first if one is bad.
func cellRows(r sweep.Report) [][]string {
	head := []string{"N", "K", "R"}
	for _, c := range r.Columns {
		head = append(head, c.Scenario.Name)
	}
	rows := [][]string{head}
	for _, row := range r.WorstFirst() {
		line := []string{fmt.Sprint(row.Cell.N), fmt.Sprint(row.Cell.K), fmt.Sprint(row.Cell.R)}
		for _, rate := range row.Rates {
			line = append(line, sweep.Decimals(rate.Value()))
		}
		rows = append(rows, line)
	}
	return rows
}

func (a *app) printWrong(r sweep.Report, outcomes []sweep.Outcome) {
	for n, i := range r.Wrong {
		if n == 0 {
			a.printf("\n")
		}
		if n == shownWrong {
			a.printf("  and %s; --json lists %d\n", plural(len(r.Wrong)-n, "more run"), min(len(r.Wrong), wrongListed))
			return
		}
		run, o := r.Plan.At(i), outcomes[i]
		what := string(o.Fault)
		if what == "" {
			what = "nothing wrong"
		}
		a.printf("  %s  %s: %s, %s, %s\n", a.paint(red, "wrong"), run, what, o.Verdict, strings.Join(append(texts(o.Classes), paperSays(o)), ", "))
		a.printf("         again: %s\n", again(r.Plan, run, r.Criterion))
	}
}

func paperSays(o sweep.Outcome) string {
	word := map[bool]string{true: "holds", false: "does not"}
	return fmt.Sprintf("literally it %s, as sets it %s", word[o.Literal], word[o.Set])
}
