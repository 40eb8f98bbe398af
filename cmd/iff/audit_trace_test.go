package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// traced lays out a call of these records.
func traced(t *testing.T, bodies ...record.Body) string {
	t.Helper()
	store, err := new(audittest.Memory).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var state record.State
	var steps []audit.Stored
	for i, b := range bodies {
		r := record.Record{Seq: int64(i), Time: trusttest.Now.Add(time.Duration(i) * time.Millisecond), Session: "S", Request: "c", Body: b}
		state.Apply(r)
		steps = append(steps, audit.Stored{Record: r})
	}
	var out bytes.Buffer
	tr := tracer{app: &app{ctx: context.Background(), out: &out}, store: store, room: 200, id: "c"}
	tr.print(steps, &state)
	return out.String()
}

// A trace says what became of a call, by all the ways that one can go.
func TestTraceOutcomes(t *testing.T) {
	plan := []record.Change{{Object: "work/a", Before: corpus.Absent, After: digest(1)}}
	back := []record.Change{{Object: "work/a", Before: digest(1), After: corpus.Absent}}
	asked := record.Request{Agent: "opencode", Capability: "fs.write.irrev", Effect: "irreversible", Target: "a", Plan: plan}
	reversible := record.ReversibleRequest{Request: asked}
	yes := record.Decision{Broker: "inbox", Cause: record.CauseHuman, Choice: record.Approve}
	no := record.Decision{Broker: "gate", Cause: record.CauseLabel, Choice: record.Deny, Reason: "sink-below-mark"}
	conflict := record.Error{Outcome: record.Outcome{Reason: "conflict"}}
	done := record.Outcome{Readings: plan}
	intent, undo := record.Intent{Plan: plan}, record.RollbackIntent{Intent: record.Intent{Plan: back}}
	committed := []record.Body{reversible, record.Staged{Plan: plan}, yes, record.CommitIntent{Intent: intent}, record.Committed{Outcome: done}}
	for want, bodies := range map[string][]record.Body{
		"denied (label, sink-below-mark): nothing was done, 1 ms":     {asked, no},
		"approved, not attempted: conflict, 2 ms":                     {asked, yes, conflict},
		"failed: conflict, 3 ms":                                      {asked, yes, intent, conflict},
		"executed, 3 ms":                                              {asked, yes, intent, record.Executed{Outcome: done}},
		"staged: it waits in memory for the barrier":                  {reversible, record.Staged{Plan: plan}},
		"dropped: it never was in the world, 2 ms":                    {reversible, record.Staged{Plan: plan}, record.RolledBack{}},
		"committed, 4 ms":                                             committed,
		"under way: it has an intent and no outcome yet":              append(slices.Clone(committed), undo),
		"rolled back, 6 ms":                                           append(slices.Clone(committed), undo, record.RolledBack{Outcome: record.Outcome{Readings: back}}),
		"failed: changed, 6 ms":                                       append(slices.Clone(committed), undo, record.Error{Outcome: record.Outcome{Reason: "changed"}}),
		"resolved by recovery: not-executed, 3 ms after it was asked": {asked, yes, intent, record.Resolved{By: "recovery", Finding: record.FoundNotExecuted, Readings: []record.Change{{Object: "work/a", Before: corpus.Absent, After: corpus.Absent}}}},
	} {
		if got := traced(t, bodies...); !strings.Contains(got, "\n"+want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

// What bears on a decision is laid out.
func TestTraceRequest(t *testing.T) {
	asked := record.Request{
		Agent: "opencode", Capability: "fs.write.rev", Effect: "irreversible", Guarded: "tool", Key: "k 1", Level: "tested", Mark: "SECRET", Sink: "PUBLIC",
		Plan: []record.Change{{Object: "work/a", Before: corpus.Any, After: corpus.Any}}, Rest: record.Payload{Size: 20_000}, Target: "a",
	}
	got := traced(t, asked, record.Decision{Batch: make([]record.Hash, 3), Broker: "inbox", Cause: record.CauseHuman, Choice: record.Approve, Profile: "dev"})
	for _, want := range []string{
		"irreversible  level tested  mark SECRET  sink PUBLIC\n", ", its hash alone is kept\n", "! " + strings.Repeat(" ", traceKind-4) + "reaches for what is guarded: tool\n",
		" work/a  any -> any\n", "more in blob 0000", `"k 1", the agent's`, "batch             3 calls under one signature\n", "one of 3\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
