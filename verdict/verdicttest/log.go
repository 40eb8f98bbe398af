// Package verdicttest tries package verdict: worlds in which sessions run at
// random, honestly or with one fault ([NewWorld]); logs with records exchanged,
// left out and altered ([Random]); and a second verdict, written from DESIGN
// section 6 and the rules in the doc of package verdict alone, which shares no
// code with it ([Check]). [Compare] holds the two against each other. [Cases] are
// the smallest logs of every class and rule, written as a [Script]; vectors/verdicts
// is made of them.
package verdicttest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// Log is all that a verdict is come to from.
type Log struct {
	Events []Event
	Start  map[string]*corpus.Snapshot
	Final  map[string]*corpus.Snapshot
	From   int64
	Fence  int64
	// Guard lists the guarded objects.
	Guard map[corpus.Object]bool
}

// Event is a record with the changes of its payload, or a snapshot at a barrier.
type Event struct {
	Record   record.Record
	Rest     []corpus.Change
	Corpus   string
	Snapshot *corpus.Snapshot
}

// Signed models a signature that nobody can forge: it holds for the request, the
// session, the envelope and the fence for which it was made.
func (l Log) Signed(fence int64, request, decision record.Record) bool {
	d, ok := decision.Body.(record.Decision)
	return ok && d.Signature == Signature(fence, request, d.Choice)
}

// Signature is what [Log.Signed] accepts.
func Signature(fence int64, request record.Record, choice record.Choice) string {
	return string(rune('a'+fence)) + request.Request + request.Session + envelopeOf(request.Body).String() + string(choice)
}

// envelopeOf is the envelope that a record of a call is bound to; none of a
// resolution.
func envelopeOf(b record.Body) record.Hash {
	switch b := b.(type) {
	case record.Request, record.ReversibleRequest:
		return requestOf(b).Envelope
	case record.Decision:
		return b.Envelope
	case record.Staged:
		return b.Envelope
	case record.Intent, record.CommitIntent, record.RollbackIntent:
		return intentOf(b).Envelope
	}
	return outcomeOf(b).Envelope
}

func requestOf(b record.Body) record.Request {
	switch b := b.(type) {
	case record.Request:
		return b
	case record.ReversibleRequest:
		return b.Request
	}
	return record.Request{}
}

// Judge has package verdict come to its verdict.
func (l Log) Judge() verdict.Report { return l.JudgeWith(verdict.Options{}) }

// JudgeWith is Judge with what opt says beside the log.
func (l Log) JudgeWith(opt verdict.Options) verdict.Report {
	opt.From, opt.Fence, opt.Start = l.From, l.Fence, l.Start
	opt.Guarded = func(o corpus.Object) bool { return l.Guard[o] }
	if opt.Check == nil {
		opt.Check = func(s verdict.Signed) error {
			q := record.Record{Session: s.Session, Request: s.ID, Body: s.Request}
			if !l.Signed(s.Fence, q, record.Record{Body: s.Decision}) {
				return errors.New("signature-bad")
			}
			return nil
		}
	}
	j := verdict.New(opt)
	for _, e := range l.Events {
		if e.Snapshot != nil {
			j.Snapshot(e.Corpus, e.Snapshot)
		} else {
			j.Add(e.Record, e.Rest)
		}
	}
	return j.End(l.Final, time.Time{})
}

// token is a letter for each kind of record of a call.
func token(b record.Body) string {
	switch b := b.(type) {
	case record.Request:
		return map[string]string{"none": "q", "irreversible": "Q", "reversible": "P"}[b.Effect] + "!"[:btoi(!slices.Contains([]string{"none", "irreversible", "reversible"}, b.Effect))]
	case record.ReversibleRequest:
		return map[string]string{"none": "S", "irreversible": "S", "reversible": "R"}[b.Effect] + "!"[:btoi(!slices.Contains([]string{"none", "irreversible", "reversible"}, b.Effect))]
	case record.Decision:
		return map[bool]string{true: "y", false: "n"}[b.Choice == record.Approve]
	case record.Resolved:
		return map[bool]string{true: "v", false: "w"}[b.Finding == record.FoundExecuted]
	case record.Staged, record.Intent, record.CommitIntent, record.RollbackIntent, record.Executed, record.Error, record.Committed, record.RolledBack:
		return map[record.Kind]string{"staged": "s", "intent": "i", "commit.intent": "c", "rollback.intent": "b", "executed": "x", "error": "e", "committed": "m", "rolled-back": "k"}[b.Kind()]
	case record.Recovery:
		return "z"
	}
	return ""
}

func btoi(b bool) int { return map[bool]int{true: 1}[b] }

func intentOf(b record.Body) record.Intent {
	switch b := b.(type) {
	case record.Intent:
		return b
	case record.CommitIntent:
		return b.Intent
	case record.RollbackIntent:
		return b.Intent
	}
	return record.Intent{}
}

func outcomeOf(b record.Body) record.Outcome {
	switch b := b.(type) {
	case record.Executed:
		return b.Outcome
	case record.Error:
		return b.Outcome
	case record.Committed:
		return b.Outcome
	case record.RolledBack:
		return b.Outcome
	case record.Resolved:
		return record.Outcome{Readings: b.Readings, Rest: b.Rest}
	}
	return record.Outcome{}
}

func list(inline []corpus.Change, payload record.Payload, rest []corpus.Change) ([]corpus.Change, bool) {
	if payload == (record.Payload{}) {
		return inline, true
	}
	if len(inline) > 0 {
		return inline, false
	}
	return rest, len(rest) > 0
}

// universe is every object that the log names.
func (l Log) universe() map[corpus.Object]bool {
	out := map[corpus.Object]bool{}
	snapshots := []*corpus.Snapshot{}
	for _, s := range l.Start {
		snapshots = append(snapshots, s)
	}
	for _, s := range l.Final {
		snapshots = append(snapshots, s)
	}
	for _, e := range l.Events {
		snapshots = append(snapshots, e.Snapshot)
		in, o := intentOf(e.Record.Body), outcomeOf(e.Record.Body)
		for _, ch := range slices.Concat(in.Plan, o.Readings, e.Rest) {
			out[ch.Object] = true
		}
	}
	for _, s := range snapshots {
		if s != nil {
			for _, e := range s.Entries() {
				out[e.Object] = true
			}
		}
	}
	return out
}

// Found is a finding, without words.
type Found struct {
	Class  string
	Object corpus.Object
	Call   string
}

// summed lists findings, and what they come to.
func summed(found map[Found]int) (record.Result, []Found) {
	result, out := record.Pass, []Found{}
	for f, n := range found {
		if n == 0 {
			continue
		}
		out = append(out, slices.Repeat([]Found{f}, n)...)
		if f.Class != "unread" && f.Class != "in-doubt" {
			result = record.Fail
		} else if result == record.Pass {
			result = record.Open
		}
	}
	Sort(out)
	return result, out
}

// Sort orders findings.
func Sort(found []Found) {
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Call, b.Call))
	})
}

// Compare says where package verdict and [Check] disagree about a log; empty if
// nowhere.
func Compare(l Log) string {
	report := l.Judge()
	var got []Found
	for _, f := range report.Findings {
		got = append(got, Found{string(f.Class), f.Object, f.Call})
	}
	Sort(got)
	result, want := Check(l)
	if report.Result == result && slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("verdict says %s %v\ncheck says   %s %v", report.Result, got, result, want)
}

// String is the log for a reader.
func (l Log) String() string {
	short := func(s corpus.State) string {
		if s.Known() && s != corpus.Absent {
			return strings.TrimLeft(string(s), "0") + "."
		}
		return string(s)
	}
	list := func(changes []corpus.Change) (out string) {
		for _, c := range changes {
			out += fmt.Sprintf(" %s:%s>%s", c.Object, short(c.Before), short(c.After))
		}
		return out
	}
	var b strings.Builder
	snapshot := func(s *corpus.Snapshot) {
		if s != nil {
			for _, e := range s.Entries() {
				fmt.Fprintf(&b, " %s=%s", e.Object, short(e.State))
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "from %d fence %d start", l.From, l.Fence)
	snapshot(l.Start["work"])
	for i, e := range l.Events {
		if e.Snapshot != nil {
			fmt.Fprintf(&b, "%d snapshot", i)
			snapshot(e.Snapshot)
			continue
		}
		r := e.Record
		in, o := intentOf(r.Body), outcomeOf(r.Body)
		fmt.Fprintf(&b, "%d %s %s %s%s%s rest%s", r.Seq, r.Session, r.Request, r.Body.Kind(), list(in.Plan), list(o.Readings), list(e.Rest))
		if r.Body.Kind() == record.KindDecision || r.Body.Kind() == record.KindRecovery || token(r.Body) != "" && strings.Contains("qQPSR", token(r.Body)) {
			fmt.Fprintf(&b, " %+v", r.Body)
		}
		b.WriteByte('\n')
	}
	b.WriteString("final")
	snapshot(l.Final["work"])
	return b.String()
}

// once drops the second place of an object.
func once(changes []corpus.Change) []corpus.Change {
	var out []corpus.Change
	for _, ch := range changes {
		if !slices.ContainsFunc(out, func(o corpus.Change) bool { return o.Object == ch.Object }) {
			out = append(out, ch)
		}
	}
	return out
}
