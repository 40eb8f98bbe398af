package audit

import (
	"errors"
	"fmt"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token: why a log or something about it does not hold.
type Reason string

// The reasons.
const (
	LineInvalid   Reason = "line-invalid"    // not a record in its one spelling
	LineUnended   Reason = "line-unended"    // no newline behind it
	LineBlank     Reason = "line-blank"      // an empty line before the end
	SeqGap        Reason = "seq-gap"         // not the next sequence number
	BatchOrder    Reason = "batch-order"     // neither the batch before nor a new one
	ChainBroken   Reason = "chain-broken"    // prevHash is not the hash of the line before
	FirstRecord   Reason = "first-record"    // init is not the first and only the first
	SegmentName   Reason = "segment-name"    // a segment is missing, or named for another line
	OriginOther   Reason = "origin-other"    // another log than was expected
	KeyOther      Reason = "key-other"       // signed by another key than was expected
	KeyRotation   Reason = "key-rotation"    // a change of key that not both keys signed
	NoteInvalid   Reason = "note-invalid"    // not a checkpoint
	NoteSignature Reason = "note-signature"  // a checkpoint without a good signature
	CheckpointOff Reason = "checkpoint-off"  // a signed checkpoint that is not of the records before it
	RolledBack    Reason = "log-rolled-back" // shorter than what was anchored
	Forked        Reason = "log-forked"      // other records than those that were anchored
	LogEmpty      Reason = "log-empty"       // no record where there should be some
	LogPoisoned   Reason = "log-poisoned"    // a write failed; nothing is written any more
	LogClosed     Reason = "log-closed"      // it was closed
	LogFull       Reason = "log-full"        // there is no room for a record
	AppendUnknown Reason = "append-unknown"  // abandoned while the disk was at work
	ProofInvalid  Reason = "proof-invalid"   // a receipt that does not prove
	NoRecord      Reason = "no-record"       // no record of that number
	BlobMissing   Reason = "blob-missing"    // a payload is not in the blob store, or not what its digest says
)

// Error says what does not hold about a log.
type Error struct {
	Reason Reason
	Detail string // what is wrong and where
	Err    error  // the cause, may be nil
}

func (e *Error) Error() string {
	s := string(e.Reason)
	if e.Detail != "" {
		s += ": " + visible.Escape(e.Detail)
	}
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Problem is the first place where a log does not hold.
type Problem struct {
	Reason Reason
	Seq    int64    // of the record that should be there
	At     Position // where its line begins
	Detail string
	err    error
}

// Line is the number of the line within its segment, from 1.
func (p *Problem) Line() int64 {
	if p.At.Offset == 0 { // the segment may be named for another record
		return 1
	}
	return p.Seq - p.At.Segment + 1
}

// Error makes the problem an error, an *Error.
func (p *Problem) Error() error {
	return &Error{Reason: p.Reason, Detail: fmt.Sprintf("%s, line %d, record %d: %s", p.At, p.Line(), p.Seq, p.Detail), Err: p.err}
}

// ErrUnkept says that a log is whole and every record durable, but that
// something that can be made again was not kept beside it.
var ErrUnkept = errors.New("the log is whole")

// ErrUnknown says that an append was abandoned while it was under way: its
// records may become durable or not. Nothing may be done on their strength.
var ErrUnknown error = &Error{Reason: AppendUnknown}
