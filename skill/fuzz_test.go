package skill_test

import (
	"testing"

	"github.com/iff-run/iff/skill"
)

// FuzzVerify gives a skill every manifest and signature file it can think of:
// what loads is what was signed, nothing else.
func FuzzVerify(f *testing.F) {
	p, under := read(f, signed(f)), terms()
	s := p.Sidecar()
	want := skill.Verify(p, under).Skill
	f.Add(s.Manifest, s.Signature)
	f.Add([]byte("{}"), []byte("{}"))
	f.Add(s.Signature, s.Manifest)
	f.Fuzz(func(t *testing.T, manifest, signature []byte) {
		r := skill.Verify(p.WithSidecar(skill.Sidecar{Manifest: manifest, Signature: signature}), under)
		switch {
		case r.Err == nil && r.Skill != want:
			t.Fatalf("loads as %+v", r.Skill)
		case r.Err != nil && (r.Err.Reason == "" || r.Err.Step < 1 || r.Err.Step > 7):
			t.Fatalf("refused without a reason: %+v", r.Err)
		}
	})
}
