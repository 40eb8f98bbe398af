package verdicttest

import (
	"fmt"
	"strings"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// GoodSignature stands, in a script, for a signature of who may approve, over just
// this. Every other is none.
const GoodSignature = "good"

const scriptCorpus = "work"

// script is a log as far as it was read.
type script struct {
	events []Event
	fence  int64
	seq    int64
}

// State is the state that a character of a script stands for.
func State(s string) corpus.State {
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

func scripted(text string) []corpus.Change {
	out := []corpus.Change{}
	for _, word := range strings.Fields(text) {
		name, states, _ := strings.Cut(word, ":")
		before, after, _ := strings.Cut(states, ">")
		out = append(out, corpus.Change{Object: corpus.Name(scriptCorpus, name), Before: State(before), After: State(after)})
	}
	return out
}

// States is a snapshot of corpus work, as in a=1 b=2.
func States(text string) *corpus.Snapshot {
	var out []corpus.Entry
	for _, word := range strings.Fields(text) {
		name, state, _ := strings.Cut(word, "=")
		out = append(out, corpus.Entry{Object: corpus.Name(scriptCorpus, name), State: State(state)})
	}
	return corpus.NewSnapshot(out)
}

// Script reads a log that is easy to read: one event a word, words of a call joined
// by dots after its id. Objects are single letters in corpus work, states single
// digits with 0 for absent, ? unreadable, * any:
//
//	c1.ask(a:1>2)  request, irreversible     c1.rev(a:1>2)  reversible.request
//	c1.get()       request, effect none      c1.low(..) c1.guarded(..)  unverified; of something guarded
//	c1.human c1.level c1.policy c1.webhook c1.unsigned c1.timeout c1.elsewhere  decisions
//	c1.do(a:1>2) c1.commit(a:1>2) c1.undo(a:2>1) c1.stale(a:1>2)  intents
//	c1.done(a:1>2) c1.error() c1.wrote(..) c1.back(..) c1.found-executed(..)  outcomes
//	c1.staged  look(a=1 b=2)  boot  cut(c1)
//
// The fence is 1 before the first boot. A signature holds if it is [GoodSignature].
func Script(text string) ([]Event, error) {
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
				return nil, fmt.Errorf("no ) in %q", text)
			}
		default:
			word, rest = rest[:end], rest[end:]
		}
		if err := s.add(word, arg); err != nil {
			return nil, err
		}
	}
	return s.events, nil
}

func (s *script) add(word, arg string) error {
	id, verb, _ := strings.Cut(word, ".")
	at := time.Unix(1_800_000_000+s.seq, 0)
	r := record.Record{Seq: s.seq, Time: at, Session: "s1", Request: id}
	switch {
	case word == "look":
		s.events = append(s.events, Event{Corpus: scriptCorpus, Snapshot: States(arg), Record: record.Record{Seq: s.seq}})
		return nil
	case word == "boot":
		s.fence++
		r.Session, r.Request, r.Body = "", "", record.Boot{Fence: s.fence}
	case word == "cut":
		r.Session, r.Request, r.Body = "", "", record.Recovery{Denied: strings.Fields(arg)}
	default:
		if r.Body = body(verb, arg, s.fence, id); r.Body == nil {
			return fmt.Errorf("no word %q", word)
		}
		if strings.HasPrefix(id, "z") || verb == "elsewhere" {
			r.Session = "s2"
		}
	}
	s.seq++
	s.events = append(s.events, Event{Record: r})
	return nil
}

func scriptEnvelope(id string) (h record.Hash) { copy(h[:], id); return h }

func body(verb, arg string, fence int64, id string) record.Body {
	h, list := scriptEnvelope(id), scripted(arg)
	in := record.Intent{Attempt: 1, Envelope: h, Fence: fence, Plan: list}
	out := record.Outcome{Envelope: h, Readings: list}
	switch verb {
	case "ask", "low", "guarded", "get", "rev":
		return asked(verb, h, list)
	case "do":
		return in
	case "stale":
		in.Fence--
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

func asked(verb string, h record.Hash, plan []corpus.Change) record.Body {
	q := record.Request{Agent: "uid-1000", Capability: "fs.write.irrev", Effect: "irreversible", Envelope: h, Level: "declared", Mark: "PUBLIC", Plan: plan, Target: "a"}
	switch verb {
	case "low":
		q.Level = "unverified"
	case "guarded":
		q.Guarded = "AGENTS.md"
	case "get":
		q.Capability, q.Effect = "fs.read", "none"
	case "rev":
		q.Capability, q.Effect = "fs.write.rev", "reversible"
		return record.ReversibleRequest{Request: q}
	}
	return q
}

func decision(verb string, h record.Hash) record.Body {
	d := record.Decision{Broker: verb, Cause: record.Cause(verb), Choice: record.Approve, Envelope: h, Profile: "strict", Signature: GoodSignature}
	switch verb {
	case "human", "webhook", "policy", "level", "undeclared":
	case "elsewhere":
		d.Cause = record.CauseLevel
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
