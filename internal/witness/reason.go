package witness

import (
	"fmt"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token.
type Reason string

// Why a witness does not start.
const (
	Busy       Reason = "witness-busy"       // another process has the directory
	Unreadable Reason = "witness-unreadable" // a file cannot be read or written
	KeyInvalid Reason = "witness-key"        // its own key is damaged or gone, or has another name
	LogInvalid Reason = "witness-log"        // the verifier key of a log cannot be used
	StateLost  Reason = "witness-state"      // what it has cosigned is damaged or gone
	Stopped    Reason = "witness-stopped"    // it has been closed, or the disk did not confirm a write
)

// Error says why a witness does not start or go on.
type Error struct {
	Reason Reason
	Path   string // the file, or empty
	Detail string // what is wrong, then what to do
	Err    error  // the cause, or nil
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %s", e.Reason, e.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", e.Reason, visible.Escape(e.Path), e.Detail)
}

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
