package vectors_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// TestEveryClass: each class of finding occurs, and README.md explains it.
func TestEveryClass(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range load(t) {
		var found [][]string
		if text, ok := v.header["findings"]; ok && canonical.Parse([]byte(text), &found, canonical.Limits{}) != nil {
			t.Errorf("%s/%s: findings %s", v.family, v.name, text)
		}
		for _, f := range found {
			seen[f[0]] = true
		}
	}
	for _, c := range verdict.Classes() {
		if !seen[string(c)] || !strings.Contains(string(readme), "\n| "+string(c)+" | ") {
			t.Errorf("no vector is %s, or README.md does not explain it", c)
		}
	}
}

// goodSignature stands for a signature that holds.
const goodSignature = "good"

// reading is a line of a verdict's payload that is no record.
type reading struct {
	At       string `json:"at"`
	Corpus   string `json:"corpus"`
	Snapshot string `json:"snapshot"`
}

func (v vector) verdictOptions() verdict.Options {
	guarded := strings.Fields(v.get("guarded"))
	return verdict.Options{
		Start:   map[string]*corpus.Snapshot{},
		Guarded: func(o corpus.Object) bool { return slices.Contains(guarded, string(o)) },
		Check: func(s verdict.Signed) error {
			if s.Decision.Signature != goodSignature {
				return errors.New("signature-invalid")
			}
			return nil
		},
	}
}

func runVerdict(v vector, _ string) (result, error) {
	opt := v.verdictOptions()
	var j *verdict.Judge
	end := map[string]*corpus.Snapshot{}
	for line := range strings.SplitSeq(string(v.payload), "\n") {
		r, s, err := readLine(line)
		switch {
		case err != nil:
			return result{}, err
		case s != nil && r.At == "start" && j == nil:
			opt.Start[r.Corpus] = s
			continue
		case j == nil:
			j = verdict.New(opt)
		}
		switch {
		case len(end) > 0 && r.At != "end":
			return result{}, fmt.Errorf("%.40q is behind the end", line)
		case s == nil:
			j.Add(r.record, nil)
		case r.At == "barrier":
			j.Snapshot(r.Corpus, s)
		case r.At == "end":
			end[r.Corpus] = s
		default:
			return result{}, fmt.Errorf("a reading at %q", r.At)
		}
	}
	if j == nil {
		return result{}, errors.New("no line but readings at the start")
	}
	return judged(j.End(end, time.Time{}))
}

// line is what stands in one.
type line struct {
	reading
	record record.Record
}

// readLine reads a record, or a reading and its snapshot.
func readLine(text string) (line, *corpus.Snapshot, error) {
	if !strings.HasPrefix(text, `{"at":`) {
		r, err := record.ParseLine(text)
		return line{record: r}, nil, err
	}
	var out line
	if err := canonical.Parse([]byte(text), &out.reading, canonical.Limits{}); err != nil {
		return line{}, nil, err
	}
	entries, err := corpus.Parse([]byte(out.Snapshot))
	return out, corpus.NewSnapshot(entries), err
}

// judged is a report without what is words or time.
func judged(r verdict.Report) (result, error) {
	found := []string{}
	for _, f := range r.Findings {
		form, err := canonical.Marshal([]string{string(f.Class), string(f.Object), f.Call})
		if err != nil {
			return result{}, err
		}
		found = append(found, string(form))
	}
	slices.Sort(found)
	return answer(strings.ToLower(string(r.Result)), "findings", "["+strings.Join(found, ",")+"]")
}
