package skill

import (
	"fmt"

	"github.com/iff-run/iff/internal/visible"
)

// Reason is a closed token. Loading also reports the tokens of the packages it
// reads with: beneath, canonical, manifest, label, level, capability, trust.
type Reason string

// What reading, adopting and loading refuse.
const (
	// Reading.
	Unreadable      Reason = "file-unreadable"
	Changing        Reason = "file-changing"
	NameTwin        Reason = "name-twin"
	TooManyFiles    Reason = "too-many-files"
	ContentTooLarge Reason = "content-too-large"
	TooDeep         Reason = "directory-too-deep"

	// Step 1.
	ManifestMissing Reason = "manifest-missing"
	NameReserved    Reason = "name-reserved"
	// Step 3.
	SignatureMissing   Reason = "signature-missing"
	SignatureMalformed Reason = "signature-malformed"
	SignatureInvalid   Reason = "signature-invalid"
	ManifestChanged    Reason = "manifest-changed"
	ContentChanged     Reason = "content-changed"
	SkillMissing       Reason = "skillmd-missing"
	VersionReplayed    Reason = "version-replayed"
	VersionEquivocal   Reason = "version-equivocal"
	// Steps 4 to 7.
	LabelAboveSigner    Reason = "label-above-signer"
	LabelAboveOperator  Reason = "label-above-operator"
	LevelAboveSigner    Reason = "level-above-signer"
	EvidenceUnavailable Reason = "evidence-unavailable"
	NameTaken           Reason = "name-taken"

	// Adopting and signing.
	NameUnusable  Reason = "name-unusable"
	AlreadySigned Reason = "already-signed"
	Frozen        Reason = "set-frozen"
)

// ReadError says which file of a skill's directory could not be taken as it
// is, and why.
type ReadError struct {
	Reason Reason
	File   string // as the author knows it, relative to the directory
	Detail string
	Err    error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("%s: %s: %s", visible.Escape(e.File), e.Reason, e.Detail)
}

// Unwrap returns the cause, if there is one.
func (e *ReadError) Unwrap() error { return e.Err }

// FormatError says what is wrong with a signature file.
type FormatError struct {
	Reason Reason
	Detail string
	Err    error
}

func (e *FormatError) Error() string { return string(e.Reason) + ": " + e.Detail }

// Unwrap returns the cause, if there is one.
func (e *FormatError) Unwrap() error { return e.Err }

// LoadError says at which of the seven steps a skill was refused and why.
type LoadError struct {
	Step   int    // 1 to 7
	Reason Reason // closed token
	Where  string // field of the manifest or file of the skill; may be empty
	Detail string // what was found, and what to do
	Err    error
}

func (e *LoadError) Error() string {
	s := fmt.Sprintf("refused at step %d: %s", e.Step, e.Reason)
	if e.Where != "" {
		s += ": " + visible.Escape(e.Where)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *LoadError) Unwrap() error { return e.Err }
