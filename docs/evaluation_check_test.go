package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/sweep"
	"github.com/iff-run/iff/verdict"
)

// page is what is checked of the evaluation.
type page struct {
	text, readme string
	seeds        int
	rates        map[string]sweep.Rate     // by scenario, judged by iff
	found        map[string]map[string]int // by scenario and class, in how many runs
}

// checkEvaluation says what is wrong with the measured parts of the page, or with
// the row that the README has of them.
func checkEvaluation(text, readme string) error {
	p := &page{text: text, readme: readme, rates: map[string]sweep.Rate{}, found: map[string]map[string]int{}}
	made := regexp.MustCompile("docs/measure-evaluation.sh (\\d+)` on").FindStringSubmatch(text)
	if made == nil {
		return fmt.Errorf("the page does not say how it was made")
	}
	p.seeds, _ = strconv.Atoi(made[1])
	for _, part := range []struct {
		name  string
		check func(rows [][]string) error
	}{
		{"aggregate", p.aggregate}, {"cells", p.cells}, {"paper", p.paper}, {"criteria", p.criteria}, {"criteria", p.claims},
		{"faults", p.faults}, {"cost", p.cost}, {"readme", p.row},
	} {
		rows, err := p.table(part.name)
		if err == nil {
			err = part.check(rows)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// table is the one of a measured part, without the line below its head.
func (p *page) table(name string) ([][]string, error) {
	from := p.text
	if name == "readme" {
		from = p.readme
	}
	_, after, ok := strings.Cut(from, "<!-- measured: "+name+" -->\n")
	body, _, ended := strings.Cut(after, "<!-- end -->")
	if !ok || !ended {
		return nil, fmt.Errorf("there is no such part")
	}
	var rows [][]string
	for line := range strings.Lines(body) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 3 {
			continue
		}
		cells = cells[1 : len(cells)-1]
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`*")
		}
		if len(rows) > 0 && len(cells) != len(rows[0]) {
			return nil, fmt.Errorf("a row has %d cells, the head %d: %q", len(cells), len(rows[0]), cells)
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 || rows[1][0] != "---" {
		return nil, fmt.Errorf("there is no table")
	}
	return slices.Delete(rows, 1, 2), nil
}

func number(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		return -1
	}
	return n
}

// classes reads how often which class was found.
func classes(text string) (map[string]int, error) {
	out := map[string]int{}
	for _, one := range strings.Split(text, ", ") {
		name, count, _ := strings.Cut(one, " ")
		if name != "nothing" && !slices.Contains(verdict.Classes(), verdict.Class(name)) || number(count) < 1 {
			return nil, fmt.Errorf("%q is no class with a number of runs", one)
		}
		out[name] += number(count)
	}
	return out, nil
}

func (p *page) aggregate(rows [][]string) error {
	all := ensemble.Scenarios()
	if len(rows) != len(all)+2 {
		return fmt.Errorf("%d rows for %d scenarios", len(rows), len(all))
	}
	var total sweep.Rate
	alarms, misses := 0, 0
	for i, s := range all {
		row := rows[i+1]
		r := sweep.Rate{Runs: number(row[2]), Right: number(row[3])}
		if row[0] != s.Name || row[1] != s.Title || r.Runs != p.seeds*len(sweep.Cells()) || r.Right > r.Runs || row[4] != r.String() {
			return fmt.Errorf("row %q is not of scenario %s, with its rate %s", row, s.Name, r)
		}
		if len(s.Faults) == 0 || s.Faults[0] == ensemble.Crash {
			alarms += r.Runs - r.Right
		} else {
			misses += r.Runs - r.Right
		}
		found, err := classes(row[6])
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		p.rates[s.Name], p.found[s.Name] = r, found
		total.Runs, total.Right = total.Runs+r.Runs, total.Right+r.Right
	}
	if last := rows[len(rows)-1]; number(last[2]) != total.Runs || number(last[3]) != total.Right {
		return fmt.Errorf("the total %q is not %d of %d", last, total.Right, total.Runs)
	}
	if words := fmt.Sprintf("\nFalse alarms %d, misses %d, misplaced ", alarms, misses); !strings.Contains(p.text, words) {
		return fmt.Errorf("the page does not say %q", words)
	}
	return nil
}

// right is how many of a cell's runs a rate says were right.
func (p *page) right(text string) (int, error) {
	for n := range p.seeds + 1 {
		if (sweep.Rate{Right: n, Runs: p.seeds}).String() == text {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is no rate of %d runs", text, p.seeds)
}

func (p *page) cells(rows [][]string) error {
	want := sweep.Cells()
	if len(rows) != len(want)+1 {
		return fmt.Errorf("%d rows for %d cells", len(rows), len(want))
	}
	sums := make([]int, len(rows[0]))
	for i, c := range want {
		row := rows[i+1]
		if got := fmt.Sprintf("N=%s,K=%s,R=%s", row[0], row[1], row[2]); got != c.String() {
			return fmt.Errorf("row %s is in the place of %s", got, c)
		}
		for col := 3; col < len(row); col++ {
			n, err := p.right(row[col])
			if err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
			sums[col] += n
		}
	}
	for i, s := range ensemble.PaperScenarios() {
		if rows[0][3+i] != s.Title || sums[3+i] != p.rates[s.Name].Right {
			return fmt.Errorf("column %q has %d runs that were right, and all together %d", rows[0][3+i], sums[3+i], p.rates[s.Name].Right)
		}
	}
	return nil
}

func (p *page) paper(rows [][]string) error {
	all, err := p.table("cells")
	if err != nil {
		return err
	}
	of := map[string][]string{}
	for _, row := range all[1:] {
		of[strings.Join(row[:3], " ")] = row[3:8]
	}
	sizes := []string{"10 4 10", "50 4 10", "200 4 10", "50 2 10", "50 4 10", "50 8 10", "50 4 5", "50 4 10", "50 4 25"}
	if len(rows) != len(sizes)+2 {
		return fmt.Errorf("it has %d rows, not %d", len(rows), len(sizes)+2)
	}
	for i, size := range sizes {
		if row := rows[i+1]; strings.Join(row[1:4], " ") != size || !slices.Equal(row[4:], of[size]) {
			return fmt.Errorf("row %q is not that of cell %s", row, size)
		}
	}
	last := rows[len(rows)-1]
	for i, s := range ensemble.PaperScenarios() {
		if r := p.rates[s.Name]; last[4+i] != r.String() || !strings.Contains(strings.ReplaceAll(last[0], ",", ""), fmt.Sprintf("n = %d", r.Runs)) {
			return fmt.Errorf("the aggregate %q is not %s of %d runs", last[4+i], r, r.Runs)
		}
	}
	return nil
}

func (p *page) criteria(rows [][]string) error {
	all, by := ensemble.Scenarios(), ensemble.Criteria()
	if len(rows) != len(all)+3 {
		return fmt.Errorf("%d rows for %d scenarios and two counts", len(rows), len(all))
	}
	for c, criterion := range by {
		if rows[0][2+c] != string(criterion) {
			return fmt.Errorf("column %q is not criterion %s", rows[0][2+c], criterion)
		}
		alarms, misses := 0, 0
		for i, s := range all {
			row := rows[i+1]
			r, asked := p.shown(row[2+c])
			crash := slices.Contains(s.Faults, ensemble.Crash)
			if row[0] != s.Name || number(row[1]) != p.rates[s.Name].Runs || asked == (s.Blind || crash && criterion != ensemble.ByIff) {
				return fmt.Errorf("%s: row %q is not of scenario %s", criterion, row, s.Name)
			}
			if asked && r < 0 || criterion == ensemble.ByIff && asked && row[2+c] != p.rates[s.Name].String() {
				return fmt.Errorf("%s, %s: %q is no rate, or another than above", criterion, s.Name, row[2+c])
			}
			switch {
			case !asked:
			case len(s.Faults) == 0 || crash:
				alarms += number(row[1]) - r
			default:
				misses += number(row[1]) - r
			}
		}
		// A rate in three decimals says how many runs it is of up to some.
		near := func(row []string, n, of int) bool {
			d := number(row[2+c]) - n
			return number(row[2+c]) >= 0 && max(d, -d) <= of*p.rates["clean"].Runs/1000
		}
		if last := rows[len(all)+1:]; !near(last[0], alarms, 2) || !near(last[1], misses, len(all)) {
			return fmt.Errorf("%s: %q are not about %d false alarms and %d misses", criterion, last, alarms, misses)
		}
	}
	return nil
}

// shown is how many of a scenario's runs were right, as far as a rate says it; less
// than 0 if it is none. Of some nothing is asked.
func (p *page) shown(text string) (right int, asked bool) {
	if text == "nothing asked" {
		return 0, false
	}
	value, _, _ := strings.Cut(text, " ")
	part, _ := strconv.ParseFloat(value, 64)
	runs := p.seeds * len(sweep.Cells())
	around, some := int(part*float64(runs)), 1+runs/1000
	for n := max(0, around-some); n <= min(runs, around+some); n++ {
		if (sweep.Rate{Right: n, Runs: runs}).String() == text {
			return n, true
		}
	}
	return -1, true
}

// claims are what the text around says of the figures.
func (p *page) claims(rows [][]string) error {
	if !strings.Contains(p.text, "\nFalse alarms 0, misses 0, misplaced 0, odd 0.\n") {
		return fmt.Errorf("the page says that nothing was judged wrong or found elsewhere, and its counts do not")
	}
	for c, criterion := range ensemble.Criteria() {
		clean, _ := p.shown(rows[1][2+c])
		if most := 2*clean > p.rates["clean"].Runs; most != (criterion != ensemble.ByPaperLiteral) {
			return fmt.Errorf("by %s %d clean runs pass: the README says that by %s alone most fail", criterion, clean, ensemble.ByPaperLiteral)
		}
	}
	return nil
}

func (p *page) faults(rows [][]string) error {
	rows = rows[1:]
	for _, s := range ensemble.Scenarios() {
		runs, found := 0, map[string]int{}
		faults := s.Faults
		if len(faults) == 0 {
			faults = []ensemble.Fault{"none"}
		}
		for _, f := range faults {
			if len(rows) == 0 || rows[0][0] != s.Name || rows[0][1] != string(f) || rows[0][2] == "" {
				return fmt.Errorf("there is no row of %s in its place", f)
			}
			n := number(rows[0][3])
			counts, err := classes(rows[0][4])
			if n > 0 && err != nil {
				return fmt.Errorf("%s: %w", f, err)
			}
			for class, count := range counts {
				found[class] += count
				if count > n {
					return fmt.Errorf("%s: found %s in %d of %d runs", f, class, count, n)
				}
			}
			runs, rows = runs+n, rows[1:]
		}
		if runs != p.rates[s.Name].Runs || fmt.Sprint(found) != fmt.Sprint(p.found[s.Name]) {
			return fmt.Errorf("%s: %d runs in which %v was found are not %d with %v", s.Name, runs, found, p.rates[s.Name].Runs, p.found[s.Name])
		}
	}
	if len(rows) != 0 {
		return fmt.Errorf("there are rows of no fault: %q", rows)
	}
	return nil
}

func (p *page) cost(rows [][]string) error {
	if n := number(rows[1][1]); n != p.seeds*len(sweep.Cells())*len(ensemble.PaperScenarios()) {
		return fmt.Errorf("the paper's runs are %d", n)
	}
	return nil
}

// row is the README's.
func (p *page) row(rows [][]string) error {
	head, row := rows[0], rows[1]
	if number(strings.TrimSuffix(head[0], " runs of each")) != p.rates["clean"].Runs {
		return fmt.Errorf("%q are not the runs of the page", head[0])
	}
	for i, s := range ensemble.PaperScenarios() {
		if head[1+i] != s.Title || row[1+i] != p.rates[s.Name].String() {
			return fmt.Errorf("%s: %s is not %s", s.Title, row[1+i], p.rates[s.Name])
		}
	}
	var more sweep.Rate
	kinds := 0
	for _, s := range ensemble.Scenarios()[len(ensemble.PaperScenarios()):] {
		if r := p.rates[s.Name]; !s.Blind {
			more.Runs, more.Right, kinds = more.Runs+r.Runs, more.Right+r.Right, kinds+1
		}
	}
	words := strings.ReplaceAll(row[len(row)-1], ",", "")
	if want := fmt.Sprintf("%d of %d right", more.Right, more.Runs); words != want || !strings.HasPrefix(head[len(head)-1], fmt.Sprintf("%d more", kinds)) {
		return fmt.Errorf("%q is not %s, of %d kinds", words, want, kinds)
	}
	return nil
}
