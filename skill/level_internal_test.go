package skill

import (
	"testing"

	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/trust"
)

// The loader does not rely on the trust document having been checked: an
// adopter attests nothing above unverified, whatever its entry says.
func TestAdopterAttestsNothingWhateverItsEntrySays(t *testing.T) {
	s := trusttest.Scheme("default")
	m, err := manifest.Fields{
		Schema: manifest.Schema, Name: "a", Version: 1, Label: s.Bottom().Parts(), Caps: []string{}, Signer: "adopter", Verification: "declared",
	}.Freeze(s)
	if err != nil {
		t.Fatal(err)
	}
	v := verification{m: m, entry: trust.Entry{ID: "adopter", Level: level.Formal}}
	if _, err := v.level(); err != nil {
		t.Fatalf("the same entry, not an adopter: %v", err)
	}
	v.entry.Adopter = true
	if _, err := v.level(); err == nil || err.Reason != LevelAboveSigner {
		t.Errorf("an adopter attests declared: %v", err)
	}
}
