package main

import (
	"crypto/sha512"

	"filippo.io/edwards25519"
)

// plus adds two points of the curve.
func plus(a, b []byte) []byte {
	p := must(new(edwards25519.Point).SetBytes(a))
	q := must(new(edwards25519.Point).SetBytes(b))
	return p.Add(p, q).Bytes()
}

// challengeTimesSecret is k·a of RFC 8032, section 5.1.6: k the hash of the
// message, a the secret scalar of the seed.
func challengeTimesSecret(message, seed []byte) []byte {
	secret, hash := sha512.Sum512(seed), sha512.Sum512(message)
	a := must(edwards25519.NewScalar().SetBytesWithClamping(secret[:32]))
	k := must(edwards25519.NewScalar().SetUniformBytes(hash[:]))
	return k.Multiply(k, a).Bytes()
}
