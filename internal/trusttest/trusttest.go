// Package trusttest makes keys and trust roots that tests and the vector
// generator can make again: a key is a number. Nothing that ships imports it;
// a test says so.
package trusttest

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/trust"
)

// Now is the instant at which everything that is made here is valid.
var Now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Key is a key pair that everybody knows. It implements trust.Signer.
type Key struct {
	private ed25519.PrivateKey
	public  trust.PublicKey
}

// NewKey makes the key pair of a number: its seed is that byte 32 times.
func NewKey(seed byte) Key {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	public, err := trust.NewPublicKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		panic(fmt.Sprintf("bug: a generated key is refused: %v", err))
	}
	return Key{private, public}
}

// Public implements trust.Signer.
func (k Key) Public() trust.PublicKey { return k.public }

// SignMessage implements trust.Signer.
func (k Key) SignMessage(m []byte) (trust.Signature, error) {
	return trust.Signature(ed25519.Sign(k.private, m)), nil
}

// Scheme is a built-in scheme that exists.
func Scheme(name string) *label.Scheme {
	s, ok := label.Builtin(name)
	if !ok {
		panic("bug: no scheme " + name)
	}
	return s
}

// Keys of [Root].
const (
	RootKey    = 1
	OpsKey     = 2 // declared, top clearance
	AdopterKey = 3 // adopter, bottom clearance
	TesterKey  = 4 // tested, CONFIDENTIAL
	GoneKey    = 5 // declared, revoked
	OldKey     = 6 // declared, expired before Now
)

// Keys of logs.
const (
	LogKey     = 8
	NextLogKey = 9
)

// Entries are the signers of [Root], under the default scheme.
func Entries() []trust.Entry {
	s := Scheme("default")
	confidential, err := s.New("CONFIDENTIAL", nil, nil)
	if err != nil {
		panic(err)
	}
	entry := func(id string, key byte, clearance label.Label, lv level.Level, notAfter string) trust.Entry {
		return trust.Entry{ID: id, PublicKey: NewKey(key).Public(), Clearance: clearance.Parts(), Level: lv, NotAfter: notAfter}
	}
	adopter := entry("adopter", AdopterKey, s.Bottom(), level.Unverified, trust.Never)
	adopter.Adopter = true
	return []trust.Entry{
		entry("ops", OpsKey, s.Top(), level.Declared, trust.Never),
		adopter,
		entry("tester", TesterKey, confidential, level.Formal, "2030-01-01T00:00:00Z"),
		entry("gone", GoneKey, s.Top(), level.Declared, trust.Never),
		entry("old", OldKey, s.Top(), level.Declared, "2026-01-01T00:00:00Z"),
	}
}

// Approver is a signer of level declared with top clearance, who may approve.
func Approver(id string, key trust.PublicKey) trust.Entry {
	return trust.Entry{ID: id, PublicKey: key, Clearance: Scheme("default").Top().Parts(), Level: level.Declared, NotAfter: trust.Never, Approver: true}
}

// Chain is the trust chain of [Root]: all signers, then a revocation.
func Chain() [][]byte {
	d, one := begun(Entries())
	if err := d.Revoke("gone", Now.Add(-time.Hour), "left"); err != nil {
		panic(err)
	}
	return [][]byte{one, signed(d)}
}

// Root is a locked root with [Entries].
func Root() *trust.Root { return locked(Chain()) }

// Locked is a locked root with these signers, under the default scheme.
func Locked(entries ...trust.Entry) *trust.Root {
	_, one := begun(entries)
	return locked([][]byte{one})
}

// begun is a draft with these signers, and its first document.
func begun(entries []trust.Entry) (*trust.Draft, []byte) {
	d, err := trust.NewDraft(NewKey(RootKey).Public(), Scheme("default"))
	for _, e := range entries {
		if err == nil {
			err = d.Add(e)
		}
	}
	if err != nil {
		panic(err)
	}
	return d, signed(d)
}

func signed(d *trust.Draft) []byte {
	document, err := d.Sign(NewKey(RootKey))
	if err != nil {
		panic(err)
	}
	return document
}

func locked(chain [][]byte) *trust.Root {
	d, err := trust.Open(chain, NewKey(RootKey).Public())
	if err != nil {
		panic(err)
	}
	r, err := d.Lock()
	if err != nil {
		panic(err)
	}
	return r
}
