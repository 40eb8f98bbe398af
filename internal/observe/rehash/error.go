package rehash

import (
	"fmt"

	"github.com/iff-run/iff/corpus"
)

// Reason is a closed token that says why nothing was read.
type Reason string

// The reasons. There are no others.
const (
	TooManyObjects Reason = "too-many-objects"
	TooDeep        Reason = "too-deep"
	NameTooLong    Reason = "name-too-long"
	ObjectInvalid  Reason = "object-invalid" // of another corpus, or not spelled as package corpus spells it
	RootUnreadable Reason = "root-unreadable"
	BadOptions     Reason = "bad-options"
)

var advice = map[Reason]string{
	TooManyObjects: "make what need not be observed volatile, or raise the bound",
	TooDeep:        "make the directory volatile, or raise the bound",
	NameTooLong:    "make it volatile or rename it",
	ObjectInvalid:  "name it by corpus.Name",
	RootUnreadable: "check that the root of the corpus is there and may be read",
	BadOptions:     "correct the configuration",
}

// Error says why nothing was read and where. Err, if any, is the cause.
type Error struct {
	Reason Reason
	Object corpus.Object // where; for a bound the first that was found beyond it
	Detail string
	Err    error
}

// Error is one line: where, the reason, what was found, what to do.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", e.Object, e.Reason, e.Detail, advice[e.Reason])
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
