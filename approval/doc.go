// Package approval is what an approver is asked and what he answers: the one
// rendering that he sees, and the signature that binds his answer to it.
//
// # What is signed
//
// The message is the domain "iff/approval/v1\n" and behind it the canonical JSON
// (RFC 8785) of
//
//	{"decision", "fence", "items", "log", "nonce", "notAfter"}
//
// decision is approve or deny. log and fence name the log and the runtime that
// asks. items lists 1 to 50 questions that were each shown, each as the SHA-256
// in lower-case hex of the canonical JSON of
//
//	{"envelope", "request", "seq", "session", "view"}
//
// envelope is the SHA-256 of the call's canonical bytes, view that of the
// rendering, seq the sequence number of the request record. nonce is 128 random
// bits, 32 hex digits; notAfter is the time from which on the answer is not taken
// any more, in UTC with nine digits of a second, at most [MaxValidity] from when
// it is checked. Signatures are Ed25519.
//
// So an answer holds for these bytes of this call, in this session of this
// runtime, as they were shown, until then. It is not for another request with
// the same call: that one has another number. How the answer came (Broker, Cause,
// SameUID) is the gate's word and not signed.
//
// # Who may
//
// An approval by a human or a webhook counts only with the signature of an entry
// of the locked trust root that may approve, is not revoked and not over its
// time. A denial by a human counts unsigned; a webhook signs its denials too. A
// policy signs nothing: what it may approve, the gate knows. Everything else is a
// denial. [Question.Check] holds an answer against its question, [Posed.Check]
// several, or one again; [CheckRecord] does it from the log alone, years later.
//
// # How a question reads
//
// [Question.Render] is plain text of up to 96 columns. The first line is the act
// in capitals and the resolved target; then come effect, class, reach and
// labels, what must not be overlooked (behind "!!"), the skill and the agent,
// each change with its state before and after and the difference line by line,
// the arguments of calls that are more than that, and which question this is,
// with digests. Last are the agent's words, marked as untrusted.
//
// What somebody else wrote stands behind "  | ", and behind "  : " where a line
// was too long, or within a line of ours without a space or in quotes; what a
// reader would not see in it is written out as package internal/visible has it, a
// tab as an arrow, a space at the end of a line as \u{20}. No line of ours begins
// with those prefixes, so no content can pose as one.
//
// Texts of up to 256 KiB and 5,000 lines are compared in full; of larger ones the
// first and last lines are shown, of what is not text the first bytes, of more
// than 200 changes the first 200. Wherever not all is shown, a loud line says so,
// and the digests cover it: two different questions never have the same
// rendering, for its line "question" has the SHA-256 of the whole wire form.
//
// # The wire form
//
// A question goes to the approver's program as canonical JSON
// ([Question.MarshalJSON]), which makes the same rendering of it and signs that.
// It carries up to [MaxContents] of contents; what does not fit is cut on both
// sides.
//
// The package is pure: no clock, no randomness, no goroutines.
package approval
