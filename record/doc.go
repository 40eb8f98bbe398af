// Package record is what gets written down: the closed kinds of records, their
// typed bodies, the one line that each makes, and the state folded from them.
//
// # A line
//
// A record is one line of canonical JSON (RFC 8785), an object with exactly
// these fields, always all of them:
//
//	batch     sequence number of the first record that was made durable together with this one
//	body      what happened, by kind
//	kind      a closed token
//	prevHash  RFC 6962 leaf hash of the line before, SHA-256(0x00 || line), lower-case hex; 64 zeros in the first line
//	request   id of the call it belongs to, or ""
//	seq       sequence number, from 0, without a gap
//	session   id of the session it belongs to, or ""
//	time      RFC 3339 in UTC, with nine digits of a second
//
// Bodies hold strings, whole numbers, true and false, arrays and objects;
// hashes are lower-case hex. The fields of a body are fixed by its kind and in
// canonical order; a field that may be left out is left out when it is empty,
// and in no other case. So every record has one spelling, and [ParseLine]
// accepts no other: an unknown kind or field is an error and never skipped, for
// a fold that skips what it does not know can be made to forget.
//
// Within strings the line departs from RFC 8785 in one way: characters that a
// reader cannot see or that reorder what he sees are written as JSON escapes
// (\u202e, lower-case hex, surrogate pairs above U+FFFF), so that no control
// reaches a terminal raw. They are U+0000-U+001F, U+007F-U+009F, U+00AD,
// U+061C, U+180E, U+200B-U+200F, U+2028-U+202E, U+2060-U+206F, U+FEFF,
// U+FFF9-U+FFFB, U+FFFE-U+FFFF and U+E0000-U+E0FFF; those up to U+001F as RFC 8785 has them.
// The set is part of the format and does not follow Unicode. A string that is
// not UTF-8 is recorded as package internal/visible escapes it.
//
// A line has at most [MaxLine] bytes without its newline. What is larger lies
// in a blob store under its SHA-256 ([Payload]).
//
// # The state
//
// [State] answers what has to be known of the past: which log this is and with
// which key it signs, the newest version seen of every skill, the newest trust
// document, what every directory was placed as, the calls and the sessions that
// are open, and what each agent was given and has read. It is derived from the
// records alone, in their order, and never edited. A record that makes no sense
// where it stands (an outcome without a call) changes nothing; saying so is the
// verdict's part.
package record
