package verdict_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

func Example() {
	one, two, odd := corpus.State(strings.Repeat("1", 64)), corpus.State(strings.Repeat("2", 64)), corpus.State(strings.Repeat("3", 64))
	plan := []corpus.Change{{Object: "work/report.md", Before: one, After: two}}
	was := corpus.NewSnapshot([]corpus.Entry{{Object: "work/report.md", State: one}, {Object: "work/plan.md", State: one}})
	is := corpus.NewSnapshot([]corpus.Entry{{Object: "work/report.md", State: two}, {Object: "work/plan.md", State: odd}})

	judge := verdict.New(verdict.Options{Start: map[string]*corpus.Snapshot{"work": was}})
	for seq, body := range []record.Body{
		record.Request{Effect: "irreversible", Level: "declared", Plan: plan},
		record.Decision{Cause: record.CauseLevel, Choice: record.Approve},
		record.Intent{Plan: plan},
		record.Executed{Outcome: record.Outcome{Readings: plan}},
	} {
		judge.Add(record.Record{Seq: int64(seq), Request: "c1", Body: body}, nil)
	}
	report := judge.End(map[string]*corpus.Snapshot{"work": is}, time.Time{})
	fmt.Println(report.Result, report.Counts.Irreversible, "executed,", report.Counts.Changed, "objects changed")
	for _, f := range report.Findings {
		fmt.Println(f.Class, f.Object, f.Detail)
	}
	// Output:
	// FAIL 1 executed, 2 objects changed
	// bypass work/plan.md changed outside every call; nobody leased it
}
