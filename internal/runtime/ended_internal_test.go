package runtime

import (
	"testing"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// What an agent is told of a call from before a crash follows from its records.
func TestKnownKeysSayHowItEnded(t *testing.T) {
	approve, deny := record.Decision{Choice: record.Approve}, record.Decision{Choice: record.Deny, Reason: "denied"}
	found := func(f record.Finding) record.Resolved { return record.Resolved{Finding: f} }
	failed := record.Error{Outcome: record.Outcome{Reason: "conflict"}}
	done := []record.Body{approve, record.Staged{}, record.CommitIntent{}, record.Committed{}}
	undoing := append(append([]record.Body{}, done...), record.RollbackIntent{})
	for name, c := range map[string]struct {
		records []record.Body
		status  gate.Status
		reason  gate.Reason
	}{
		"nothing":                    {nil, gate.Refused, gate.SessionEnded},
		"denied":                     {[]record.Body{deny}, gate.Denied, gate.DeniedByBroker},
		"approved, not begun":        {[]record.Body{approve}, gate.Refused, gate.SessionEnded},
		"approved, not tried":        {[]record.Body{approve, failed}, gate.Failed, gate.Conflict},
		"read":                       {[]record.Body{approve, record.Executed{}}, gate.Done, ""},
		"intent":                     {[]record.Body{approve, record.Intent{}}, gate.Doubtful, gate.InDoubt},
		"executed":                   {[]record.Body{approve, record.Intent{}, record.Executed{}}, gate.Done, ""},
		"failed":                     {[]record.Body{approve, record.Intent{}, failed}, gate.Failed, gate.Conflict},
		"found executed":             {[]record.Body{approve, record.Intent{}, found(record.FoundExecuted)}, gate.Done, ""},
		"found not executed":         {[]record.Body{approve, record.Intent{}, found(record.FoundNotExecuted)}, gate.Failed, gate.HostFailed},
		"found partial":              {[]record.Body{approve, record.Intent{}, found(record.FoundPartial)}, gate.Failed, gate.Conflict},
		"staged":                     {[]record.Body{record.Staged{}}, gate.Refused, gate.SessionEnded},
		"dropped":                    {[]record.Body{record.Staged{}, record.RolledBack{}}, gate.Refused, gate.SessionEnded},
		"committed":                  {done, gate.Done, ""},
		"being put back":             {undoing, gate.Doubtful, gate.InDoubt},
		"put back":                   {append(append([]record.Body{}, undoing...), record.RolledBack{}), gate.Refused, gate.SessionEnded},
		"not put back":               {append(append([]record.Body{}, undoing...), failed), gate.Done, ""},
		"found put back":             {append(append([]record.Body{}, undoing...), found(record.FoundExecuted)), gate.Refused, gate.SessionEnded},
		"found not put back":         {append(append([]record.Body{}, undoing...), found(record.FoundNotExecuted)), gate.Done, ""},
		"put back to something else": {append(append([]record.Body{}, undoing...), found(record.FoundConflict)), gate.Failed, gate.Conflict},
	} {
		// However the records fall into windows.
		for cut := range len(c.records) + 1 {
			l := learning{later: make(map[string][]record.Body), seen: make(map[[2]string]bool), most: 1}
			var records []record.Record
			for _, b := range append([]record.Body{record.Request{Agent: "agent", Key: "k"}}, c.records...) {
				records = append(records, record.Record{Request: "r1.1", Body: b})
			}
			l.take(records[cut+1:])
			l.take(records[:cut+1])
			check(t, name, l, c.status, c.reason)
		}
	}
}

func check(t *testing.T, name string, l learning, status gate.Status, reason gate.Reason) {
	t.Helper()
	if len(l.out) != 1 || len(l.later) != 0 {
		t.Errorf("%s: %d keys, %d calls without a request", name, len(l.out), len(l.later))
		return
	}
	if k := l.out[0]; k.Agent != "agent" || k.Key != "k" || k.Reply.Request != "r1.1" || k.Reply.Status != status || k.Reply.Reason != reason {
		t.Errorf("%s: %+v", name, k)
	}
}
