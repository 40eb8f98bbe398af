package tool

import (
	"fmt"

	"github.com/iff-run/iff/gate"
)

// Why a call of an upstream's tool failed or was refused.
const (
	UpstreamDown    gate.Reason = "upstream-down"
	UpstreamDied    gate.Reason = "upstream-died"
	UpstreamOverdue gate.Reason = "upstream-overdue"
	UpstreamGarbage gate.Reason = "upstream-garbage"
	UpstreamRefused gate.Reason = "upstream-refused"
	ToolChanged     gate.Reason = "tool-changed"
	ToolUnknown     gate.Reason = "tool-unknown"
)

// Error says why a call of an upstream did not give a result.
type Error struct {
	Reason gate.Reason
	Server string
	Sent   bool   // the server was given the call, wholly or in part
	Detail string // what is wrong, then what to do
	Err    error
}

// Error is one line. Of a call that was sent and not answered it says that what
// it did is not known.
func (e *Error) Error() string {
	text := "upstream " + e.Server + ": " + e.Detail
	if e.Sent && e.Reason != UpstreamRefused {
		text += "; the call had been sent, so what it did is not known: look before asking again"
	}
	return text
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// As gives the gate the reason in its own terms.
func (e *Error) As(target any) bool {
	r, ok := target.(**gate.Refusal)
	if ok {
		*r = &gate.Refusal{Reason: e.Reason, Detail: e.Error(), Err: e.Err}
	}
	return ok
}

// refuse is for what is found before anything was sent.
func refuse(reason gate.Reason, format string, args ...any) error {
	return &gate.Refusal{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func bad(format string, args ...any) error { return refuse(gate.ArgumentsBad, format, args...) }
