package verdict_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// script is a log that is easy to read: one event a word, words of a call joined
// by dots after its id. Objects are single letters in corpus work, states single
// digits with 0 for absent, ? unreadable, * any:
//
//	c1.ask(a:1>2)  request, irreversible     c1.rev(a:1>2)  reversible.request
//	c1.get()       request, effect none
//	c1.human c1.level c1.policy c1.webhook c1.unsigned c1.timeout  decisions
//	c1.do(a:1>2) c1.commit(a:1>2) c1.undo(a:2>1)  intents
//	c1.done(a:1>2) c1.error() c1.wrote(..) c1.back(..) c1.found-executed(..)  outcomes
//	c1.staged  look(a=1 b=2)  boot  cut(c1)
type script struct {
	events []event
	seq    int64
	fence  int64
}

type event struct {
	r    record.Record
	snap *corpus.Snapshot
}

func digits(s string) corpus.State {
	switch s {
	case "0":
		return corpus.Absent
	case "?":
		return corpus.Unreadable
	case "*":
		return corpus.Any
	}
	return corpus.State(strings.Repeat(s, 64))
}

func changes(text string) []corpus.Change {
	out := []corpus.Change{}
	for _, word := range strings.Fields(text) {
		name, states, _ := strings.Cut(word, ":")
		before, after, _ := strings.Cut(states, ">")
		out = append(out, corpus.Change{Object: corpus.Name("work", name), Before: digits(before), After: digits(after)})
	}
	return out
}

func snapshot(text string) *corpus.Snapshot {
	var out []corpus.Entry
	for _, word := range strings.Fields(text) {
		name, state, _ := strings.Cut(word, "=")
		out = append(out, corpus.Entry{Object: corpus.Name("work", name), State: digits(state)})
	}
	return corpus.NewSnapshot(out)
}

func parse(t testing.TB, text string) []event {
	s := script{fence: 1}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		end := strings.IndexAny(rest, " \n(")
		word, arg := rest, ""
		switch {
		case end < 0:
			rest = ""
		case rest[end] == '(':
			var ok bool
			word, rest = rest[:end], rest[end+1:]
			if arg, rest, ok = strings.Cut(rest, ")"); !ok {
				t.Fatalf("no ) in %q", text)
			}
		default:
			word, rest = rest[:end], rest[end:]
		}
		s.add(t, word, arg)
	}
	return s.events
}

func (s *script) add(t testing.TB, word, arg string) {
	id, verb, _ := strings.Cut(word, ".")
	at := time.Unix(1_800_000_000+s.seq, 0)
	r := record.Record{Seq: s.seq, Time: at, Session: "s1", Request: id}
	switch {
	case word == "look":
		s.events = append(s.events, event{snap: snapshot(arg), r: record.Record{Seq: s.seq}})
		return
	case word == "boot":
		s.fence++
		r.Session, r.Request, r.Body = "", "", record.Boot{Fence: s.fence}
	case word == "cut":
		r.Session, r.Request, r.Body = "", "", record.Recovery{Denied: strings.Fields(arg)}
	default:
		if r.Body = body(verb, arg, s.fence, id); r.Body == nil {
			t.Fatalf("no word %q", word)
		}
		if strings.HasPrefix(id, "z") {
			r.Session = "s2"
		}
	}
	s.seq++
	s.events = append(s.events, event{r: r})
}

func envelope(id string) (h record.Hash) { copy(h[:], id); return h }

func body(verb, arg string, fence int64, id string) record.Body {
	h, list := envelope(id), changes(arg)
	q := record.Request{Envelope: h, Level: "declared", Plan: list, Effect: "irreversible"}
	in := record.Intent{Attempt: 1, Envelope: h, Fence: fence, Plan: list}
	out := record.Outcome{Envelope: h, Readings: list}
	switch verb {
	case "ask":
		return q
	case "get":
		q.Effect = "none"
		return q
	case "rev":
		q.Effect = "reversible"
		return record.ReversibleRequest{Request: q}
	case "do":
		return in
	case "commit":
		return record.CommitIntent{Intent: in}
	case "undo":
		return record.RollbackIntent{Intent: in}
	case "done":
		return record.Executed{Outcome: out}
	case "error":
		return record.Error{Outcome: out}
	case "wrote":
		return record.Committed{Outcome: out}
	case "back":
		return record.RolledBack{Outcome: out}
	case "staged":
		return record.Staged{Envelope: h}
	case "late":
		return record.LateDecision{Decision: record.Decision{Cause: record.CauseHuman, Choice: record.Approve}}
	}
	if finding, ok := strings.CutPrefix(verb, "found-"); ok {
		return record.Resolved{Finding: record.Finding(finding), Readings: list}
	}
	return decision(verb, h)
}

func decision(verb string, h record.Hash) record.Body {
	d := record.Decision{Cause: record.Cause(verb), Choice: record.Approve, Envelope: h, Signature: "good"}
	switch verb {
	case "human", "webhook", "policy", "level", "undeclared":
	case "unsigned":
		d.Cause, d.Signature = record.CauseHuman, "bad"
	case "timeout":
		d.Choice = record.Deny
	case "deny":
		d.Cause, d.Choice = record.CauseHuman, record.Deny
	case "expired":
		d.Cause, d.Expires = record.CauseHuman, time.Unix(1_700_000_000, 0)
	case "other":
		d.Cause, d.Envelope = record.CauseHuman, record.Hash{9}
	default:
		return nil
	}
	return d
}

// standard are the options that the tables judge with.
func standard(start string) verdict.Options {
	return verdict.Options{
		Start: map[string]*corpus.Snapshot{"work": snapshot(start)}, Since: time.Unix(1_799_999_999, 0), Fence: 1,
		Observers: map[string]verdict.Observer{"work": {Name: "rehash", Blind: []string{"times"}, Volatile: []string{".git/**"}}},
		Guarded:   func(o corpus.Object) bool { return o == "work/G" },
		Check: func(s verdict.Signed) error {
			if s.Decision.Signature != "good" {
				return errors.New("signature-bad")
			}
			return nil
		},
	}
}

func judge(opt verdict.Options, events []event, end string) verdict.Report {
	j := verdict.New(opt)
	for _, e := range events {
		if e.snap != nil {
			j.Snapshot("work", e.snap)
		} else {
			j.Add(e.r, nil)
		}
	}
	return j.End(map[string]*corpus.Snapshot{"work": snapshot(end)}, time.Unix(1_900_000_000, 0))
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
