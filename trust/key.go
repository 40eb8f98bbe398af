package trust

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"filippo.io/edwards25519"
)

// PublicKey is an Ed25519 public key that has been checked. The zero value is
// no key: it verifies nothing.
type PublicKey struct {
	b  [ed25519.PublicKeySize]byte
	ok bool
}

// NewPublicKey checks 32 raw bytes. Its errors are *Error with reason
// key-size, key-encoding, key-small-order or key-mixed-order.
func NewPublicKey(raw []byte) (PublicKey, error) {
	if len(raw) != ed25519.PublicKeySize {
		return PublicKey{}, &Error{Reason: KeySize, Detail: fmt.Sprintf("%d bytes, an Ed25519 public key has 32", len(raw))}
	}
	p, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		return PublicKey{}, &Error{Reason: KeyEncoding, Detail: "the bytes are not a point of the curve; copy the key again", Err: err}
	}
	k := PublicKey{ok: true}
	copy(k.b[:], raw)
	if [32]byte(p.Bytes()) != k.b {
		return PublicKey{}, &Error{Reason: KeyEncoding, Detail: "the point is not canonically encoded; generate the key again"}
	}
	identity := edwards25519.NewIdentityPoint()
	if new(edwards25519.Point).MultByCofactor(p).Equal(identity) == 1 {
		return PublicKey{}, &Error{Reason: KeySmallOrder, Detail: "anyone can sign for this key; it is not one that a person generated"}
	}
	if !primeOrder(p) {
		return PublicKey{}, &Error{Reason: KeyMixedOrder, Detail: "the point is outside the prime-order subgroup; generate the key again"}
	}
	return k, nil
}

// primeOrder reports whether [L]p is the identity, computed as [L-1]p + p
// because L itself is zero as a scalar.
func primeOrder(p *edwards25519.Point) bool {
	one := [32]byte{1}
	s, err := edwards25519.NewScalar().SetCanonicalBytes(one[:])
	if err != nil {
		return false
	}
	q := new(edwards25519.Point).ScalarMult(s.Negate(s), p)
	return q.Add(q, p).Equal(edwards25519.NewIdentityPoint()) == 1
}

// IsZero reports whether k is no key.
func (k PublicKey) IsZero() bool { return !k.ok }

// Bytes returns a copy of the 32 raw bytes; nil for the zero value.
func (k PublicKey) Bytes() []byte {
	if !k.ok {
		return nil
	}
	return append([]byte(nil), k.b[:]...)
}

// String returns the key as the documents spell it: padded standard base64 of
// the 32 bytes, empty for the zero value.
func (k PublicKey) String() string {
	if !k.ok {
		return ""
	}
	return base64.StdEncoding.EncodeToString(k.b[:])
}

// Fingerprint is the OpenSSH fingerprint ("SHA256:" and unpadded base64), so
// that it can be compared with what ssh-keygen -l prints.
func (k PublicKey) Fingerprint() string {
	if !k.ok {
		return "none"
	}
	sum := sha256.Sum256(k.SSHWire())
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// SSHWire is the key in the SSH wire encoding (RFC 8709 section 4).
func (k PublicKey) SSHWire() []byte {
	const name = "ssh-ed25519"
	out := binary.BigEndian.AppendUint32(nil, uint32(len(name)))
	out = append(out, name...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(k.b)))
	return append(out, k.b[:]...)
}

// MarshalText implements encoding.TextMarshaler. The zero value is an error.
func (k PublicKey) MarshalText() ([]byte, error) {
	if !k.ok {
		return nil, &Error{Reason: KeySize, Detail: "no key was set"}
	}
	return []byte(k.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler with the checks of
// [NewPublicKey] and one spelling per key.
func (k *PublicKey) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || base64.StdEncoding.EncodeToString(raw) != string(text) {
		return &Error{Reason: KeyEncoding, Detail: "a key is 44 characters of padded standard base64"}
	}
	key, err := NewPublicKey(raw)
	if err != nil {
		return err
	}
	*k = key
	return nil
}

// Domain separates what a signature is about. Domains end in a newline and
// contain no other, so none is a prefix of another.
type Domain string

// The closed set of domains.
const (
	DomainSkill Domain = "iff/skill/v1\n"
	DomainTrust Domain = "iff/trust/v1\n"
	// DomainLogKey is for the change of a log's key, which both keys sign.
	DomainLogKey Domain = "iff/log-key/v1\n"
	// DomainApproval is for answers to requests, which approvers sign.
	DomainApproval Domain = "iff/approval/v1\n"
	// DomainConfig is for a home's configuration, which the root key signs.
	DomainConfig Domain = "iff/config/v1\n"
)

// Message is what is signed for a canonical form: the domain, then the bytes.
func Message(d Domain, canonical []byte) []byte {
	return append(append(make([]byte, 0, len(d)+len(canonical)), d...), canonical...)
}

// Signature is an Ed25519 signature. The zero value verifies nothing.
type Signature [ed25519.SignatureSize]byte

// MarshalText implements encoding.TextMarshaler: padded standard base64.
func (s Signature) MarshalText() ([]byte, error) {
	return []byte(base64.StdEncoding.EncodeToString(s[:])), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: one spelling per
// signature, reason signature-encoding otherwise.
func (s *Signature) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != len(s) || base64.StdEncoding.EncodeToString(raw) != string(text) {
		return &Error{Reason: SignatureEncoding, Detail: "a signature is 88 characters of padded standard base64"}
	}
	copy(s[:], raw)
	return nil
}

// Signer holds a private key somewhere: in memory, on a token, in an agent.
type Signer interface {
	Public() PublicKey
	// SignMessage signs the exact bytes with Ed25519.
	SignMessage(message []byte) (Signature, error)
}

// Sign signs a canonical form under a domain and verifies the result before
// it returns it: a faulty key or device is noticed here, not by the reader.
func Sign(s Signer, d Domain, canonical []byte) (Signature, error) {
	sig, err := s.SignMessage(Message(d, canonical))
	if err != nil {
		return Signature{}, fmt.Errorf("sign with %s: %w", s.Public().Fingerprint(), err)
	}
	if !Verify(s.Public(), d, canonical, sig) {
		return Signature{}, &Error{Reason: SignatureInvalid, Detail: "the key " + s.Public().Fingerprint() + " made a signature that does not verify"}
	}
	return sig, nil
}

// Verify reports whether sig is k's signature over the canonical form under
// the domain. It is false for the zero key.
func Verify(k PublicKey, d Domain, canonical []byte, sig Signature) bool {
	return k.ok && ed25519.Verify(k.b[:], Message(d, canonical), sig[:])
}
