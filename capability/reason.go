package capability

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token that says why something was refused: the same word
// in errors, records, vectors and documentation.
type Reason string

// Why a grant, a target or an envelope is refused. An envelope is also refused
// with the tokens of package canonical.
const (
	CapabilityUnknown  Reason = "capability-unknown"
	PatternInvalid     Reason = "pattern-invalid"
	PatternTooLong     Reason = "pattern-too-long"
	GrantNotCanonical  Reason = "grant-not-canonical"
	GrantsUnsorted     Reason = "grants-unsorted"
	GrantDuplicate     Reason = "grant-duplicate"
	GrantsTooMany      Reason = "grants-too-many"
	TargetInvalid      Reason = "target-invalid"
	TargetTooLong      Reason = "target-too-long"
	TargetNotCanonical Reason = "target-not-canonical"
	CallInvalid        Reason = "call-invalid"
	CallNotCanonical   Reason = "call-not-canonical"
	ReasoningTooLong   Reason = "reasoning-too-long"
)

// Error says what was refused, where, and what to write instead. Every error
// of this package is one.
type Error struct {
	Reason Reason
	Item   int // position in a list of grants, from 1; 0 where there is no list
	Offset int // byte in the text that was read, from 0; -1 where no one byte is at fault
	Detail string
	// Canonical is the spelling to use; set with GrantNotCanonical and
	// TargetNotCanonical only, and then it parses.
	Canonical string
	Err       error // the cause, if there is one
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Reason))
	if e.Item > 0 {
		fmt.Fprintf(&b, " in grant %d", e.Item)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	return b.String() + ": " + e.Detail
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

func refuse(r Reason, offset int, format string, args ...any) *Error {
	return &Error{Reason: r, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}

// fault is what a shape finds wrong with an argument. Grants and targets give
// it their own reason and place.
type fault struct {
	offset int
	detail string
}

func wrong(offset int, format string, args ...any) *fault {
	return &fault{offset, fmt.Sprintf(format, args...)}
}

// quote makes any text fit for one line of an error message.
func quote(s string) string {
	const most = 80
	return `"` + visible.Truncate(visible.Escape(s), most) + `"`
}
