package witness

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/trust"
)

// typeCosignature is the signature type of Ed25519 cosignatures in signed-note.
const typeCosignature = 4

// cosigner is the witness's own key.
type cosigner struct {
	signer   note.Signer
	verifier note.Verifier
	vkey     string
}

// newSignerKey makes a key in the form that the key file has.
func newSignerKey(name string) (string, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return "", err
	}
	return encodeSigner(name, seed, publicOf(seed)), nil
}

func encodeSigner(name string, seed, public []byte) string {
	return "PRIVATE+KEY+" + name + "+" + keyID(name, public) + "+" + encodeKey(seed)
}

func publicOf(seed []byte) []byte { return ed25519.NewKeyFromSeed(seed)[ed25519.SeedSize:] }

func encodeKey(key []byte) string {
	return base64.StdEncoding.EncodeToString(append([]byte{typeCosignature}, key...))
}

// keyID is SHA-256(name, newline, type, public key), its first four bytes in hexadecimal.
func keyID(name string, public []byte) string {
	sum := sha256.Sum256(append(append([]byte(name), '\n', typeCosignature), public...))
	return fmt.Sprintf("%x", sum[:4])
}

var errKey = errors.New("not a signer key for cosignatures, or damaged")

// parseSigner reads a key. Every bit of it is checked against the key's id.
func parseSigner(skey string) (*cosigner, error) {
	part := strings.SplitN(skey, "+", 5)
	if len(part) != 5 {
		return nil, errKey
	}
	name, raw := part[2], part[4]
	key, err := base64.StdEncoding.DecodeString(raw)
	if err != nil || len(key) != 1+ed25519.SeedSize {
		return nil, errKey
	}
	public := publicOf(key[1:])
	if encodeSigner(name, key[1:], public) != skey {
		return nil, errKey
	}
	if visible.Escape(name) != name {
		return nil, errors.New("its name has characters that people cannot see")
	}
	c := &cosigner{vkey: name + "+" + keyID(name, public) + "+" + encodeKey(public)}
	signer, err := cosignature.NewSignerForCosignatureV1(skey)
	if err != nil {
		return nil, err
	}
	c.signer = signer
	c.verifier, err = cosignature.NewVerifierForCosignatureV1(c.vkey)
	return c, err
}

// parseLog reads the verifier key of a log: Ed25519 of signed-note, and a key that somebody can have generated.
func parseLog(vkey string) (note.Verifier, error) {
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.SplitN(vkey, "+", 3)[2])
	if err != nil {
		return nil, err
	}
	if _, err := trust.NewPublicKey(key[1:]); err != nil {
		return nil, err
	}
	return v, nil
}
