package label

import "fmt"

// Reason says why something was refused: a closed set of tokens, the same word
// in error, record, test vector and documentation.
type Reason string

// The reasons of this package.
const (
	LabelAbsent        Reason = "label-absent"        // the zero Label where one is needed
	LabelSyntax        Reason = "label-syntax"        // the text is not of the label's form
	LabelNotCanonical  Reason = "label-not-canonical" // names a label, but not in its one spelling
	RankUnknown        Reason = "rank-unknown"        // the rank is not in the scheme
	CompartmentUnknown Reason = "compartment-unknown" // a compartment is not in the scheme
	ReleasableUnknown  Reason = "releasable-unknown"  // a principal is not in the scheme
	SchemeInvalid      Reason = "scheme-invalid"      // too few or too many names, or a name not allowed
	SchemeDuplicate    Reason = "scheme-duplicate"    // two names of a list are equal or differ only in case
	SchemeReserved     Reason = "scheme-reserved"     // a reserved word, or a built-in scheme's name
)

// Error is every error of this package. The zero Error names no reason and is
// never returned.
type Error struct {
	Reason Reason
	Field  string // JSON pointer within the label or scheme, like /compartments/1; "" for all of it or for text
	Offset int    // byte in the text given to Parse; -1 if the input was not text
	Detail string // what is wrong, then what to do; one line of ASCII
}

// Error is one line: what, where, what to do, and the reason token.
func (e *Error) Error() string {
	where := "label"
	switch e.Reason {
	case SchemeInvalid, SchemeDuplicate, SchemeReserved:
		where = "scheme"
	}
	switch {
	case e.Field != "":
		where += " " + e.Field
	case e.Offset >= 0:
		where += fmt.Sprintf(" byte %d", e.Offset)
	}
	return fmt.Sprintf("%s: %s (%s)", where, e.Detail, e.Reason)
}

// Is makes errors.Is(err, &Error{Reason: r}) ask for the reason alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == Error{Reason: e.Reason}
}

func syntax(offset int, format string, args ...any) *Error {
	return &Error{Reason: LabelSyntax, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}

func schemeError(r Reason, field, format string, args ...any) error {
	return &Error{Reason: r, Field: field, Offset: -1, Detail: fmt.Sprintf(format, args...)}
}
