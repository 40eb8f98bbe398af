package ensemble

import (
	"context"
	"maps"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// Criterion is how a run is judged. The set is closed; the zero value holds for no
// run.
type Criterion string

// The criteria. The paper's definition compares, over (operation, target), what
// changed between the beginning and the end of the run with the records of what was
// executed (paper, section "The biconditional"). The operation of a change that
// only the two ends show is that of the class of calls: it cannot be told further.
const (
	ByIff          Criterion = "iff"           // readings inside every lease, and barriers (package verdict)
	ByPaperLiteral Criterion = "paper-literal" // the paper's multisets
	ByPaperSet     Criterion = "paper-set"     // the same, as sets
)

// Criteria lists them.
func Criteria() []Criterion { return []Criterion{ByIff, ByPaperLiteral, ByPaperSet} }

// Holds says whether the run passes by a criterion.
func (r Result) Holds(c Criterion) bool {
	switch c {
	case ByIff:
		return r.Verdict == record.Pass
	case ByPaperLiteral:
		return r.Literal
	case ByPaperSet:
		return r.Set
	}
	return false
}

// talk is what a log says by itself, to who believes it: what the first and the
// last snapshot differ in, and what every executed call was to change. An executed
// record of no call claims what its readings say; one without readings claims
// something that is nowhere.
type talk struct {
	store audit.Store

	began       record.Hash // root of the first snapshot
	first, last map[corpus.Object]corpus.State
	reads       map[string]bool            // requests that were to change nothing
	plans       map[string][]corpus.Change // by request
	claims      map[corpus.Object]int      // of executed records, by what was to change
}

func newTalk(store audit.Store) *talk {
	return &talk{store: store, reads: make(map[string]bool), plans: make(map[string][]corpus.Change), claims: make(map[corpus.Object]int)}
}

// nowhere is what a record claims that names no object.
const nowhere corpus.Object = "?"

func (t *talk) hear(ctx context.Context, r record.Record) error {
	switch b := r.Body.(type) {
	case record.Barrier:
		return t.see(ctx, b)
	case record.Request:
		t.reads[r.Request] = b.Effect == capability.None.String()
	case record.Intent:
		plan, err := rest(ctx, t.store, b.Plan, b.Rest)
		t.plans[r.Request] = plan
		return err
	case record.Executed:
		readings, err := rest(ctx, t.store, b.Readings, b.Rest)
		t.claim(r.Request, readings)
		return err
	}
	return nil
}

func rest(ctx context.Context, store audit.Store, inline []corpus.Change, p record.Payload) ([]corpus.Change, error) {
	if p == (record.Payload{}) {
		return inline, nil
	}
	data, err := audit.Fetch(ctx, store, p)
	if err != nil {
		return nil, err
	}
	return record.ParseChanges(data)
}

func (t *talk) claim(request string, readings []corpus.Change) {
	changes, planned := t.plans[request]
	switch {
	case t.reads[request]:
		return
	case !planned && len(readings) == 0:
		t.claims[nowhere]++
	case !planned:
		changes = readings
	}
	for _, c := range changes {
		if c.Before != c.After {
			t.claims[c.Object]++
		}
	}
}

// see folds a barrier's snapshot.
func (t *talk) see(ctx context.Context, b record.Barrier) error {
	for _, c := range b.Corpora {
		var entries []corpus.Entry
		if c.Snapshot != (record.Payload{}) {
			data, err := audit.Fetch(ctx, t.store, c.Snapshot)
			if err == nil {
				entries, err = corpus.Parse(data)
			}
			if err != nil {
				return err
			}
		}
		if t.last == nil || c.Base == (record.Hash{}) {
			t.last = make(map[corpus.Object]corpus.State)
		}
		for _, e := range entries {
			if e.State == corpus.Absent {
				delete(t.last, e.Object)
			} else {
				t.last[e.Object] = e.State
			}
		}
		if t.first == nil {
			t.first, t.began = maps.Clone(t.last), c.Root
		}
	}
	return nil
}

// compare holds claims against the net difference.
func (t *talk) compare() (multiset, set bool) {
	multiset, set = true, true
	differs := func(o corpus.Object) bool { return t.first[o] != t.last[o] }
	for o, n := range t.claims {
		if !differs(o) {
			return false, false
		}
		multiset = multiset && n == 1
	}
	for _, side := range []map[corpus.Object]corpus.State{t.first, t.last} {
		for o := range side {
			if differs(o) && t.claims[o] == 0 {
				return false, false
			}
		}
	}
	return multiset, set
}
