package home

import (
	"fmt"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token.
type Reason string

// Why a home, or a file of it, is refused.
const (
	Missing       Reason = "home-missing"
	Exists        Reason = "home-exists"
	Exposed       Reason = "home-exposed"
	Busy          Reason = "home-busy"
	Unreadable    Reason = "home-unreadable"
	ConfigInvalid Reason = "config-invalid"
	Unsigned      Reason = "config-unsigned"
	Unanchored    Reason = "log-unanchored"
	Unseparated   Reason = "agents-unseparated"
	KeysExposed   Reason = "keys-exposed"
	RolledBack    Reason = "trust-rolled-back"
	RootMismatch  Reason = "trust-root-changed"
	NameInvalid   Reason = "operator-invalid"
	NotSigner     Reason = "key-not-in-trust"
	KeyUnguarded  Reason = "key-unprotected"
	AdopterGone   Reason = "adopter-gone"
	NotWritable   Reason = "directory-not-writable"

	CorpusInvalid    Reason = "corpus-invalid"
	CorpusMissing    Reason = "corpus-missing"
	CorpusUnreadable Reason = "corpus-unreadable"
	CorpusOverlap    Reason = "corpus-overlap"
	CorpusLabel      Reason = "corpus-label"
	CorpusBusy       Reason = "corpus-busy"
)

// Error says what about a home was refused, and what to do.
type Error struct {
	Reason Reason
	Path   string
	Detail string
	Err    error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %s", e.Reason, e.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", visible.Escape(e.Path), e.Reason, e.Detail)
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
