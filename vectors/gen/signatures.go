package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/trust"
)

func signatureVectors() []vector {
	return append(append(keyVectors(), signedVectors()...), directoryVectors()...)
}

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func fromHex(s string) []byte { return must(hex.DecodeString(s)) }

const (
	identity      = "0100000000000000000000000000000000000000000000000000000000000000"
	orderTwo      = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
	orderFour     = "0000000000000000000000000000000000000000000000000000000000000000"
	orderEight    = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
	identityPlusP = "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
	identityMinus = "0100000000000000000000000000000000000000000000000000000000000080"
	notOnCurve    = "0200000000000000000000000000000000000000000000000000000000000000"
)

// keyVectors: whether 32 bytes, as text, are a public key.
func keyVectors() []vector {
	good := trusttest.NewKey(trusttest.OpsKey).Public()
	text := good.String()
	mixed := base64Of(plus(good.Bytes(), fromHex(orderEight)))
	out := []vector{
		vector{name: "key-ok", expect: "ok", comment: "the key pair of the seed of 32 bytes 02", payload: []byte(text)}.
			with("kind", "key").with("fingerprint", good.Fingerprint()),
	}
	for _, r := range []struct{ expect, name, comment, text string }{
		{"key-small-order", "identity", "the identity: one signature verifies for every message", base64Of(fromHex(identity))},
		{"key-small-order", "two", "the point of order 2", base64Of(fromHex(orderTwo))},
		{"key-small-order", "four", "a point of order 4", base64Of(fromHex(orderFour))},
		{"key-small-order", "eight", "a point of order 8", base64Of(fromHex(orderEight))},
		{"key-mixed-order", "eight", "a good key plus a point of order 8", mixed},
		{"key-encoding", "y-plus-p", "the identity with y = p + 1", base64Of(fromHex(identityPlusP))},
		{"key-encoding", "minus-zero", "the identity with the sign of x set, where x is 0", base64Of(fromHex(identityMinus))},
		{"key-encoding", "off-curve", "no point has this y", base64Of(fromHex(notOnCurve))},
		{"key-encoding", "url", "base64 in the alphabet of URLs", base64.URLEncoding.EncodeToString(trusttest.NewKey(7).Public().Bytes())},
		{"key-encoding", "tail-bits", "base64 with bits set behind the last byte", tailBits(text)},
		{"key-size", "short", "31 bytes", base64Of(good.Bytes()[:31])},
		{"key-size", "empty", "no bytes", ""},
	} {
		out = append(out, vector{name: r.expect + "-" + r.name, expect: r.expect, comment: r.comment, payload: []byte(r.text)}.with("kind", "key"))
	}
	return out
}

// tailBits changes the last letter of padded base64 where it holds unused bits.
func tailBits(text string) string {
	i := len(strings.TrimRight(text, "=")) - 1
	return text[:i] + string(text[i]+1) + text[i+1:]
}

// statement is what is signed, and who says so.
type statement struct {
	Content   string        `json:"content"`
	Manifest  canonical.Raw `json:"manifest"`
	PublicKey string        `json:"publicKey"`
	Signature string        `json:"signature"`
}

func (s statement) form() []byte {
	return must(canonical.Marshal(struct {
		Content  string        `json:"content"`
		Manifest canonical.Raw `json:"manifest"`
	}{s.Content, s.Manifest}))
}

// ops is the key of the signer that the manifests of the vectors name.
func ops() trusttest.Key { return trusttest.NewKey(trusttest.OpsKey) }

// good is a statement that holds.
func good() statement {
	s := statement{
		Content:   rootOf(listOf(directory())),
		Manifest:  must(canonical.NewRaw([]byte(manifestText), canonical.Limits{})),
		PublicKey: ops().Public().String(),
	}
	return s.signed(trust.DomainSkill, ops())
}

func (s statement) signed(d trust.Domain, key trusttest.Key) statement {
	sig := must(key.SignMessage(trust.Message(d, s.form())))
	s.Signature = base64Of(sig[:])
	return s
}

// bytes of the signature, to be changed and put back.
func (s statement) bytes() []byte { return must(base64.StdEncoding.DecodeString(s.Signature)) }

func (s statement) with(edit func(sig []byte) []byte) statement {
	s.Signature = base64Of(edit(s.bytes()))
	return s
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 1; return b }
}

func signedVectors() []vector {
	sum := sha256.Sum256(good().form())
	out := []vector{
		vector{name: "signature-ok", expect: "ok", comment: "the signature of the key over content root and manifest", payload: pretty(good())}.
			with("kind", "signature").with("subject", hex.EncodeToString(sum[:])),
	}
	add := func(expect, name, comment string, s statement) {
		out = append(out, vector{name: expect + "-" + name, expect: expect, comment: comment, payload: pretty(s)}.with("kind", "signature"))
	}
	edited := func(edit func(*statement)) statement { s := good(); edit(&s); return s }
	add("signature-invalid", "content", "one digit of the content root is another", edited(func(s *statement) { s.Content = "0" + s.Content[1:] }))
	add("signature-invalid", "manifest", "another version of the manifest", edited(func(s *statement) { s.Manifest = changedManifest() }))
	add("signature-invalid", "key", "signed by another key", good().signed(trust.DomainSkill, trusttest.NewKey(trusttest.TesterKey)))
	add("signature-invalid", "domain", "the same bytes signed as a trust document", good().signed(trust.DomainTrust, ops()))
	add("signature-invalid", "bit-r", "one bit of R is another", good().with(flip(0)))
	add("signature-invalid", "bit-s", "one bit of S is another", good().with(flip(40)))
	add("signature-invalid", "zero", "64 zeros", good().with(func(b []byte) []byte { return make([]byte, len(b)) }))
	add("signature-invalid", "s-plus-l", "S and the order of the group added: another spelling of a good signature", good().with(plusL))
	add("signature-invalid", "cofactor", "R is of order 8: only the equation multiplied by the cofactor holds", weird(fromHex(orderEight)))
	add("signature-invalid", "r-encoding", "R is the identity in an encoding that is not canonical", weird(fromHex(identityPlusP)))
	add("signature-encoding", "short", "63 bytes", good().with(func(b []byte) []byte { return b[:63] }))
	add("signature-encoding", "tail-bits", "base64 with bits set behind the last byte", edited(func(s *statement) { s.Signature = tailBits(s.Signature) }))
	add("key-small-order", "signature", "R the identity and S zero: the equation holds for every message", edited(func(s *statement) {
		s.PublicKey, s.Signature = base64Of(fromHex(identity)), base64Of(append(fromHex(identity), make([]byte, 32)...))
	}))
	return out
}

func changedManifest() canonical.Raw {
	return must(canonical.NewRaw([]byte(strings.Replace(manifestText, `"version": 3`, `"version": 4`, 1)), canonical.Limits{}))
}

// plusL adds the order of the prime-order group to S.
func plusL(sig []byte) []byte {
	s := slices.Clone(sig[32:])
	slices.Reverse(s)
	l, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	out := new(big.Int).Add(new(big.Int).SetBytes(s), l).FillBytes(make([]byte, 32))
	slices.Reverse(out)
	return append(sig[:32:32], out...)
}

// weird signs good's statement with the R that is given and S = k·a, so that
// S·B = k·A.
func weird(r []byte) statement {
	s := good()
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = trusttest.OpsKey
	}
	message := append(append(slices.Clone(r), ops().Public().Bytes()...), trust.Message(trust.DomainSkill, s.form())...)
	s.Signature = base64Of(append(slices.Clone(r), challengeTimesSecret(message, seed)...))
	return s
}
