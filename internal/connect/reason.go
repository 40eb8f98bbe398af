package connect

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token.
type Reason string

// Why an agent is not connected, or not disconnected.
const (
	FileBroken   Reason = "agent-file-broken"   // a configuration file of the agent that is there cannot be read
	FileUneasy   Reason = "agent-file-uneasy"   // it is written in a way that is not edited without harm
	FileChanging Reason = "agent-file-changing" // somebody else changed it meanwhile
	NotClosed    Reason = "agent-not-closed"    // what was written is not what the agent will go by
	RecordBroken Reason = "agent-record-broken" // iff's own record of what it added cannot be read
)

// Error says which file was refused, where in it, and what to do.
type Error struct {
	Reason Reason
	Path   string
	Line   int // from 1; 0 is the whole file
	Detail string
	ByHand []string // lines to add by hand, where that is the remedy
	Err    error
}

func (e *Error) Error() string {
	at := visible.Escape(e.Path)
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, e.Line)
	}
	out := fmt.Sprintf("%s: %s: %s", at, e.Reason, e.Detail)
	if len(e.ByHand) > 0 {
		out += "; add by hand: " + strings.Join(e.ByHand, " ")
	}
	return out
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
