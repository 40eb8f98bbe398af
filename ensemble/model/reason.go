package model

import (
	"errors"
	"fmt"

	"github.com/iff-run/iff/internal/canonical"
)

// Reason is a closed token.
type Reason string

// Why there is no mind, why a turn had no call, and why a cassette is refused.
const (
	OptionsInvalid Reason = "model-options"     // as it is configured, there is nobody to ask
	Declined       Reason = "model-declined"    // the model would not
	StatusOther    Reason = "model-status"      // another status than 200, redirects among them
	Unreachable    Reason = "model-unreachable" // no connection, one that is not allowed, or one that broke
	Late           Reason = "model-late"
	Malformed      Reason = "model-malformed" // another content type, too long, or not JSON of the dialect
	ToolUnknown    Reason = "model-tool"      // it called a tool that there is not
	ArgumentsBad   Reason = "model-arguments" // the tool does not take them
	Leak           Reason = "model-leak"      // the call has the endpoint's key in it

	CassetteMalformed Reason = "cassette-malformed"
	CassetteMismatch  Reason = "cassette-mismatch"
)

// Error says why. Nothing of what an endpoint or a model sent is in it, and no key;
// but a cassette-mismatch quotes what differs between two requests.
type Error struct {
	Reason Reason
	Detail string // what is wrong, then what to do
	Err    error
}

func (e *Error) Error() string { return string(e.Reason) + ": " + e.Detail }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// fatal says that it will be so in every turn.
func (e *Error) fatal() bool {
	return e.Reason == OptionsInvalid || e.Reason == CassetteMismatch || e.Reason == CassetteMalformed
}

func refuse(r Reason, cause error, format string, args ...any) *Error {
	return &Error{Reason: r, Detail: fmt.Sprintf(format, args...), Err: cause}
}

// fault says what is wrong with JSON that somebody else wrote, without its words,
// which canonical's own error has.
func fault(r Reason, what string, err error) *Error {
	var c *canonical.Error
	if !errors.As(err, &c) {
		return refuse(r, nil, "%s cannot be read", what)
	}
	return refuse(r, nil, "%s: %s at byte %d", what, c.Reason, c.Offset)
}
