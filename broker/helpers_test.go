package broker

import (
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// fataler is a testing.TB, or what rapid has instead.
type fataler interface {
	Helper()
	Fatal(...any)
}

// ask is a question of profile dev about a call of a declared skill.
func ask(t fataler, token, target, arguments string) approval.Question {
	t.Helper()
	c, err := capability.Parse(token)
	if err != nil {
		t.Fatal(err)
	}
	at, err := capability.ParseTarget(c, target)
	if err != nil {
		t.Fatal(err)
	}
	e, err := capability.NewEnvelope(capability.Call{Target: at, Arguments: []byte(arguments), Reasoning: "because"})
	if err != nil {
		t.Fatal(err)
	}
	q := approval.Question{
		Log: "example.com/log", Fence: 1, Session: "S", Request: "R", Agent: "uid:1000", Profile: "dev", Envelope: e, Effect: c.Effect(),
		Level: "declared", Mark: "PUBLIC", Sink: "PUBLIC", Skill: record.Skill{Name: "reports", Version: 3, Signer: "me", Level: "declared"},
	}
	if corpusName, path, ok := at.Path(); ok && c.Effect() != capability.None {
		q.Plan = []corpus.Change{{Object: corpus.Name(corpusName, path), Before: state('a'), After: corpus.Absent}}
	}
	return q
}

func state(c byte) corpus.State {
	out := make([]byte, 64)
	for i := range out {
		out[i] = c
	}
	return corpus.State(out)
}

// read parses one file called p.cedar, in profile dev.
func read(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := ParsePolicy([]PolicyFile{{"p.cedar", []byte(text)}}, PolicyOptions{Profile: "dev"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
