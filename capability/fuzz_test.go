package capability

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/visible"
)

// Whatever is accepted is visible text, reads back as itself and, without
// wildcards, covers itself; whatever spelling an error proposes is accepted.
func FuzzParseGrant(f *testing.F) {
	for _, text := range accepted {
		f.Add(text)
	}
	for _, c := range refusedGrants {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGrant(text)
		if err != nil {
			checkRefusal(t, asError(err), len(text))
			if e := asError(err); e.Canonical != "" && mustGrant(t, e.Canonical).String() == text {
				t.Fatalf("%q is refused and proposed", text)
			}
			return
		}
		if again := mustGrant(t, g.String()); again != g || g.String() != text {
			t.Fatalf("%q becomes %q", text, again)
		}
		checkVisible(t, text)
		if g.Bare() {
			return
		}
		// An argument without wildcards is a target, and the grant covers it.
		argument := text[len(g.Capability().String())+1 : len(text)-1]
		to, err := ParseTarget(g.Capability(), argument)
		if isPattern(g.code) != (err != nil) {
			t.Fatalf("%q as a target: %v", argument, err)
		}
		if err == nil && !g.Covers(to) {
			t.Fatalf("%q does not cover itself", text)
		}
	})
}

// Whatever target is accepted is one thing: it reads back, its accessors
// rebuild it, and the literal grant covers it as the reference says.
func FuzzParseTarget(f *testing.F) {
	for _, c := range coverCases {
		g, err := ParseGrant(c.grant)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(g.Capability()), c.target, c.grant)
	}
	for _, c := range refusedGrants {
		f.Add(uint8(FSRead), c.text, "fs.read(**)")
	}
	f.Fuzz(func(t *testing.T, c uint8, text, grant string) {
		to, err := ParseTarget(Capability(c), text)
		if err != nil {
			checkRefusal(t, asError(err), len(text))
			if e := asError(err); e.Canonical != "" {
				mustTarget(t, Capability(c), e.Canonical)
			}
			return
		}
		checkVisible(t, text)
		if again, err := rebuild(to); err != nil || again != to || to.String() != text {
			t.Fatalf("%q is rebuilt as %q, %v", text, again, err)
		}
		if literal, err := Literal(to); err == nil && !literal.Covers(to) {
			t.Fatalf("%s does not cover %q", literal, to)
		}
		g, err := ParseGrant(grant)
		if err != nil || g.Capability() != to.Capability() || strings.Count(grant, "*") > 4 || len(text) > 64 {
			return
		}
		if want := referenceCovers(grant, text); g.Covers(to) != want {
			t.Fatalf("%s covers %q: %v, want %v", g, to, !want, want)
		}
	})
}

// Whatever envelope is accepted is its own only form.
func FuzzParseEnvelope(f *testing.F) {
	f.Add([]byte(plainEnvelope))
	f.Add([]byte(strings.Replace(plainEnvelope, "fs.read", "spawn.proc", 1)))
	f.Add([]byte(`{"arguments":{},"capability":"pay","reasoning":"","schema":"iff/call/v1","target":"usd,1.5"}`))
	f.Add([]byte(` {"target":"a","Target":"b"}`))
	f.Add([]byte("\ufe0b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEnvelope(data)
		if err != nil {
			checkRefusal(t, asError(err), len(data))
			return
		}
		if !bytes.Equal(e.Bytes(), data) {
			t.Fatalf("%q becomes %q", data, e.Bytes())
		}
		again, err := NewEnvelope(Call{e.Target(), []byte(e.Arguments()), e.Reasoning()})
		if err != nil || again != e {
			t.Fatalf("%q is made again as %q, %v", data, again.Bytes(), err)
		}
	})
}

func checkRefusal(t *testing.T, e *Error, size int) {
	t.Helper()
	if e.Reason == "" || e.Detail == "" || e.Offset < -1 || e.Offset > size {
		t.Fatalf("refused with %q at %d of %d: %s", e.Reason, e.Offset, size, e.Detail)
	}
	proposes := e.Reason == GrantNotCanonical || e.Reason == TargetNotCanonical
	if proposes != (e.Canonical != "") {
		t.Fatalf("%s with the canonical spelling %q", e.Reason, e.Canonical)
	}
	for spot := range visible.Spots(e.Error()) {
		t.Fatalf("U+%04X in the error %q", spot.Rune, e)
	}
}

func checkVisible(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.IndexFunc(text, hidden) >= 0 {
		t.Fatalf("%q has something invisible", text)
	}
}
