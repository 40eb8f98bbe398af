// Package record is what gets written down: the closed kinds of records,
// their typed bodies, the sink they go to, and the state folded from them.
//
// A record is (time, kind, body). Its line is the canonical JSON (RFC 8785)
// of {"body":...,"kind":...,"time":...}; the time is RFC 3339 in UTC with
// nanoseconds. Kinds are closed: a line of an unknown kind, or with a field
// that its kind does not have, is refused, never skipped, because a fold that
// skips what it does not know can be made to forget.
//
// [State] answers what bootstrap needs to know of the past: the newest version
// seen of every skill, the newest trust document, and which content was
// adopted in which directory. It is derived, never stored beside the records.
package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iff-run/iff/internal/canonical"
)

// Kind names what happened. The set is closed.
type Kind string

// The kinds.
const (
	KindInit         Kind = "init"
	KindKeyCreated   Kind = "key.created"
	KindTrustChanged Kind = "trust.changed"
	KindSkillAdopted Kind = "skill.adopted"
	KindSkillSigned  Kind = "skill.signed"
	KindSkillLoaded  Kind = "skill.loaded"
	KindSkillRefused Kind = "skill.refused"
)

// Body is the typed content of a record. Only this package implements it.
type Body interface {
	Kind() Kind
	body()
}

// Init says that a home was made.
type Init struct {
	Operator    string `json:"operator"`    // signer id of the operator
	Profile     string `json:"profile"`     // strict or dev
	Scheme      string `json:"scheme"`      // name of the label scheme
	Root        string `json:"root"`        // fingerprint of the root key
	TrustDigest string `json:"trustDigest"` // digest of trust document 1
}

// KeyCreated says that a key pair was made in the home.
type KeyCreated struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Protected   bool   `json:"protected"`
}

// TrustChanged says that a trust document was signed and stored.
type TrustChanged struct {
	Version int64    `json:"version"`
	Digest  string   `json:"digest"` // hex SHA-256 of its canonical form
	Added   []string `json:"added"`
	Revoked []string `json:"revoked"`
}

// Skill identifies exactly one signed skill.
type Skill struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Signer  string `json:"signer"`
	Level   string `json:"level"`
	Content string `json:"content"` // content root, hex
	Subject string `json:"subject"` // hex SHA-256 of the signed bytes: content root and manifest
}

// SkillAdopted says that an operator adopted a directory as unverified.
type SkillAdopted struct {
	Directory string `json:"directory"`
	Skill     Skill  `json:"skill"`
	Replaced  bool   `json:"replaced"` // a manifest that somebody else had signed was there
}

// SkillSigned says that a skill was signed with a key of the trust root.
type SkillSigned struct {
	Directory string `json:"directory"`
	Skill     Skill  `json:"skill"`
}

// SkillLoaded says that a skill passed the seven steps.
type SkillLoaded struct {
	Directory string `json:"directory"`
	Skill     Skill  `json:"skill"`
}

// SkillRefused says at which step a skill was refused, and why.
type SkillRefused struct {
	Directory string `json:"directory"`
	Step      int    `json:"step"`   // 1 to 7
	Reason    string `json:"reason"` // closed token
	Where     string `json:"where"`  // field or file, escaped; may be empty
}

// Kind implements Body.
func (Init) Kind() Kind { return KindInit }

// Kind implements Body.
func (KeyCreated) Kind() Kind { return KindKeyCreated }

// Kind implements Body.
func (TrustChanged) Kind() Kind { return KindTrustChanged }

// Kind implements Body.
func (SkillAdopted) Kind() Kind { return KindSkillAdopted }

// Kind implements Body.
func (SkillSigned) Kind() Kind { return KindSkillSigned }

// Kind implements Body.
func (SkillLoaded) Kind() Kind { return KindSkillLoaded }

// Kind implements Body.
func (SkillRefused) Kind() Kind { return KindSkillRefused }

func (Init) body()         {}
func (KeyCreated) body()   {}
func (TrustChanged) body() {}
func (SkillAdopted) body() {}
func (SkillSigned) body()  {}
func (SkillLoaded) body()  {}
func (SkillRefused) body() {}

// Sink takes records. Append returns nil only when all of them are durable,
// in order; on an error the caller must not act on what it wanted to record.
type Sink interface {
	Append(ctx context.Context, bodies ...Body) error
}

// Record is one entry.
type Record struct {
	Time time.Time
	Body Body
}

const (
	timeFormat = "2006-01-02T15:04:05.000000000Z"
	// MaxLine bounds a line, in bytes without the newline.
	MaxLine = 64 << 10
)

// line is the stored form of a record.
type line struct {
	Body canonical.Raw `json:"body"`
	Kind string        `json:"kind"`
	Time string        `json:"time"`
}

// Line encodes a record as one canonical line without the newline. Records
// longer than MaxLine are refused.
func (r Record) Line() ([]byte, error) {
	if r.Body == nil {
		return nil, fmt.Errorf("record: no body")
	}
	out, err := r.encode()
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", r.Body.Kind(), err)
	}
	if len(out) > MaxLine {
		return nil, fmt.Errorf("record %s: %d bytes, at most %d", r.Body.Kind(), len(out), MaxLine)
	}
	return out, nil
}

func (r Record) encode() ([]byte, error) {
	form, err := canonical.Marshal(r.Body)
	if err != nil {
		return nil, err
	}
	body, err := canonical.NewRaw(form, canonical.Limits{})
	if err != nil {
		return nil, err
	}
	return canonical.Marshal(line{Body: body, Kind: string(r.Body.Kind()), Time: r.Time.UTC().Format(timeFormat)})
}

// ParseLine decodes one line, strictly: an unknown kind or field is an error.
func ParseLine(data []byte) (Record, error) {
	var h line
	if err := canonical.Parse(data, &h, canonical.Limits{Bytes: MaxLine}); err != nil {
		return Record{}, fmt.Errorf("record: %w", err)
	}
	when, err := time.Parse(timeFormat, h.Time)
	if err == nil && when.Format(timeFormat) != h.Time {
		err = errors.New("another spelling of that instant")
	}
	if err != nil {
		return Record{}, fmt.Errorf("record: time %q: %w", h.Time, err)
	}
	body, err := decode(Kind(h.Kind), []byte(h.Body.String()))
	if err != nil {
		return Record{}, fmt.Errorf("record %s: %w", h.Kind, err)
	}
	return Record{Time: when, Body: body}, nil
}

func decode(k Kind, data []byte) (Body, error) {
	switch k {
	case KindInit:
		return parse[Init](data)
	case KindKeyCreated:
		return parse[KeyCreated](data)
	case KindTrustChanged:
		return parse[TrustChanged](data)
	case KindSkillAdopted:
		return parse[SkillAdopted](data)
	case KindSkillSigned:
		return parse[SkillSigned](data)
	case KindSkillLoaded:
		return parse[SkillLoaded](data)
	case KindSkillRefused:
		return parse[SkillRefused](data)
	}
	return nil, fmt.Errorf("kind %q is not known; a newer iff wrote it", string(k))
}

func parse[B Body](data []byte) (Body, error) {
	var b B
	err := canonical.Parse(data, &b, canonical.Limits{Bytes: MaxLine})
	return b, err
}
