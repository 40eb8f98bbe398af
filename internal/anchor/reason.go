package anchor

import (
	"fmt"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token.
type Reason string

// Why an anchor does not take a checkpoint, or does not give one.
const (
	PlaceInvalid Reason = "anchor-place"       // the configuration names no place that can be one
	Invalid      Reason = "anchor-invalid"     // what it holds or answers is not a checkpoint, size or cosignature
	BadSignature Reason = "anchor-signature"   // no key of the log, or not the key of the witness, has signed
	OtherLog     Reason = "anchor-origin"      // a checkpoint of another log
	Rollback     Reason = "anchor-rollback"    // the log was cut back
	Forked       Reason = "anchor-fork"        // the log was rewritten
	Gone         Reason = "anchor-gone"        // the anchor lost what it held
	Unproven     Reason = "anchor-unproven"    // the log could not prove that it extends what the anchor holds
	Refused      Reason = "anchor-refused"     // a witness said no
	BadTime      Reason = "anchor-time"        // a cosignature is from the future or long past
	Unreachable  Reason = "anchor-unreachable" // it cannot be read, or does not answer
	Unwritable   Reason = "anchor-unwritable"  // it, or the copy of what it holds, cannot be written
)

// Error says why a checkpoint was not taken or not given.
type Error struct {
	Reason Reason
	Anchor string // its name
	Detail string // what is wrong, then what to do
	// Held is the signed checkpoint that contradicts the log, if the reason is anchor-rollback or anchor-fork and the anchor
	// gave it. It proves the contradiction to others; without it there is only the word of a witness.
	Held []byte
	Err  error // the cause, or nil
}

func (e *Error) Error() string {
	return fmt.Sprintf("anchor %s: %s: %s", visible.Escape(e.Anchor), e.Reason, e.Detail)
}

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
