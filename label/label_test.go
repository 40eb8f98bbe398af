package label

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAbsentIsRefusedEverywhere(t *testing.T) {
	s, universe := small(t)
	var absent Label
	if !absent.IsAbsent() || absent.String() != "absent" || absent.LessEq(absent) || !absent.Join(absent).IsAbsent() || s.Has(absent) {
		t.Error("the zero label is not absent")
	}
	for _, l := range universe {
		if absent.LessEq(l) || l.LessEq(absent) || !absent.Join(l).IsAbsent() || !l.Join(absent).IsAbsent() || l.IsAbsent() {
			t.Errorf("absent is ordered with or joins %s", l)
		}
		if absent.Beyond(l) == "" || l.Beyond(absent) == "" {
			t.Errorf("absent is within %s", l)
		}
	}
	if absent.Rank() != "" || absent.Compartments() != nil || absent.Releasable() != nil {
		t.Error("absent has parts")
	}
	if _, err := absent.MarshalText(); !isReason(err, LabelAbsent) {
		t.Errorf("absent marshals: %v", err)
	}
	if _, err := s.FromParts(absent.Parts()); !isReason(err, RankUnknown) {
		t.Errorf("absent has parts that make a label: %v", err)
	}
	for _, name := range BuiltinNames() {
		if _, err := mustBuiltin(t, name).Parse(absent.String()); !isReason(err, RankUnknown) {
			t.Errorf("absent parses in %s: %v", name, err)
		}
	}
}

func TestLabelsOfDifferentSchemes(t *testing.T) {
	a := mustBuiltin(t, "generic").Bottom()
	b := mustBuiltin(t, "default").Bottom()
	if a.String() != b.String() || a == b {
		t.Fatalf("%v and %v should have one text and differ", a, b)
	}
	if a.LessEq(b) || b.LessEq(a) || !a.Join(b).IsAbsent() || mustBuiltin(t, "default").Has(a) {
		t.Error("labels of different schemes are ordered or join")
	}
	if got := a.Beyond(b); !strings.Contains(got, "scheme generic") || !strings.Contains(got, "scheme default") {
		t.Error(got)
	}
}

func TestEqualSchemesAreOne(t *testing.T) {
	d := mustBuiltin(t, "us-government").Data()
	d.Name = "ours"
	a := mustScheme(t, d)
	slices.Reverse(d.Compartments)
	slices.Reverse(d.Releasable)
	b := mustScheme(t, d)
	slices.Reverse(d.Ranks)
	c := mustScheme(t, d)
	if a == b || a.Top() != b.Top() || !a.Bottom().LessEq(b.Top()) || !a.Has(b.Top()) || a.Digest() != b.Digest() {
		t.Error("a scheme parsed twice is two")
	}
	if a.Has(c.Top()) || a.Digest() == c.Digest() {
		t.Error("another order of ranks is the same scheme")
	}
	if m := map[Label]int{a.Top(): 1}; m[b.Top()] != 1 {
		t.Error("not one map key")
	}
}

func TestBeyond(t *testing.T) {
	s := mustBuiltin(t, "us-government")
	clearance := mustParse(t, s, "SECRET//SI//REL CAN,USA")
	for text, want := range map[string]string{
		"SECRET":                     "",
		"CUI//SI//REL CAN,USA":       "",
		"TOP SECRET":                 "rank TOP SECRET is above SECRET",
		"SECRET//HCS,SI,TK":          "not cleared for HCS,TK",
		"SECRET//REL AUS,USA":        "not releasable to CAN",
		"TOP SECRET//TK//REL NOBODY": "rank TOP SECRET is above SECRET; not cleared for TK; not releasable to CAN,USA",
	} {
		if got := mustParse(t, s, text).Beyond(clearance); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func mustParse(t testing.TB, s *Scheme, text string) Label {
	t.Helper()
	l, err := s.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestVerbsPrintText(t *testing.T) {
	l := mustParse(t, mustBuiltin(t, "us-government"), "SECRET//SI,TK//REL USA")
	if got := fmt.Sprintf("%v %s", l, l); got != "SECRET//SI,TK//REL USA SECRET//SI,TK//REL USA" {
		t.Error(got)
	}
	text, err := l.MarshalText()
	if err != nil || string(text) != l.String() {
		t.Errorf("%s, %v", text, err)
	}
}
