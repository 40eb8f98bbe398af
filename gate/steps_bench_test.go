package gate

import (
	"strconv"
	"testing"
)

// BenchmarkLife is a call that is approved by level, from the request to what the
// agent is told, with calls waiting for answers beside it. DESIGN section 13: at
// most 5 us and 20 allocations a step.
func BenchmarkLife(b *testing.B) {
	for _, beside := range []int{0, 1000} {
		b.Run(strconv.Itoa(beside), func(b *testing.B) {
			r := newRig(func(r *Rules) { r.Calls, r.Asked = 1<<20, 1<<20 })
			for i := range beside {
				r.toAsked(r.call("w"+strconv.Itoa(i), "d", "asked"))
			}
			ids := make([]string, 1024)
			for i := range ids {
				ids[i] = "r1." + strconv.Itoa(i)
			}
			call, steps := r.call("", "d", "auto"), 0
			if r.err != nil {
				b.Fatal(r.err)
			}
			b.ReportAllocs()
			for b.Loop() {
				id := ids[steps%len(ids)]
				call.ID = id
				r.m.Step(call)
				r.m.Step(Planned{ID: id})
				r.m.Step(Appended{ID: id})
				r.m.Step(Finished{ID: id})
				got := r.m.Step(Appended{ID: id})
				if steps++; len(got) != 1 || got[0] != Command(Tell{ID: id, Status: Done, Last: true}) {
					b.Fatalf("told %s", list(got))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(5*steps), "ns/step")
		})
	}
}

// BenchmarkContended is the same with all calls on one object, a hundred of them
// waiting for it.
func BenchmarkContended(b *testing.B) {
	r := newRig(func(r *Rules) { r.Calls = 1 << 20 })
	const waits = 100
	for i := range waits + 1 {
		r.m.Step(r.call("c"+strconv.Itoa(i), "d", "auto"))
	}
	if r.err != nil {
		b.Fatal(r.err)
	}
	n := 0
	call := r.call("", "d", "auto")
	ids := make([]string, waits+1)
	for i := range ids {
		ids[i] = "c" + strconv.Itoa(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		id := ids[n%len(ids)]
		n++
		r.m.Step(Planned{ID: id})
		r.m.Step(Appended{ID: id})
		r.m.Step(Finished{ID: id})
		if got := r.m.Step(Appended{ID: id}); len(got) != 2 {
			b.Fatalf("told %s", list(got))
		}
		call.ID = id
		r.m.Step(call)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(5*n), "ns/step")
}
