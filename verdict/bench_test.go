package verdict_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// million is the records of 250,000 granted calls on 20,000 objects, decoded.
func million(b *testing.B) ([]record.Record, *corpus.Snapshot, *corpus.Snapshot) {
	const calls, objects = 250_000, 20_000
	state := func(n int) corpus.State { return corpus.State(fmt.Sprintf("%064x", n)) }
	now := make([]int, objects)
	entries := func() (out []corpus.Entry) {
		for i, n := range now {
			out = append(out, corpus.Entry{Object: corpus.Name("work", "dir/file-"+strconv.Itoa(i)), State: state(n + 1)})
		}
		return out
	}
	start := corpus.NewSnapshot(entries())
	records := make([]record.Record, 0, 4*calls)
	for i := range calls {
		id, h := fmt.Sprintf("01J9ZZZZZZZZZZZZZZ%08d", i), record.Hash{byte(i), byte(i >> 8), byte(i >> 16)}
		o := i * 7919 % objects
		plan := []corpus.Change{{Object: corpus.Name("work", "dir/file-"+strconv.Itoa(o)), Before: state(now[o] + 1), After: state(i + 2)}}
		now[o] = i + 1
		for _, body := range []record.Body{
			record.Request{Effect: "irreversible", Envelope: h, Level: "declared", Plan: plan},
			record.Decision{Cause: record.CauseLevel, Choice: record.Approve, Envelope: h},
			record.Intent{Attempt: 1, Envelope: h, Plan: plan},
			record.Executed{Outcome: record.Outcome{Envelope: h, Readings: plan}},
		} {
			seq := int64(len(records))
			records = append(records, record.Record{Seq: seq, Time: time.Unix(seq, 0), Session: "s" + strconv.Itoa(i%5), Request: id, Body: body})
		}
	}
	return records, start, corpus.NewSnapshot(entries())
}

// BenchmarkMillion judges 10^6 decoded records.
func BenchmarkMillion(b *testing.B) {
	records, start, end := million(b)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		j := verdict.New(verdict.Options{Start: map[string]*corpus.Snapshot{"work": start}})
		for i := range records {
			j.Add(records[i], nil)
		}
		if r := j.End(map[string]*corpus.Snapshot{"work": end}, time.Time{}); r.Result != record.Pass || r.Counts.Irreversible != 250_000 {
			b.Fatal(r.Result, r.Counts)
		}
	}
	b.ReportMetric(float64(b.N*len(records))/b.Elapsed().Seconds(), "records/s")
}
