package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/manifest"
)

func fields() manifest.Fields {
	return manifest.Fields{
		Schema: manifest.Schema, Name: "pdf", Version: 7, Label: trusttest.Scheme("default").Bottom().Parts(),
		Caps: []string{"fs.read(reports/**)", "spawn.proc(qpdf **)"}, Signer: "ops", Verification: "declared", Summary: "reads reports",
	}
}

func freeze(tb testing.TB, f manifest.Fields) manifest.Manifest {
	tb.Helper()
	m, err := f.Freeze(trusttest.Scheme("default"))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	m := freeze(t, fields())
	text, err := m.Pretty()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"pretty": text, "canonical": m.Canonical()} {
		back, err := manifest.Parse(data, trusttest.Scheme("default"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if string(back.Canonical()) != string(m.Canonical()) || back.Level() != level.Declared || back.Version() != 7 ||
			back.Signer() != "ops" || back.Summary() != "reads reports" || back.Label() != m.Label() {
			t.Errorf("%s: %s", name, back.Canonical())
		}
	}
}

// A manifest that was handed out cannot be changed through what it gave away.
func TestFrozen(t *testing.T) {
	f := fields()
	m := freeze(t, f)
	before := string(m.Canonical())
	f.Caps[0] = "pay"
	f.Label.Releasable[0] = "X"
	out := m.Fields()
	out.Caps[0] = "pay"
	out.Label.Releasable[0] = "X"
	m.Canonical()[0] = 'X'
	if string(m.Canonical()) != before || m.Grants().Declares(capability.Pay) {
		t.Errorf("it is now %s", m.Canonical())
	}
}

func TestZeroManifestIsNobody(t *testing.T) {
	var m manifest.Manifest
	if m.Level() != level.Unverified || m.Grants().Len() != 0 || m.Name() != "" || !m.Label().IsAbsent() {
		t.Errorf("%+v", m)
	}
}

func TestCausesStayReachable(t *testing.T) {
	s := trusttest.Scheme("default")
	f := fields()
	f.Label.Rank = "COSMIC"
	_, err := f.Freeze(s)
	var le *label.Error
	if !errors.As(err, &le) || manifest.Token(err) != "rank-unknown" {
		t.Errorf("label: %v", err)
	}
	f = fields()
	f.Caps = []string{"fs.peek"}
	_, err = f.Freeze(s)
	var ce *capability.Error
	if !errors.As(err, &ce) || manifest.Token(err) != "capability-unknown" {
		t.Errorf("caps: %v", err)
	}
	_, err = manifest.Parse([]byte("{"), s)
	var me *manifest.Error
	if !errors.As(err, &me) || me.Offset < 0 {
		t.Errorf("syntax: %v", err)
	}
	if got := manifest.Token(errors.New("x")); got != "" {
		t.Errorf("an error without a token has %q", got)
	}
}

func TestSummaryIsVisible(t *testing.T) {
	for _, bad := range []string{"a\nb", "a\u202eb", "a\u200bb", "\x1b[31mred", strings.Repeat("x", 301)} {
		f := fields()
		f.Summary = bad
		if _, err := f.Freeze(trusttest.Scheme("default")); manifest.Token(err) != "summary-invalid" {
			t.Errorf("%q: %v", bad, err)
		}
	}
	f := fields()
	f.Summary = "liest Berichte, 日本語"
	freeze(t, f)
}

func FuzzParse(f *testing.F) {
	s := trusttest.Scheme("default")
	m := freeze(f, fields())
	text, err := m.Pretty()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(m.Canonical())
	f.Add([]byte(`{"schema":"iff/skill/v1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := manifest.Parse(data, s)
		if err != nil {
			if manifest.Token(err) == "" {
				t.Fatalf("%q is refused without a token: %v", data, err)
			}
			return
		}
		back, err := manifest.Parse(m.Canonical(), s)
		if err != nil || string(back.Canonical()) != string(m.Canonical()) {
			t.Fatalf("%q does not round trip: %v", data, err)
		}
		if m.Name() == "" || m.Version() < 1 || m.Label().IsAbsent() {
			t.Fatalf("%q parses as %s", data, m.Canonical())
		}
	})
}

func BenchmarkParse(b *testing.B) {
	s := trusttest.Scheme("default")
	text, err := freeze(b, fields()).Pretty()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := manifest.Parse(text, s); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	scheme, _ := label.Builtin("default")
	_, err := manifest.Parse([]byte(`{"schema":"iff/skill/v1","name":"pdf","Name":"other"}`), scheme)
	fmt.Println(manifest.Token(err))
	// Output: case-key
}
