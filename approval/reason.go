package approval

import (
	"errors"
	"fmt"
)

// Reason is a closed token: why an answer does not count, or why none can be
// given.
type Reason string

// The reasons.
const (
	QuestionInvalid Reason = "approval-question"       // the question is not one that can be answered
	ChoiceInvalid   Reason = "approval-choice"         // neither approve nor deny
	CauseInvalid    Reason = "approval-cause"          // nobody who could say this
	Unsigned        Reason = "approval-unsigned"       // it must be signed, and is not
	Overfull        Reason = "approval-overfull"       // it is not signed, and has parts of a signed one
	ViewOther       Reason = "approval-view"           // something else was shown
	NonceInvalid    Reason = "approval-nonce"          // not 128 bits that somebody drew
	Expired         Reason = "approval-expired"        // it is too late
	TooLong         Reason = "approval-too-long"       // it would hold for longer than an approval may
	BatchInvalid    Reason = "approval-batch"          // not a list of 1 to 50 different questions
	NotInBatch      Reason = "approval-not-in-batch"   // the list that was signed does not have this one
	SignerUnknown   Reason = "approval-signer-unknown" // the trust root does not have the signer
	SignerRevoked   Reason = "approval-signer-revoked" // the trust root took the signer's authority away
	SignerExpired   Reason = "approval-signer-expired" // the signer's time is over
	NotApprover     Reason = "approval-not-approver"   // the signer may sign skills, not approve calls
	BadSignature    Reason = "approval-signature"      // the signature is not over this
	WireInvalid     Reason = "approval-wire"           // not a question or answer as it is written down
)

// Error says why an answer does not count. Whoever gets one has no approval.
type Error struct {
	Reason Reason
	Detail string // what is wrong, then what to do; one line
	Err    error  // may be nil
}

// Error is one line.
func (e *Error) Error() string {
	if e.Detail == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + e.Detail
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf is the reason of the first *[Error] in an error's chain, "" if there
// is none.
func ReasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func refuse(r Reason, format string, args ...any) error {
	return &Error{Reason: r, Detail: fmt.Sprintf(format, args...)}
}
