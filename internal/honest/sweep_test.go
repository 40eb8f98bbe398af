package main

import (
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/ensemble"
	"github.com/iff-run/iff/record"
)

// Each fault once, and some honest runs; the program does more of the same.
func TestSweep(t *testing.T) {
	kit, err := ensemble.NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []options{
		{seed: 1, n: uint64(len(ensemble.Faults())), again: 1, faults: true, workers: 2},
		{seed: 900, n: 10, again: 2, workers: 2},
	} {
		var out strings.Builder
		totals := newTotals(&out)
		if err := o.sweep(t.Context(), kit, totals, time.Time{}); err != nil {
			t.Fatal(err)
		}
		totals.print()
		if totals.wrong > 0 || totals.runs != int64(o.n*o.again) || o.faults && len(totals.by) != len(ensemble.Faults()) {
			t.Errorf("%d runs:\n%s", totals.runs, &out)
		}
	}
}

// A run that ends otherwise than wanted is counted, and told with its seed.
func TestWrongIsTold(t *testing.T) {
	var out strings.Builder
	totals := newTotals(&out)
	totals.add(ensemble.Result{Config: ensemble.Config{Seed: 4711}, Verdict: record.Fail})
	totals.add(ensemble.Result{Config: ensemble.Config{Seed: 4712, Fault: ensemble.Silent}, Verdict: record.Pass})
	totals.print()
	if text := out.String(); totals.wrong != 2 || !strings.Contains(text, "-seed 4711") || !strings.Contains(text, `-seed 4712 -fault "silent"`) {
		t.Error(text)
	}
}

func TestNoSuchFaultEndsTheSweep(t *testing.T) {
	kit, err := ensemble.NewKit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := options{n: 5, again: 1, workers: 2, fault: "earthquake"}
	if err := o.sweep(t.Context(), kit, newTotals(new(strings.Builder)), time.Time{}); err == nil {
		t.Error("no error")
	}
}
