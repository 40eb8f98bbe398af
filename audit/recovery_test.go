package audit_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/record"
)

// flow is what is recorded of a call that goes one way, and what the next opener has to find if the process ends behind each record:
// nothing, denied, expired, rolled back or in doubt.
type flow struct {
	name   string
	bodies []record.Body
	found  []string
}

func flows() []flow {
	level := record.Decision{Broker: "level", Cause: record.CauseLevel, Choice: record.Approve}
	yes, no := record.Decision{Broker: "inbox", Cause: record.CauseHuman, Choice: record.Approve}, record.Decision{Broker: "inbox", Cause: record.CauseHuman, Choice: record.Deny}
	conflict := record.Error{Outcome: record.Outcome{Reason: "conflict"}}
	asked, reversible, staged := record.Request{}, record.ReversibleRequest{}, record.Staged{Bytes: 1}
	intent, commit, rollback := record.Intent{Attempt: 1}, record.CommitIntent{Intent: record.Intent{Attempt: 1}}, record.RollbackIntent{Intent: record.Intent{Attempt: 1}}
	const nothing, denied, expired, dropped, doubt = "nothing", "denied", "expired", "rolled back", "in doubt"
	return []flow{
		{"read", []record.Body{asked, level, record.Executed{}}, []string{denied, expired, nothing}},
		{"irreversible", []record.Body{asked, yes, intent, record.Executed{}}, []string{denied, expired, doubt, nothing}},
		{"failed", []record.Body{asked, yes, intent, record.Error{}}, []string{denied, expired, doubt, nothing}},
		{"refused", []record.Body{asked, no}, []string{denied, nothing}},
		{"approved and not attempted", []record.Body{asked, yes, conflict}, []string{denied, expired, nothing}},
		{"reversible", []record.Body{reversible, level, staged, commit, record.Committed{}}, []string{denied, expired, dropped, doubt, nothing}},
		{"at the barrier", []record.Body{reversible, staged, yes, commit, record.Committed{}}, []string{denied, dropped, dropped, doubt, nothing}},
		{"denied at the barrier", []record.Body{reversible, staged, no}, []string{denied, dropped, nothing}},
		{"in conflict at the barrier", []record.Body{reversible, staged, yes, conflict}, []string{denied, dropped, dropped, nothing}},
		{"dropped", []record.Body{reversible, staged, record.RolledBack{}}, []string{denied, dropped, nothing}},
		{"put back", []record.Body{reversible, staged, yes, commit, record.Committed{}, rollback, record.RolledBack{}}, []string{denied, dropped, dropped, doubt, nothing, doubt, nothing}},
		{"not put back", []record.Body{reversible, level, staged, commit, record.Committed{}, rollback, record.Error{}}, []string{denied, expired, dropped, doubt, nothing, doubt, nothing}},
		{"resolved, then put back", []record.Body{reversible, level, staged, commit, record.Resolved{Finding: record.FoundExecuted}, rollback, record.RolledBack{}}, []string{denied, expired, dropped, doubt, nothing, doubt, nothing}},
	}
}

// sorted says of every call how it was found.
func sorted(found audit.Recovered) map[string]string {
	out := map[string]string{}
	for what, ids := range map[string][]string{"denied": found.Denied, "expired": found.Expired, "rolled back": found.RolledBack} {
		for _, id := range ids {
			out[id] += what
		}
	}
	for _, d := range found.InDoubt {
		out[d.ID] += "in doubt"
	}
	return out
}

// A process that ends behind any record of any call leaves what the next one can tell: what did nothing is closed, and what may have
// done something is in doubt, with its records in their order, until it is resolved.
func TestRecoveryOfCalls(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	want := map[string]string{}
	records := map[string][]record.Kind{}
	for i, f := range flows() {
		for n := range f.bodies {
			id := fmt.Sprintf("%d-%d", i, n)
			for _, b := range f.bodies[:n+1] {
				_, err := l.Append(t.Context(), record.Entry{Session: "s", Request: id, Body: b})
				must(t, err)
				if _, again := b.(record.RollbackIntent); again {
					records[id] = nil
				}
				records[id] = append(records[id], b.Kind())
			}
			if f.found[n] != "nothing" {
				want[id] = f.found[n]
			}
		}
	}
	must(t, l.Close())
	l, found := reopen(t, m, options())
	got := sorted(found)
	for i, f := range flows() {
		for n := range f.bodies {
			if id := fmt.Sprintf("%d-%d", i, n); got[id] != want[id] {
				t.Errorf("%s, ended behind %s: found %q, not %q", f.name, f.bodies[n].Kind(), got[id], want[id])
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %v, not %v", got, want)
	}
	for _, d := range found.InDoubt {
		var kinds []record.Kind
		for _, r := range d.Records {
			kinds = append(kinds, r.Body.Kind())
		}
		if !slices.Equal(kinds, records[d.ID]) {
			t.Errorf("%s is in doubt with %v, not %v", d.ID, kinds, records[d.ID])
		}
	}
	staysInDoubt(t, m, l, found.InDoubt)
}

// staysInDoubt: opening again finds the calls in doubt once more and no others, until they are resolved.
func staysInDoubt(t *testing.T, m *audittest.Memory, l *audit.Log, doubts []audit.InDoubt) {
	t.Helper()
	must(t, l.Close())
	l, found := reopen(t, m, options())
	if len(found.InDoubt) != len(doubts) || len(found.Denied)+len(found.Expired)+len(found.RolledBack) != 0 {
		t.Errorf("the second time there are %v", sorted(found))
	}
	for _, d := range doubts {
		_, err := l.Append(t.Context(), record.Entry{Session: d.Session, Request: d.ID, Body: record.Resolved{Finding: record.FoundConflict}})
		must(t, err)
	}
	must(t, l.Close())
	l, found = reopen(t, m, options())
	if got := sorted(found); len(got) != 0 || len(l.State().Calls()) != 0 {
		t.Errorf("resolved, and found again: %v", got)
	}
	must(t, l.Close())
}
