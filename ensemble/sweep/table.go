package sweep

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Markdown writes the rates of all cells, and of all together.
func (r Report) Markdown(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "Criterion %s, seed %d; cells: %d, runs of each scenario in each: %d; Wilson 95 %% intervals in brackets.\n\n", r.Criterion, r.Plan.Seed, len(r.Rows), r.Plan.Seeds)
	out.WriteString("| N | K | R |")
	for _, c := range r.Columns {
		fmt.Fprintf(&out, " %s |", c.Scenario.Title)
	}
	out.WriteString("\n" + strings.Repeat("|---", 3+len(r.Columns)) + "|\n")
	for _, row := range r.Rows {
		fmt.Fprintf(&out, "| %d | %d | %d |", row.Cell.N, row.Cell.K, row.Cell.R)
		for _, rate := range row.Rates {
			fmt.Fprintf(&out, " %s |", rate)
		}
		out.WriteString("\n")
	}
	out.WriteString("| **all** | | |")
	for _, c := range r.Columns {
		fmt.Fprintf(&out, " **%s** |", c.Rate)
	}
	fmt.Fprintf(&out, "\n\nFalse alarms %d, misses %d, misplaced %d, of %d runs.\n", r.FalseAlarms, r.Misses, r.Misplaced, r.Total().Runs)
	_, err := io.WriteString(w, out.String())
	return err
}

// CSV writes a line for each scenario in each cell, and for each over all cells,
// whose N, K and R are empty.
func (r Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"n", "k", "r", "scenario", "right", "runs", "rate", "low", "high"}}
	rate := func(size []string, name string, v Rate) {
		low, high := v.Interval()
		lines = append(lines, append(size, name, strconv.Itoa(v.Right), strconv.Itoa(v.Runs), Decimals(v.Value()), Decimals(low), Decimals(high)))
	}
	for _, row := range r.Rows {
		for s, v := range row.Rates {
			rate(sizes(row.Cell), r.Columns[s].Scenario.Name, v)
		}
	}
	for _, c := range r.Columns {
		rate([]string{"", "", ""}, c.Scenario.Name, c.Rate)
	}
	return out.WriteAll(lines)
}

func sizes(c Cell) []string { return []string{strconv.Itoa(c.N), strconv.Itoa(c.K), strconv.Itoa(c.R)} }

// RunsCSV writes a line for each run that was made.
func (r Report) RunsCSV(w io.Writer, outcomes []Outcome) error {
	out := csv.NewWriter(w)
	err := out.Write([]string{"n", "k", "r", "scenario", "index", "seed", "fault", "verdict", "classes", "calls", "iff", "paper_literal", "paper_set", "as_wanted", "odd", "right"})
	for i, o := range outcomes {
		if err != nil {
			return err
		}
		if !o.Made() {
			continue
		}
		run := r.Plan.At(i)
		l := o.line(i)
		err = out.Write(append(sizes(run.Cell), run.Scenario.Name, strconv.Itoa(run.Index), strconv.FormatUint(run.Seed, 10),
			l.Fault, l.Verdict, strings.Join(l.Classes, " "), strconv.FormatInt(o.Calls, 10),
			strconv.FormatBool(l.Verdict == "PASS"), strconv.FormatBool(o.Literal), strconv.FormatBool(o.Set), strconv.FormatBool(o.AsWanted),
			strconv.Itoa(o.Odd), strconv.FormatBool(o.right(run, r.Criterion))))
	}
	out.Flush()
	return out.Error()
}

// group is rows of the paper's table, in which one size varies.
type group struct {
	title string
	has   func(c Cell) bool
}

// groups are those of the paper.
func groups() []group {
	return []group{
		{`Varying corpus size $N$ ($K=4$, $R=10$)`, func(c Cell) bool { return c.K == 4 && c.R == 10 }},
		{`Varying agent count $K$ ($N=50$, $R=10$)`, func(c Cell) bool { return c.N == 50 && c.R == 10 }},
		{`Varying rounds $R$ ($N=50$, $K=4$)`, func(c Cell) bool { return c.N == 50 && c.K == 4 }},
	}
}

// LaTeX writes the paper's table: the cells in which one size varies and the others
// are in the middle, and all together. A plan without such cells has all its cells
// in one group.
func (r Report) LaTeX(w io.Writer) error {
	var out strings.Builder
	columns := 3 + len(r.Columns)
	out.WriteString("\\begin{table}[h]\n\\centering\\footnotesize\n\\setlength{\\tabcolsep}{4pt}\n\\resizebox{\\textwidth}{!}{%\n")
	fmt.Fprintf(&out, "\\begin{tabular}{@{}r r r%s@{}}\n\\toprule\n$N$ & $K$ & $R$", strings.Repeat(" c", len(r.Columns)))
	for _, c := range r.Columns {
		out.WriteString(" & " + latex(c.Scenario.Title))
	}
	out.WriteString(" \\\\\n\\midrule\n")
	some := false
	for _, g := range groups() {
		rows := slices.DeleteFunc(slices.Clone(r.Rows), func(row Row) bool { return !g.has(row.Cell) })
		if len(rows) > 1 {
			fmt.Fprintf(&out, "\\multicolumn{%d}{@{}l@{}}{\\textit{%s}}\\\\\n", columns, g.title)
			latexRows(&out, rows)
			some = true
		}
	}
	if !some {
		latexRows(&out, r.Rows)
	}
	fmt.Fprintf(&out, "\\multicolumn{3}{@{}l}{\\textbf{Aggregate} ($n=%d$)}", len(r.Rows)*r.Plan.Seeds)
	for _, c := range r.Columns {
		out.WriteString(" & " + c.Rate.String())
	}
	out.WriteString(" \\\\\n\\bottomrule\n\\end{tabular}%\n}\n")
	fmt.Fprintf(&out, "\\caption{%s}\n\\label{tab:sweep}\n\\end{table}\n", r.caption())
	_, err := io.WriteString(w, out.String())
	return err
}

func latexRows(out *strings.Builder, rows []Row) {
	for _, row := range rows {
		out.WriteString(strings.Join(sizes(row.Cell), " & "))
		for _, rate := range row.Rates {
			out.WriteString(" & " + rate.String())
		}
		out.WriteString(" \\\\\n")
	}
	out.WriteString("\\midrule\n")
}

func (r Report) caption() string {
	return fmt.Sprintf("Runs judged as they have to be, by criterion \\texttt{%s}, with Wilson 95\\%% intervals: $N$ files, $K$ agents, $R$ rounds, $S=%d$ seeds of each scenario in each of %d cells. "+
		"Made by \\texttt{iff %s}, seed %d: %d false alarms and %d misses in %d runs.",
		r.Criterion, r.Plan.Seeds, len(r.Rows), latex(r.Plan.Version), r.Plan.Seed, r.FalseAlarms, r.Misses, r.Total().Runs)
}

func latex(s string) string {
	return strings.NewReplacer(`&`, `\&`, `%`, `\%`, `_`, `\_`, `#`, `\#`, `$`, `\$`).Replace(s)
}
