package verdicttest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// Random is the log of a seed: of a world without or with a fault, as it is or
// with up to a dozen of its records exchanged, left out, doubled or altered.
func Random(seed uint64) Log {
	rng := rand.New(rand.NewPCG(seed, 11))
	faults := []Fault{"", "", Stealth, Tampered, ForgedCall, Silent, OtherTarget, Swapped, OtherBytes, Drifted, Overlapped, LeftPartial, Offset, Unresolved, Blinded, Erased}
	l := NewWorld(seed, 14, faults[rng.IntN(len(faults))]).Log
	if rng.IntN(4) == 0 {
		return l
	}
	g := garbler{&l, rng}
	for range 1 + rng.IntN(12) {
		g.once()
	}
	g.renumber()
	return l
}

type garbler struct {
	*Log
	rng *rand.Rand
}

func (g garbler) at() int { return g.rng.IntN(len(g.Events)) }

func (g garbler) once() {
	if len(g.Events) < 2 {
		return
	}
	i, k := g.at(), g.at()
	switch g.rng.IntN(9) {
	case 0:
		g.Events[i], g.Events[k] = g.Events[k], g.Events[i]
	case 1:
		g.Events = slices.Delete(g.Events, i, i+1)
	case 2:
		g.Events = slices.Insert(g.Events, k, g.Events[i])
	case 3:
		if k = min(i+1, len(g.Events)-1); g.Events[i].Snapshot == nil {
			g.Events[i], g.Events[k] = g.Events[k], g.Events[i]
		}
	case 4:
		g.edges()
	default:
		if e := &g.Events[i]; e.Snapshot != nil {
			e.Snapshot = g.smudge(e.Snapshot)
		} else {
			g.alter(e, g.Events[k].Record)
		}
	}
}

// edges alters what stands around the records.
func (g garbler) edges() {
	switch g.rng.IntN(6) {
	case 0:
		g.From = int64(g.rng.IntN(len(g.Events)))
	case 1:
		g.Start = map[string]*corpus.Snapshot{home: g.smudge(g.Start[home])}
	case 2:
		g.Final = map[string]*corpus.Snapshot{home: g.smudge(g.Final[home])}
	case 3:
		g.Final = map[string]*corpus.Snapshot{home: g.Final[home], "other": corpus.NewSnapshot(nil)}
	case 4:
		g.Fence++
	case 5:
		if g.rng.IntN(10) == 0 {
			g.Start = nil
		}
	}
}

func (g garbler) smudge(s *corpus.Snapshot) *corpus.Snapshot {
	if s == nil || s.Len() == 0 {
		return s
	}
	e := s.Entries()[g.rng.IntN(s.Len())]
	e.State = g.anyState()
	return s.Apply([]corpus.Entry{e})
}

func (g garbler) anyState() corpus.State {
	list := []corpus.State{corpus.Absent, corpus.Any, corpus.Unreadable, corpus.Unreadable, "", "ABC", blank, blank[:63] + "1", blank[:63] + "2", blank[:63] + "3"}
	return list[g.rng.IntN(len(list))]
}

func (g garbler) anyObject() corpus.Object {
	list := []corpus.Object{"work/f1", "work/f2", "work/f3", "work/alone", "work/guarded", "work/new", "other/x", "nowhere"}
	return list[g.rng.IntN(len(list))]
}

func (g garbler) changes(list []corpus.Change) []corpus.Change {
	out := slices.Clone(list)
	if len(out) == 0 || g.rng.IntN(6) == 0 {
		return append(out, corpus.Change{Object: g.anyObject(), Before: g.anyState(), After: g.anyState()})
	}
	c := &out[g.rng.IntN(len(out))]
	switch g.rng.IntN(6) {
	case 0:
		c.Object = g.anyObject()
	case 1:
		c.Before = g.anyState()
	case 2:
		c.After = g.anyState()
	case 3:
		c.Before, c.After = c.After, c.Before
	case 4:
		return append(out, *c)
	case 5:
		return out[1:]
	}
	return out
}

func (g garbler) alter(e *Event, like record.Record) {
	r := &e.Record
	switch g.rng.IntN(12) {
	case 0:
		r.Request = like.Request
	case 1:
		r.Session = like.Session
	case 2:
		r.Time = time.Unix(int64(1_500_000_000+1_000_000_000*g.rng.IntN(2)), 0)
	case 3:
		e.Rest = nil
	default:
		r.Body = g.body(r.Body)
	}
}

func (g garbler) body(b record.Body) record.Body {
	switch b := b.(type) {
	case record.Request:
		g.request(&b)
		if g.rng.IntN(8) == 0 {
			return record.ReversibleRequest{Request: b}
		}
		return b
	case record.ReversibleRequest:
		g.request(&b.Request)
		return b
	case record.Decision:
		g.decision(&b)
		return b
	case record.Intent:
		g.intent(&b)
		return g.anyIntent(b)
	case record.CommitIntent:
		g.intent(&b.Intent)
		return g.anyIntent(b.Intent)
	case record.RollbackIntent:
		g.intent(&b.Intent)
		return g.anyIntent(b.Intent)
	case record.Resolved:
		b.Finding = []record.Finding{record.FoundExecuted, record.FoundNotExecuted, record.FoundPartial, record.FoundConflict}[g.rng.IntN(4)]
		b.Readings = g.changes(b.Readings)
		return b
	case record.Recovery:
		b.Expired, b.Denied, b.RolledBack = append(b.InDoubt, b.Expired...), append(b.RolledBack, "c1", "c3"), append(b.Denied, "c2")
		return b
	case record.Boot:
		b.Fence++
		return b
	case record.Staged:
		b.Envelope[0]++
		return b
	case record.Executed, record.Error, record.Committed, record.RolledBack:
		return g.outcome(b)
	}
	return b
}

func (g garbler) request(b *record.Request) {
	switch g.rng.IntN(7) {
	case 0:
		b.Plan = g.changes(b.Plan)
	case 1:
		b.Effect = []string{"none", "reversible", "irreversible", "odd"}[g.rng.IntN(4)]
	case 2:
		b.Envelope[0]++
	case 3:
		b.Level = []string{"declared", "unverified", ""}[g.rng.IntN(3)]
	case 4:
		b.Guarded = "AGENTS.md"
	case 5:
		b.Rest = record.Payload{Size: 1}
	case 6:
		for i := range b.Plan {
			b.Plan = slices.Clone(b.Plan)
			b.Plan[i].After = corpus.Any
		}
	}
}

func (g garbler) decision(b *record.Decision) {
	switch g.rng.IntN(5) {
	case 0:
		b.Choice = []record.Choice{record.Approve, record.Deny, ""}[g.rng.IntN(3)]
	case 1:
		causes := []record.Cause{"human", "policy", "webhook", "level", "timeout", "crash", ""}
		b.Cause = causes[g.rng.IntN(len(causes))]
	case 2:
		b.Envelope[0]++
	case 3:
		b.Expires = time.Unix(1_600_000_000, 0)
	case 4:
		b.Signature = "no"
	}
}

func (g garbler) intent(b *record.Intent) {
	switch g.rng.IntN(6) {
	case 0, 1:
		b.Plan = g.changes(b.Plan)
	case 2:
		b.Envelope[0]++
	case 3:
		b.Fence++
	case 4:
		b.Rest = record.Payload{Size: 1}
	case 5:
		b.Plan = nil
	}
}

func (g garbler) anyIntent(b record.Intent) record.Body {
	return []record.Body{b, b, record.CommitIntent{Intent: b}, record.RollbackIntent{Intent: b}}[g.rng.IntN(4)]
}

func (g garbler) outcome(body record.Body) record.Body {
	b := outcomeOf(body)
	switch g.rng.IntN(8) {
	case 0, 1, 2:
		b.Readings = g.changes(b.Readings)
	case 3:
		b.Envelope[0]++
	case 4:
		b.Readings = nil
	case 5:
		b.Rest = record.Payload{Size: 1}
	}
	kinds := []record.Body{record.Executed{Outcome: b}, record.Error{Outcome: b}, record.Committed{Outcome: b}, record.RolledBack{Outcome: b}}
	switch body.(type) {
	case record.Executed:
		return kinds[[]int{0, 0, 0, 1, 2, 3}[g.rng.IntN(6)]]
	case record.Error:
		return kinds[[]int{1, 1, 1, 0, 2, 3}[g.rng.IntN(6)]]
	case record.Committed:
		return kinds[[]int{2, 2, 2, 0, 1, 3}[g.rng.IntN(6)]]
	}
	return kinds[[]int{3, 3, 3, 0, 1, 2}[g.rng.IntN(6)]]
}

// renumber makes the order of the events that of their numbers, and leaves no
// snapshot before the interval.
func (g garbler) renumber() {
	g.Events = slices.DeleteFunc(g.Events, func(e Event) bool { return e.Snapshot != nil && e.Record.Seq < g.From })
	for i := range g.Events {
		g.Events[i].Record.Seq = int64(i)
	}
	first := slices.IndexFunc(g.Events, func(e Event) bool { return e.Snapshot != nil })
	if first >= 0 {
		g.From = min(g.From, int64(first))
	}
}
