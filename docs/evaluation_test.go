package docs_test

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/ensemble/sweep"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/verdict"
)

const evaluation = "evaluation.md"

// The measured parts of the page and the README say what can be said, of all that
// there is to be said, and agree with one another.
func TestEvaluation(t *testing.T) {
	must(t, checkEvaluation(readFile(t, evaluation), readFile(t, "../README.md")))
}

// What is wrong with the measured parts is noticed.
func TestEvaluationNotices(t *testing.T) {
	page, readme := readFile(t, evaluation), readFile(t, "../README.md")
	must(t, checkEvaluation(page, readme))
	for name, m := range map[string]struct{ form, with string }{
		"a scenario of another name":  {"\\| `swap` \\| F4 as a swap", "| `swop` | F4 as a swap"},
		"a scenario that is left out": {"(?m)^\\| `f3` \\| F3 detect.*\n", ""},
		"a total":                     {`\| \*\*all\*\* \|  \| `, "| **all** |  | 1"},
		"a miss that is not counted":  {`misses \d+, misplaced`, "misses 7, misplaced"},
		"an interval":                 {"(`f1` \\| F1 detect \\|[^[]*)\\[0\\.\\d*", "$1[0.001"},
		"the aggregate of the paper":  {`(\*\*aggregate\*\*.*?)\*\*1\.000 \[0\.\d+`, "$1**1.000 [0.002"},
		"a cell that is left out":     {`(?m)^\| 200 \| 8 \| 25 .*\n`, ""},
		"a cell":                      {`(?m)^\| 10 \| 2 \| 5 \| 1\.000 \[[^]]*\]`, "| 10 | 2 | 5 | 0.000 [0.000, 1.000]"},
		"a criterion":                 {"\\| `paper-set` \\|", "| `paper-sets` |"},
		"false alarms":                {`(\| false alarms \|  \| \d+ \|) [\d,]+`, "$1 999999"},
		"a fault of another name":     {"`late-content`", "`too-late`"},
		"runs of a fault":             {"(`swap` \\| two approved.*?target \\| )", "${1}9"},
		"a class":                     {"wrong-target ", "wrong-targets "},
		"an empty part":               {`(?s)(<!-- measured: faults -->\n).*?(<!-- end -->)`, "$1$2"},
		"a row that is too short":     {"\\| `tamper` \\| Tampering \\|", "| `tamper` |"},
	} {
		form := regexp.MustCompile(m.form)
		at := form.FindStringIndex(page)
		if at == nil {
			t.Errorf("%s: %s is not on the page", name, m.form)
			continue
		}
		bad := page[:at[0]] + form.ReplaceAllString(page[at[0]:at[1]], m.with) + page[at[1]:]
		if err := checkEvaluation(bad, readme); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	bad := regexp.MustCompile("(?m)^(\\| `iff verdict` \\| )\\d\\.\\d+").ReplaceAllString(readme, "${1}0.500")
	if bad == readme || checkEvaluation(page, bad) == nil {
		t.Error("a rate in the README: not noticed")
	}
}

// What the page says that no verdict sees is what every report says.
func TestEvaluationUnseen(t *testing.T) {
	page := readFile(t, evaluation)
	for _, words := range verdict.Unseen() {
		if !strings.Contains(page, "\n  - "+words+"\n") {
			t.Errorf("the page does not say that no verdict sees %q", words)
		}
	}
}

// The page's examples are what the program prints, in any order of lines: two calls
// that are made at once are found in either. "..." stands for the rest of a line.
func TestEvaluationExamples(t *testing.T) {
	program := filepath.Join(t.TempDir(), "iff")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "../cmd/iff").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	blocks := regexp.MustCompile("(?m)```console\n\\$ iff (sweep --only \\S+)\n((?:[^`].*\n)+)```").FindAllStringSubmatch(readFile(t, evaluation), -1)
	if len(blocks) != 5 {
		t.Fatalf("there are %d examples, not 5", len(blocks))
	}
	for _, b := range blocks {
		out, err := exec.CommandContext(t.Context(), program, append(strings.Fields(b[1]), "--dir", t.TempDir())...).CombinedOutput()
		must(t, err)
		shown, printed := strings.Split(strings.TrimSpace(b[2]), "\n"), strings.Split(strings.TrimSpace(string(out)), "\n")
		like := func(shown, printed string) bool {
			begin, cut := strings.CutSuffix(shown, "...")
			return shown == printed || cut && strings.HasPrefix(printed, begin)
		}
		slices.Sort(shown)
		slices.Sort(printed)
		if !slices.EqualFunc(shown, printed, like) {
			t.Errorf("iff %s prints\n%s\nand the page has\n%s", b[1], out, b[2])
		}
	}
}

// The first example is what the page says it is: the consolidator writes one file
// in rounds 1 and 4, and nobody else touches that.
func TestEvaluationWritesTwice(t *testing.T) {
	const file = "finance/2024-Q2-payroll-006.csv"
	clean, err := sweep.Scenario("clean")
	must(t, err)
	run := sweep.Plan{Seed: 1}.Run(sweep.Cell{N: 10, K: 2, R: 5}, clean, 4)
	var on []string
	for _, c := range replay(t, run.Config()) {
		if c.call.Target == file && strings.HasPrefix(c.call.Capability, "fs.write") {
			on = append(on, fmt.Sprintf("%s %d", ensemble.Roles()[c.agent].Name, c.round))
		}
	}
	if want := []string{"consolidator 1", "consolidator 4"}; !slices.Equal(on, want) {
		t.Errorf("%s is written by %q, not by %q", file, on, want)
	}
}

type asked struct {
	agent, round int
	call         gate.Call
}

// replay has the scripts of a run ask for their calls, as if each were done that is
// on a file that is there.
func replay(t *testing.T, c ensemble.Config) []asked {
	t.Helper()
	kit, err := ensemble.NewKit(t.Context())
	must(t, err)
	corpus, err := kit.NewCorpus(t.TempDir(), c.N, 0, c.Files)
	must(t, err)
	files := numbered(t, corpus.Dir())
	must(t, corpus.Close())
	if len(files) != c.N {
		t.Fatalf("the corpus has %d files with numbers, not %d: %q", len(files), c.N, files)
	}
	gone := map[string]bool{}
	var out []asked
	minds, last := make([]ensemble.Mind, c.K), make([]ensemble.Turn, c.K)
	for n := range minds {
		minds[n] = ensemble.Script(n, c.Seed)
	}
	for round := 1; round <= c.R; round++ {
		for n, mind := range minds {
			last[n].Round, last[n].Rounds, last[n].Files = round, c.R, files
			call, _, err := mind.Next(t.Context(), last[n])
			must(t, err)
			reply := gate.Reply{Status: gate.Done}
			if gone[call.Target] {
				reply = gate.Reply{Status: gate.Failed, Reason: gate.NotFound}
			}
			if strings.Contains(string(call.Arguments), `"delete"`) || strings.Contains(string(call.Arguments), `"rename"`) {
				gone[call.Target] = true
			}
			out, last[n] = append(out, asked{n, round, call}), ensemble.Turn{LastCall: call, Last: reply}
		}
	}
	return out
}

// numbered are the files of a corpus that end in a number, by that number.
func numbered(t *testing.T, dir string) []string {
	t.Helper()
	number := regexp.MustCompile(`\d{3}\.[a-z]+$`)
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must(t, err)
	paths = slices.DeleteFunc(paths, func(p string) bool { return number.FindString(p) == "" })
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(number.FindString(a), number.FindString(b)) })
	for i, p := range paths {
		paths[i], err = filepath.Rel(dir, p)
		must(t, err)
	}
	return paths
}
