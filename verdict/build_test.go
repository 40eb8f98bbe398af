package verdict_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/verdict"
	"github.com/iff-run/iff/verdict/verdicttest"
)

// event is a record or a barrier; see [verdicttest.Script].
type event = verdicttest.Event

func parse(t testing.TB, text string) []event {
	t.Helper()
	events, err := verdicttest.Script(text)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// standard are the options that the tables judge with.
func standard(start string) verdict.Options {
	return verdict.Options{
		Start: map[string]*corpus.Snapshot{"work": verdicttest.States(start)}, Since: time.Unix(1_799_999_999, 0), Fence: 1,
		Observers: map[string]verdict.Observer{"work": {Name: "rehash", Blind: []string{"times"}, Volatile: []string{".git/**"}}},
		Guarded:   func(o corpus.Object) bool { return o == "work/G" },
		Check: func(s verdict.Signed) error {
			if s.Decision.Signature != verdicttest.GoodSignature {
				return errors.New("signature-bad")
			}
			return nil
		},
	}
}

func judge(opt verdict.Options, events []event, end string) verdict.Report {
	j := verdict.New(opt)
	for _, e := range events {
		if e.Snapshot != nil {
			j.Snapshot(e.Corpus, e.Snapshot)
		} else {
			j.Add(e.Record, nil)
		}
	}
	return j.End(map[string]*corpus.Snapshot{"work": verdicttest.States(end)}, time.Unix(1_900_000_000, 0))
}

// brief is a report in one line: the result, and class:object:call of each finding.
func brief(r verdict.Report) string {
	words := []string{}
	for _, f := range r.Findings {
		words = append(words, fmt.Sprintf("%s:%s:%s", f.Class, strings.TrimPrefix(string(f.Object), "work/"), f.Call))
	}
	slices.Sort(words)
	return strings.TrimSpace(string(r.Result) + " " + strings.Join(words, " "))
}
