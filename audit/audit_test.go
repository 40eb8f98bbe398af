package audit_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

const origin = "iff/log/test"

func clock() time.Time { return trusttest.Now }

func options() audit.Options { return audit.Options{Now: clock, CheckpointEvery: 50} }

func pin() audit.Pin { return audit.Pin{Origin: origin, Key: trusttest.NewKey(1).Public()} }

func begin() record.Init {
	return record.Init{Origin: origin, Operator: "me", Profile: "dev", Scheme: "default", Root: "SHA256:root", TrustDigest: "d1"}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create makes a log on a disk.
func create(t testing.TB, m *audittest.Memory, opts audit.Options) *audit.Log {
	t.Helper()
	store, err := m.Open()
	must(t, err)
	l, err := audit.Create(context.Background(), store, begin(), trusttest.NewKey(1), opts)
	must(t, err)
	return l
}

func reopen(t testing.TB, m *audittest.Memory, opts audit.Options) (*audit.Log, audit.Recovered) {
	t.Helper()
	store, err := m.Open()
	must(t, err)
	l, found, err := audit.Open(context.Background(), store, pin(), opts, trusttest.NewKey(1))
	must(t, err)
	return l, found
}

// call is the records of one call, i saying which.
func call(i int) []record.Entry {
	id, session := fmt.Sprintf("01J9Z-%d", i), "7K2M"
	change := []record.Change{{Object: corpus.Object(fmt.Sprintf("work/reports/%d.md", i)), Before: "absent", After: corpus.State(fmt.Sprintf("%064d", i))}}
	envelope := fmt.Sprintf(`{"arguments":{"content":"# Report %d\n\nRevenue rose in the third quarter, see the table below.\n","mode":"replace"},"capability":"fs.write.irrev","objects":[{"expect":"absent","object":%q}],"reasoning":"The skill says to write the report of each quarter into its own file.","target":%q}`, i, change[0].Object, change[0].Object)
	return []record.Entry{
		{Session: session, Request: id, Body: record.Request{Payload: record.Payload{Digest: sha256.Sum256([]byte(envelope)), Size: int64(len(envelope)), Text: envelope}, Agent: "opencode", Capability: "fs.write.irrev", Effect: "irreversible", Level: "declared", Mark: "PUBLIC", Plan: change, Target: string(change[0].Object)}},
		{Session: session, Request: id, Body: record.Decision{Broker: "level", Cause: record.CauseLevel, Choice: record.Approve, Profile: "dev", Rule: "fs.write.irrev(reports/**)"}},
		{Session: session, Request: id, Body: record.Intent{Attempt: 1, Fence: 1, Key: id, Plan: change, Staging: ".iff-" + id}},
		{Session: session, Request: id, Body: record.Executed{Outcome: record.Outcome{Readings: change}}},
	}
}

func TestLife(t *testing.T) {
	m := &audittest.Memory{SegmentBytes: 20_000}
	l := create(t, m, options())
	for i := range 100 {
		marks, err := l.Append(t.Context(), call(i)...)
		must(t, err)
		if len(marks) != 4 || marks[3].Seq != marks[0].Seq+3 {
			t.Fatalf("marks %v", marks)
		}
	}
	_, err := l.Append(t.Context(), call(1000)[:3]...)
	must(t, err)
	must(t, l.Close())

	l, found := reopen(t, m, options())
	if len(found.InDoubt) != 1 || found.InDoubt[0].ID != "01J9Z-1000" || len(found.InDoubt[0].Records) != 3 {
		t.Errorf("in doubt: %+v", found)
	}
	must(t, l.Rotate(t.Context(), trusttest.NewKey(2)))
	_, err = l.Append(t.Context(), call(1001)...)
	must(t, err)
	must(t, l.Close())

	store, err := m.Open()
	must(t, err)
	defer store.Close()
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin(), Blobs: true})
	must(t, err)
	if !rep.Holds() {
		t.Fatal(rep.Problem.Error())
	}
	t.Logf("%+v", rep)
	v, err := audit.Read(t.Context(), store, pin(), options(), trusttest.NewKey(2).Public())
	must(t, err)
	for seq := range v.Size() - 1 {
		r, err := v.Receipt(t.Context(), seq)
		must(t, err)
		back, err := audit.ParseReceipt(r.Marshal())
		must(t, err)
		old, err := audit.Verifier(origin, trusttest.NewKey(2).Public())
		must(t, err)
		_, err = back.Check(old)
		must(t, err)
	}
}
