package webhook

import "fmt"

// Reason is a closed token: why a webhook was not asked, or its answer is a
// denial. It is the rule of that denial in the record.
type Reason string

// The reasons.
const (
	OptionsInvalid Reason = "webhook-options"     // it cannot be asked as it is configured
	Unwritable     Reason = "webhook-question"    // the question cannot be sent
	Unreachable    Reason = "webhook-unreachable" // there is no connection to who is to be asked
	TimedOut       Reason = "webhook-timeout"     // it did not answer in time
	StatusOther    Reason = "webhook-status"      // it answered with another status than 200 and 204
	Malformed      Reason = "webhook-malformed"   // what it answered is not answers
	Void           Reason = "webhook-void"        // its answer does not count for the question
	RequestInvalid Reason = "webhook-request"     // what came to a receiver is no request of the runtime that it knows
)

// Error says what is wrong with options or a request.
type Error struct {
	Reason Reason
	Detail string // what is wrong, then what to do; one line
	Err    error  // may be nil
}

// Error is one line.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Detail }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

func refuse(r Reason, err error, format string, args ...any) *Error {
	return &Error{r, fmt.Sprintf(format, args...), err}
}
