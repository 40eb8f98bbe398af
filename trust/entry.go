package trust

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
)

// Never is the spelling of a not-after that does not come.
const Never = "never"

const (
	maxSigners = 1024
	maxWhy     = 200
)

// Entry is one signer as a document lists it.
type Entry struct {
	// ID is the key identifier that manifests name: lower-case letters,
	// digits, '.', '_', '@' and '-', at most 64 characters.
	ID string `json:"id"`
	// PublicKey is the key that its signatures verify against.
	PublicKey PublicKey `json:"publicKey"`
	// Clearance is the greatest label it may sign.
	Clearance label.Parts `json:"clearance"`
	// Level is the greatest level it may attest.
	Level level.Level `json:"level"`
	// NotAfter is an RFC 3339 time in UTC with whole seconds, or "never".
	NotAfter string `json:"notAfter"`
	// Approver says whether it may approve calls.
	Approver bool `json:"approver"`
	// Adopter marks a key that lies unprotected on disk: unverified only.
	Adopter bool `json:"adopter"`
}

// Revocation takes a signer's authority away, for good.
type Revocation struct {
	ID  string `json:"id"`
	At  string `json:"at"`  // RFC 3339, UTC, whole seconds: when it was entered
	Why string `json:"why"` // the operator's words, one printable line of at most 200 bytes
}

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

// CheckID says whether id can name a signer; the error is *Error with reason
// signer-id-invalid.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return &Error{Reason: IDInvalid, Detail: fmt.Sprintf("%q: use lower-case letters, digits, '.', '_', '@', '-', at most 64, beginning with a letter or digit", id)}
	}
	return nil
}

func (e Entry) check(scheme *label.Scheme) error {
	if err := CheckID(e.ID); err != nil {
		return err
	}
	if e.PublicKey.IsZero() {
		return &Error{Reason: KeySize, Field: "publicKey", Detail: "signer " + e.ID + " has no key"}
	}
	if _, err := scheme.FromParts(e.Clearance); err != nil {
		return fmt.Errorf("clearance of signer %s: %w", e.ID, err)
	}
	if !level.Formal.AtLeast(e.Level) {
		return &Error{Reason: Malformed, Field: "level", Detail: "signer " + e.ID + " has no known level"}
	}
	if e.Adopter && (e.Level != level.Unverified || e.Approver) {
		return &Error{Reason: AdopterLevel, Detail: "signer " + e.ID + " is an adopter: it attests unverified only and approves nothing"}
	}
	if e.NotAfter != Never {
		if _, err := parseTime(e.NotAfter); err != nil {
			return &Error{Reason: NotAfterInvalid, Detail: fmt.Sprintf("signer %s: %q is neither %q nor a time such as 2027-01-01T00:00:00Z", e.ID, e.NotAfter, Never)}
		}
	}
	return nil
}

// expired fails closed: a not-after that cannot be read has passed.
func (e Entry) expired(now time.Time) bool {
	if e.NotAfter == Never {
		return false
	}
	t, err := parseTime(e.NotAfter)
	return err != nil || now.After(t)
}

// clone copies e so that no slice is shared.
func (e Entry) clone() Entry {
	e.Clearance.Compartments = slices.Clone(e.Clearance.Compartments)
	e.Clearance.Releasable = slices.Clone(e.Clearance.Releasable)
	return e
}

func (e Entry) equal(o Entry) bool {
	return e.ID == o.ID && e.PublicKey == o.PublicKey && e.Level == o.Level && e.NotAfter == o.NotAfter &&
		e.Approver == o.Approver && e.Adopter == o.Adopter && e.Clearance.Rank == o.Clearance.Rank &&
		slices.Equal(e.Clearance.Compartments, o.Clearance.Compartments) &&
		slices.Equal(e.Clearance.Releasable, o.Clearance.Releasable)
}

func (r Revocation) check() error {
	if _, err := parseTime(r.At); err != nil {
		return &Error{Reason: WhyInvalid, Field: "at", Detail: fmt.Sprintf("revocation of %q: %q is not a time such as 2027-01-01T00:00:00Z", r.ID, r.At)}
	}
	if len(r.Why) > maxWhy {
		return &Error{Reason: WhyInvalid, Field: "why", Detail: fmt.Sprintf("revocation of %q: %d bytes, at most %d", r.ID, len(r.Why), maxWhy)}
	}
	if visible.Escape(r.Why) != r.Why {
		return &Error{Reason: WhyInvalid, Field: "why", Detail: fmt.Sprintf("revocation of %q: %s: only visible characters on one line", r.ID, visible.Escape(r.Why))}
	}
	return nil
}

// parseTime takes one spelling per instant.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse("2006-01-02T15:04:05Z", s)
	if err == nil && FormatTime(t) != s {
		err = fmt.Errorf("%q is another spelling of %s", s, FormatTime(t))
	}
	return t, err
}

// FormatTime spells a time as the documents do: UTC, whole seconds.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
