package broker

import (
	"fmt"
	"strings"
)

// Reason is a closed token: why a policy is not read.
type Reason string

// The reasons.
const (
	PolicySyntax   Reason = "policy-syntax"    // not Cedar
	PolicySchema   Reason = "policy-schema"    // a name or type that the schema does not have
	PolicyLiteral  Reason = "policy-literal"   // a text that no call can have
	PolicyWildcard Reason = "policy-wildcard"  // permits an irreversible capability for arbitrary targets
	PolicyTooLarge Reason = "policy-too-large" // more or longer than is read
	PolicyFileName Reason = "policy-file-name" // a file without a name, or two with one
	PolicyID       Reason = "policy-id"        // an @id that is none, or that two rules have
)

// Error says which rule of which file is refused, and what to do.
type Error struct {
	Reason Reason
	File   string // as given; may be empty
	Line   int    // from 1; 0 if it is about the whole file
	Column int    // in characters, from 1; 0 if none is known
	Detail string // what is wrong; one line
	Remedy string // what to do; may be empty
	Err    error  // may be nil
}

// Error is one line: place, what is wrong, what to do.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Detail)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String() + " (" + string(e.Reason) + ")"
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Is compares reasons, so that errors.Is(err, &Error{Reason: r}) asks for one.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason && t.File == "" && t.Detail == ""
}
