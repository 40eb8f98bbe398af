package trust_test

import (
	"encoding/hex"
	"testing"

	"filippo.io/edwards25519"

	"github.com/iff-run/iff/internal/trusttest"
)

// mixedOrder is a good key plus a point of order eight.
func mixedOrder(t *testing.T) []byte {
	t.Helper()
	good, err := new(edwards25519.Point).SetBytes(trusttest.NewKey(6).Public().Bytes())
	must(t, err)
	raw, err := hex.DecodeString(smallOrder[4])
	must(t, err)
	torsion, err := new(edwards25519.Point).SetBytes(raw)
	must(t, err)
	return good.Add(good, torsion).Bytes()
}
