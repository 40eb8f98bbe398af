package approval_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

var now = trusttest.Now

// nonce is one that somebody drew.
const nonce = "000102030405060708090a0b0c0d0e0f"

// The approvers of root.
const (
	aliceKey = 20
	bobKey   = 21
)

func approver(id string, key byte, notAfter string) trust.Entry {
	s := trusttest.Scheme("default")
	return trust.Entry{
		ID: id, PublicKey: trusttest.NewKey(key).Public(), Clearance: s.Top().Parts(), Level: level.Declared,
		NotAfter: notAfter, Approver: true,
	}
}

// root has alice and bob, who approve; gone, who did until an hour ago; old, who
// did until a year ago; and ops, who signs skills only.
func root(tb testing.TB) *trust.Root {
	tb.Helper()
	key := trusttest.NewKey(trusttest.RootKey)
	draft, err := trust.NewDraft(key.Public(), trusttest.Scheme("default"))
	must(tb, err)
	ops := approver("ops", trusttest.OpsKey, trust.Never)
	ops.Approver = false
	for _, e := range []trust.Entry{
		approver("alice", aliceKey, trust.Never), approver("bob", bobKey, trust.Never), ops,
		approver("gone", trusttest.GoneKey, trust.Never), approver("old", trusttest.OldKey, "2026-01-01T00:00:00Z"),
	} {
		must(tb, draft.Add(e))
	}
	one, err := draft.Sign(key)
	must(tb, err)
	must(tb, draft.Revoke("gone", now.Add(-time.Hour), "left"))
	two, err := draft.Sign(key)
	must(tb, err)
	draft, err = trust.Open([][]byte{one, two}, key.Public())
	must(tb, err)
	r, err := draft.Lock()
	must(tb, err)
	return r
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func envelope(tb testing.TB, class capability.Capability, target, arguments, reasoning string) capability.Envelope {
	tb.Helper()
	where, err := capability.ParseTarget(class, target)
	must(tb, err)
	e, err := capability.NewEnvelope(capability.Call{Target: where, Arguments: []byte(arguments), Reasoning: reasoning})
	must(tb, err)
	return e
}

func file(data string) corpus.Copy {
	return corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644, UID: 1000, GID: 1000}, data, nil)
}

func directory() corpus.Copy {
	return corpus.NewCopy(corpus.Facts{Kind: corpus.Directory, Mode: 0o755}, "", nil)
}

// change lets an object become another, with what is known of it.
func change(q *approval.Question, path string, before, after corpus.Copy) {
	q.Plan = append(q.Plan, corpus.Change{Object: corpus.Name("work", path), Before: before.State(), After: after.State()})
	q.Before, q.After = append(q.Before, before), append(q.After, after)
}

// question is about a file that is overwritten.
func question(tb testing.TB) approval.Question {
	q := approval.Question{
		Log: "iff/log/4f2a", Fence: 3, Session: "S-1", Request: "R-1", Seq: 41,
		Agent: "uid-1000", Profile: "dev",
		Envelope: envelope(tb, capability.FSWriteIrrev, "reports/q3.md",
			`{"op":"write","content":"# Q3\nRevenue was 12.\nCosts were 3.\n"}`, "the skill says to correct the figure"),
		Effect: capability.Irreversible, Op: "write", Reach: "exact",
		Skill: record.Skill{
			Name: "invoice-reports", Version: 7, Signer: "adopter", Level: "unverified",
			Content: hash("content").String(), Subject: hash("subject").String(),
		},
		Level: "unverified", Mark: "INTERNAL", Sink: "INTERNAL", Novel: true,
		Asked: now.Add(-12 * time.Second), Deadline: now.Add(108 * time.Second),
	}
	change(&q, "reports/q3.md", file("# Q3\nRevenue was 10.\nCosts were 3.\n"), file("# Q3\nRevenue was 12.\nCosts were 3.\n"))
	return q
}

func hash(s string) record.Hash { return sha256.Sum256([]byte(s)) }

func sign(tb testing.TB, choice record.Choice, qs ...approval.Question) []approval.Answer {
	tb.Helper()
	answers, err := approval.Sign(qs, choice, "alice", trusttest.NewKey(aliceKey), nonce, now.Add(approval.Validity))
	must(tb, err)
	return answers
}

// refused holds an error to a reason.
func refused(tb testing.TB, err error, want approval.Reason) {
	tb.Helper()
	var e *approval.Error
	if !errors.As(err, &e) || e.Reason != want || approval.ReasonOf(err) != want {
		tb.Errorf("got %v, want %s", err, want)
	}
}
