package trust

import "errors"

// Reason is a closed token that says why something was refused: the same word
// in errors, records, vectors and documentation.
type Reason string

// Why a key, a signature, a document or a signer is refused.
const (
	KeySize           Reason = "key-size"
	KeyEncoding       Reason = "key-encoding"
	KeySmallOrder     Reason = "key-small-order"
	KeyMixedOrder     Reason = "key-mixed-order"
	KeyDuplicate      Reason = "key-duplicate"
	SignatureEncoding Reason = "signature-encoding"
	SignatureInvalid  Reason = "signature-invalid"

	SchemaUnknown Reason = "schema-unknown"
	Malformed     Reason = "trust-malformed"
	Empty         Reason = "trust-empty"
	TooMany       Reason = "trust-too-many"
	BadSignature  Reason = "trust-signature"
	VersionGap    Reason = "trust-version-gap"
	BadPrevious   Reason = "trust-previous"
	RootChanged   Reason = "trust-root-changed"
	SchemeChanged Reason = "trust-scheme-changed"
	EntryDropped  Reason = "trust-entry-dropped"
	EntryChanged  Reason = "trust-entry-changed"
	NothingNew    Reason = "trust-nothing-new"
	Unsigned      Reason = "trust-unsigned"
	Locked        Reason = "trust-locked"

	IDInvalid       Reason = "signer-id-invalid"
	IDDuplicate     Reason = "signer-duplicate"
	AdopterLevel    Reason = "adopter-level"
	NotAfterInvalid Reason = "not-after-invalid"
	WhyInvalid      Reason = "revocation-invalid"

	SignerUnknown Reason = "signer-unknown"
	SignerRevoked Reason = "signer-revoked"
	SignerExpired Reason = "signer-expired"
)

// ErrLocked is what every attempt to widen a locked root wraps.
var ErrLocked = errors.New("the trust root is locked")

// Error says what about a key, document or signer was refused.
type Error struct {
	Reason Reason
	Field  string // JSON pointer within the document, or empty
	Detail string
	Err    error
}

func (e *Error) Error() string {
	s := string(e.Reason)
	if e.Field != "" {
		s += " at " + e.Field
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
