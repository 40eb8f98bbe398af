// Package manifest is the skill manifest M of the paper (section "The skill
// trust schema"): what a skill is called, what it may do, under which label,
// who vouches for it and how far.
//
// # Format
//
// A manifest is a JSON object, on disk indented for review, read strictly
// (package internal/canonical) and signed in canonical form (RFC 8785):
//
//	schema        "iff/skill/v1"
//	name          the skill's identity together with the signer: lower-case
//	              letters of any script, digits and single inner hyphens, at
//	              most 64, in Unicode form NFKC
//	version       a whole number from 1 to 2^53-1 that only rises
//	label         rank, compartments, releasable (package label)
//	caps          grants in canonical text form, sorted, no two alike
//	              (package capability); may be empty
//	signer        the key identifier of an entry in the trust root
//	verification  unverified, declared, tested or formal; absent means
//	              unverified, anything else is an error
//	summary       optional: the signer's own words, one visible line of at
//	              most 300 characters, what listings show
//
// Every other key is refused, as is a missing one.
//
// [Fields] is the builder; [Fields.Freeze] and [Parse] yield a [Manifest],
// which does not change.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/skillmd"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/trust"
)

// Schema names the format and, with it, the capability vocabulary.
const Schema = capability.ManifestSchema

// File names beside SKILL.md.
const (
	FileName          = "skill.iff.json"
	SignatureFileName = "skill.iff.sig"
	AttestFileName    = "skill.iff.intoto.jsonl"
)

const (
	maxBytes   = 256 << 10
	maxSummary = 300
	maxVersion = 1<<53 - 1
)

// Reason is a closed token. A manifest is also refused with the tokens of
// packages canonical, label, level and capability; [Error] carries whichever
// it was.
type Reason string

// What only a manifest can get wrong.
const (
	SchemaUnknown  Reason = "schema-unknown"
	NameInvalid    Reason = "name-invalid"
	VersionInvalid Reason = "version-invalid"
	SignerInvalid  Reason = "signer-id-invalid"
	SummaryInvalid Reason = "summary-invalid"
)

// Error says which field of a manifest was refused and why.
type Error struct {
	Reason Reason
	Field  string // JSON pointer, empty for the whole document
	Offset int64  // byte in the file, -1 where it is not known
	Detail string
	Err    error
}

func (e *Error) Error() string {
	s := FileName
	if e.Field != "" {
		s += " " + visible.Truncate(visible.Escape(e.Field), 256)
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf(" (byte %d)", e.Offset)
	}
	return s + ": " + string(e.Reason) + ": " + e.Detail
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Fields is a manifest as it is written: the builder.
type Fields struct {
	Schema       string      `json:"schema"`
	Name         string      `json:"name"`
	Version      int64       `json:"version"`
	Label        label.Parts `json:"label"`
	Caps         []string    `json:"caps"`
	Signer       string      `json:"signer"`
	Verification string      `json:"verification,omitzero"`
	Summary      string      `json:"summary,omitzero"`
}

// Manifest is a valid manifest. It does not change. The zero value has no
// name, no grants and level unverified.
type Manifest struct {
	fields Fields
	label  label.Label
	level  level.Level
	grants capability.Grants
	form   []byte
}

// Parse reads a manifest under a label scheme. The error is *Error.
func Parse(data []byte, scheme *label.Scheme) (Manifest, error) {
	var f Fields
	if err := canonical.Parse(data, &f, canonical.Limits{Bytes: maxBytes}); err != nil {
		return Manifest{}, fromParser(err)
	}
	m, err := f.Freeze(scheme)
	if err != nil {
		return Manifest{}, err
	}
	// What is signed is what the file says, not what reading it left over: an
	// optional field is absent or has a value.
	if form, err := CanonicalForm(data); err != nil || !bytes.Equal(form, m.form) {
		return Manifest{}, refuse(Reason(canonical.MissingField), "", "an optional field is there but empty; leave it out")
	}
	return m, nil
}

// Freeze validates the fields and returns the manifest. The error is *Error.
func (f Fields) Freeze(scheme *label.Scheme) (Manifest, error) {
	if f.Schema != Schema {
		return Manifest{}, refuse(SchemaUnknown, "/schema", "%s; this program reads %q", visible.Escape(f.Schema), Schema)
	}
	if !skillmd.ValidName(f.Name) {
		return Manifest{}, refuse(NameInvalid, "/name", "%q: use lower-case letters, digits and single hyphens, at most 64", visible.Escape(f.Name))
	}
	if f.Version < 1 || f.Version > maxVersion {
		return Manifest{}, refuse(VersionInvalid, "/version", "%d: a whole number from 1 up", f.Version)
	}
	if err := trust.CheckID(f.Signer); err != nil {
		return Manifest{}, wrap(SignerInvalid, "/signer", err)
	}
	if err := checkSummary(f.Summary); err != nil {
		return Manifest{}, err
	}
	m := Manifest{}
	var err error
	if m.label, err = scheme.FromParts(f.Label); err != nil {
		return Manifest{}, wrap("", "/label", err)
	}
	if f.Verification != "" {
		if m.level, err = level.Parse(f.Verification); err != nil {
			return Manifest{}, wrap("", "/verification", err)
		}
	}
	if m.grants, err = capability.ParseGrants(f.Caps); err != nil {
		return Manifest{}, wrap("", "/caps", err)
	}
	f.Caps = m.grants.Strings()
	f.Label = m.label.Parts()
	if m.form, err = canonical.Marshal(f); err != nil {
		return Manifest{}, fromParser(err)
	}
	m.fields = f
	return m, nil
}

func checkSummary(s string) error {
	if utf8.RuneCountInString(s) > maxSummary {
		return refuse(SummaryInvalid, "/summary", "%d characters, at most %d", utf8.RuneCountInString(s), maxSummary)
	}
	if visible.Escape(s) != s {
		return refuse(SummaryInvalid, "/summary", "%s: only visible characters on one line", visible.Truncate(visible.Escape(s), 80))
	}
	return nil
}

// Name is the skill's name; with the signer it is the skill's identity.
func (m Manifest) Name() string { return m.fields.Name }

// Version is the manifest's version, 1 or more.
func (m Manifest) Version() int64 { return m.fields.Version }

// Signer is the key identifier that vouches for the skill.
func (m Manifest) Signer() string { return m.fields.Signer }

// Label is the skill's classification.
func (m Manifest) Label() label.Label { return m.label }

// Level is the verification level that the manifest claims.
func (m Manifest) Level() level.Level { return m.level }

// Grants is the declared capability set M.caps.
func (m Manifest) Grants() capability.Grants { return m.grants }

// Summary is the signer's one line about the skill; may be empty.
func (m Manifest) Summary() string { return m.fields.Summary }

// Fields returns a copy to build the next version from.
func (m Manifest) Fields() Fields {
	f := m.fields
	f.Caps = m.grants.Strings()
	f.Label = m.label.Parts()
	return f
}

// Canonical is the RFC 8785 form: what is signed and hashed.
func (m Manifest) Canonical() []byte { return append([]byte(nil), m.form...) }

// Pretty is the form that is written to disk for people to review.
func (m Manifest) Pretty() ([]byte, error) { return canonical.Pretty(m.fields) }

func refuse(r Reason, field, format string, args ...any) *Error {
	return &Error{Reason: r, Field: field, Offset: -1, Detail: fmt.Sprintf(format, args...)}
}

// wrap gives a cause its place in the manifest and keeps its token.
func wrap(r Reason, field string, err error) *Error {
	if token := Token(err); token != "" {
		r = Reason(token)
	}
	return &Error{Reason: r, Field: field, Offset: -1, Detail: err.Error(), Err: err}
}

func fromParser(err error) *Error {
	out := wrap(Reason(canonical.Syntax), "", err)
	var c *canonical.Error
	if errors.As(err, &c) {
		out.Field, out.Offset, out.Detail = c.Field, c.Offset, c.Detail
	}
	return out
}

// Token returns the closed reason token that an error from this package or
// from one that it reads with carries, empty if it carries none.
func Token(err error) string {
	var m *Error
	var lb *label.Error
	var lv *level.Error
	var cp *capability.Error
	var tr *trust.Error
	var cn *canonical.Error
	switch {
	case errors.As(err, &m):
		return string(m.Reason)
	case errors.As(err, &lb):
		return string(lb.Reason)
	case errors.As(err, &lv):
		return string(lv.Reason)
	case errors.As(err, &cp):
		return string(cp.Reason)
	case errors.As(err, &tr):
		return string(tr.Reason)
	case errors.As(err, &cn):
		return string(cn.Reason)
	}
	return ""
}

// CanonicalForm is the canonical form of a manifest file whose content may
// otherwise be invalid. Its errors are *Error.
func CanonicalForm(data []byte) ([]byte, error) {
	form, err := canonical.Transform(data, canonical.Limits{Bytes: maxBytes})
	if err != nil {
		return nil, fromParser(err)
	}
	return form, nil
}
