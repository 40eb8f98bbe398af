package capability

import (
	"crypto/sha256"
	"errors"
	"unsafe"

	"github.com/iff-run/iff/internal/canonical"
)

// EnvelopeSchema names the format of an envelope.
const EnvelopeSchema = "iff/call/v1"

// Bounds of an envelope in bytes.
const (
	MaxEnvelope  = 1 << 20
	MaxReasoning = 64 << 10
)

// Call is what an agent asks for: the builder of an [Envelope].
type Call struct {
	Target    Target
	Arguments []byte // a JSON object; none means {}
	Reasoning string // the agent's own words, untrusted
}

// Envelope is a call in its one canonical form. It does not change, and two are
// equal (==) exactly if their bytes are. The zero Envelope is no call: it has
// no bytes, the zero Target and the zero hash.
type Envelope struct {
	data      string
	hash      [sha256.Size]byte
	target    Target
	arguments string
	reasoning string
}

// members is an envelope as it is read.
type members struct {
	Arguments  canonical.Raw `json:"arguments"`
	Capability string        `json:"capability"`
	Reasoning  string        `json:"reasoning"`
	Schema     string        `json:"schema"`
	Target     string        `json:"target"`
}

// otherMembers are what follows the arguments in the canonical form.
type otherMembers struct {
	Capability string `json:"capability"`
	Reasoning  string `json:"reasoning"`
	Schema     string `json:"schema"`
	Target     string `json:"target"`
}

const (
	beforeArguments = `{"arguments":`
	// usualRest is what all but arguments and reasoning seldom takes more than, in bytes.
	usualRest = 256
)

// argumentsDepth is one less than what package canonical reads, for the arguments
// lie one level deep in the envelope.
const argumentsDepth = 31

// NewEnvelope freezes a call. Arguments may be written in any way that package
// canonical reads; the envelope has their canonical form. The error is *Error,
// with the token of package canonical where that is what refused.
func NewEnvelope(c Call) (Envelope, error) {
	if c.Target.IsZero() {
		return Envelope{}, refuse(CallInvalid, -1, "the call has no target")
	}
	arguments := c.Arguments
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	data := append(make([]byte, 0, len(arguments)+len(c.Reasoning)+usualRest), beforeArguments...)
	data, err := canonical.AppendTransform(data, arguments, canonical.Limits{Bytes: MaxEnvelope, Depth: argumentsDepth})
	if err != nil {
		return Envelope{}, fromCanonical(err, "arguments: ")
	}
	return freeze(data, c.Target, c.Reasoning)
}

// ParseEnvelope reads an envelope that is in canonical form already. The error
// is *Error, with the token of package canonical where that is what refused.
func ParseEnvelope(data []byte) (Envelope, error) {
	var m members
	if err := canonical.Parse(data, &m, canonical.Limits{Bytes: MaxEnvelope}); err != nil {
		return Envelope{}, fromCanonical(err, "")
	}
	if m.Schema != EnvelopeSchema {
		return Envelope{}, refuse(CallInvalid, -1, "schema %s; this program reads %q", quote(m.Schema), EnvelopeSchema)
	}
	target, err := parseMembers(m)
	if err != nil {
		return Envelope{}, err
	}
	envelope, err := freeze([]byte(beforeArguments+m.Arguments.String()), target, m.Reasoning)
	if err != nil {
		return Envelope{}, err
	}
	if envelope.data != string(data) {
		return Envelope{}, refuse(CallNotCanonical, differ(string(data), envelope.data), "the bytes are not the RFC 8785 form of the call; write that form")
	}
	return envelope, nil
}

func parseMembers(m members) (Target, error) {
	c, err := Parse(m.Capability)
	if err != nil {
		return Target{}, inMember("capability", err)
	}
	target, err := ParseTarget(c, m.Target)
	if err != nil {
		return Target{}, inMember("target", err)
	}
	return target, nil
}

// freeze completes what begins with the arguments, the first member in canonical
// order. They may be long: they are written once and shared with the whole. Nobody
// else may have data.
func freeze(data []byte, target Target, reasoning string) (Envelope, error) {
	end := len(data)
	if data[len(beforeArguments)] != '{' {
		return Envelope{}, refuse(CallInvalid, -1, "the arguments are not an object; write {} for none")
	}
	if len(reasoning) > MaxReasoning {
		return Envelope{}, refuse(ReasoningTooLong, -1, "the reasoning has %d bytes, at most %d", len(reasoning), MaxReasoning)
	}
	data, err := canonical.AppendMarshal(data, otherMembers{target.capability.String(), reasoning, EnvelopeSchema, target.text})
	if err != nil {
		return Envelope{}, fromCanonical(err, "")
	}
	data[end] = ',' // in place of the bracket that opens these
	if len(data) > MaxEnvelope {
		return Envelope{}, refuse(Reason(canonical.TooLarge), -1, "the call has %d bytes in canonical form, at most %d", len(data), MaxEnvelope)
	}
	text := unsafe.String(unsafe.SliceData(data), len(data)) // nobody writes to data from here on
	return Envelope{text, sha256.Sum256(data), target, text[len(beforeArguments):end], reasoning}, nil
}

// fromCanonical keeps the token and the place that package canonical found.
func fromCanonical(err error, where string) *Error {
	var cause *canonical.Error
	if !errors.As(err, &cause) {
		return &Error{Reason: CallInvalid, Offset: -1, Detail: where + err.Error(), Err: err}
	}
	if cause.Field != "" {
		where += quote(cause.Field) + ": "
	}
	return &Error{Reason: Reason(cause.Reason), Offset: int(cause.Offset), Detail: where + cause.Detail, Err: err}
}

// inMember says in which member of an envelope a text was refused. The text's
// offset is not the envelope's, so it stays in the cause.
func inMember(name string, err error) *Error {
	e := &Error{Reason: CallInvalid, Offset: -1, Detail: name + ": " + err.Error(), Err: err}
	var cause *Error
	if errors.As(err, &cause) {
		e.Reason, e.Canonical = cause.Reason, cause.Canonical
	}
	return e
}

// IsZero reports whether e is no call.
func (e Envelope) IsZero() bool { return e.data == "" }

// Bytes returns a copy of the canonical bytes, nil for the zero Envelope.
func (e Envelope) Bytes() []byte {
	if e.IsZero() {
		return nil
	}
	return []byte(e.data)
}

// Hash returns SHA-256 of the bytes, all zero for the zero Envelope.
func (e Envelope) Hash() [sha256.Size]byte { return e.hash }

// Target returns what the call acts on, and with it the capability.
func (e Envelope) Target() Target { return e.target }

// Arguments returns the object in canonical form, empty for the zero Envelope.
func (e Envelope) Arguments() string { return e.arguments }

// Reasoning returns what the agent says about the call: untrusted text that may
// hold any character. Escape it before showing it.
func (e Envelope) Reasoning() string { return e.reasoning }
