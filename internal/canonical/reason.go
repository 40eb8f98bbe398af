package canonical

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reason is a closed token that names why a document or a value was refused.
// The zero value names nothing and is never returned.
type Reason string

// The reasons of this package.
const (
	// Syntax: not JSON by the grammar of RFC 8259, or it ends too early.
	Syntax Reason = "json-syntax"
	// DuplicateKey: one object has the same key twice, escapes resolved.
	DuplicateKey Reason = "duplicate-key"
	// CaseKey: a key differs only in case, by Unicode simple folding, from
	// another key of the same object or from a field the Go type has.
	CaseKey Reason = "case-key"
	// UnknownField: the Go type has no such field.
	UnknownField Reason = "unknown-field"
	// MissingField: a mandatory field is not there.
	MissingField Reason = "missing-field"
	// WrongType: another JSON type than the Go type takes, a null, a number
	// outside the range of its Go type, or an array of another length.
	WrongType Reason = "wrong-type"
	// BadUTF8: bytes that are not UTF-8.
	BadUTF8 Reason = "bad-utf8"
	// LoneSurrogate: an escape like \ud800 without its other half.
	LoneSurrogate Reason = "lone-surrogate"
	// ByteOrderMark: the document begins with U+FEFF.
	ByteOrderMark Reason = "byte-order-mark"
	// TrailingBytes: something other than white space follows the value.
	TrailingBytes Reason = "trailing-bytes"
	// NumberInexact: a number that a float64 does not hold without a change.
	NumberInexact Reason = "number-inexact"
	// TooDeep: arrays and objects nest deeper than the limit.
	TooDeep Reason = "too-deep"
	// TooLarge: more bytes than the limit.
	TooLarge Reason = "too-large"
	// InvalidValue: the string is JSON, but the Go type's UnmarshalText (or
	// MarshalText, on the way out) refused it. Its error is wrapped.
	InvalidValue Reason = "invalid-value"
)

// Error says why a document was refused by Parse, Check, Transform and
// NewRaw, or a Go value by Marshal and Pretty.
type Error struct {
	// Reason is one of the constants of this package.
	Reason Reason
	// Offset is the 0-based position in the input of the first byte of the
	// offending key, value or character. For a missing field it is that of
	// the object that lacks it, for a limit that of the first byte beyond.
	// It is -1 where there is no input: in errors of Marshal and Pretty.
	Offset int64
	// Field is the JSON pointer (RFC 6901) of the offending member or
	// element, "" for the whole document. It holds keys as the document has
	// them: escape it before showing it to people. Error does so.
	Field string
	// Detail is one line: what is wrong, then what to do.
	Detail string
	// Err is what UnmarshalText or MarshalText returned, otherwise nil.
	Err error
}

// Unwrap returns the error of UnmarshalText or MarshalText, if any.
func (e *Error) Unwrap() error { return e.Err }

// Error gives reason, place, and what to do, on one printable line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Reason))
	if e.Field != "" {
		b.WriteString(" at " + printable(e.Field))
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (byte %d)", e.Offset)
	}
	b.WriteString(": " + e.Detail)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// ErrType says that a Go type has no place in a canonical document, or that
// Parse was not given a pointer to store into. It is a mistake in the program,
// never in the input.
var ErrType = errors.New("canonical: unsupported Go type")

// printable keeps text on one line of bounded length: keys come from the
// document and may hold controls or megabytes.
func printable(s string) string {
	const most = 120
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	if quoted := seen(strconv.Quote(s)); quoted != `"`+s+`"` {
		return quoted
	}
	return s
}

// seen has what Go calls printable and a reader does not see as escapes.
func seen(s string) string {
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unseen(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// pointerToken escapes one step of a JSON pointer.
func pointerToken(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
