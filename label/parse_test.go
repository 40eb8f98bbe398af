package label

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func isReason(err error, r Reason) bool { return errors.Is(err, &Error{Reason: r}) }

func TestCanonicalTexts(t *testing.T) {
	s := mustBuiltin(t, "us-government")
	all := []string{"AUS", "CAN", "GBR", "NZL", "USA"}
	for text, want := range map[string]Parts{
		"UNCLASSIFIED":                        {"UNCLASSIFIED", []string{}, all},
		"TOP SECRET":                          {"TOP SECRET", []string{}, all},
		"SECRET//SI,TK":                       {"SECRET", []string{"SI", "TK"}, all},
		"SECRET//NOFORN//REL USA":             {"SECRET", []string{"NOFORN"}, []string{"USA"}},
		"TOP SECRET//REL CAN,GBR,USA":         {"TOP SECRET", []string{}, []string{"CAN", "GBR", "USA"}},
		"CUI//REL NOBODY":                     {"CUI", []string{}, []string{}},
		"TOP SECRET//HCS//REL NOBODY":         {"TOP SECRET", []string{"HCS"}, []string{}},
		"CONFIDENTIAL//SI,SI-G,TK":            {"CONFIDENTIAL", []string{"SI", "SI-G", "TK"}, all},
		"TOP SECRET//SI//REL AUS,CAN,GBR,NZL": {"TOP SECRET", []string{"SI"}, []string{"AUS", "CAN", "GBR", "NZL"}},
	} {
		l, err := s.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := l.Parts()
		if got.Rank != want.Rank || !slices.Equal(got.Compartments, want.Compartments) || !slices.Equal(got.Releasable, want.Releasable) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
		if got.Compartments == nil || got.Releasable == nil {
			t.Errorf("%s: a set is nil and would be null in JSON", text)
		}
		if l.String() != text {
			t.Errorf("%s: printed as %s", text, l)
		}
		if again, err := s.FromParts(want); err != nil || again != l {
			t.Errorf("%s: from parts %v, %v", text, again, err)
		}
	}
}

func TestTextsRefused(t *testing.T) {
	s := mustBuiltin(t, "us-government")
	for _, c := range []struct {
		text   string
		reason Reason
		offset int
		says   string
	}{
		{"", LabelSyntax, 0, "UNCLASSIFIED"},
		{strings.Repeat("A", maxText+1), LabelSyntax, maxText, "longer"},
		{"SECRET//", LabelSyntax, 8, "compartment is missing"},
		{"SECRET//SI,", LabelSyntax, 11, "compartment is missing"},
		{"SECRET//SI,,TK", LabelSyntax, 11, "compartment is missing"},
		{"SECRET//REL", LabelSyntax, 11, "REL NOBODY"},
		{"SECRET//REL ", LabelSyntax, 12, "REL NOBODY"},
		{"SECRET//REL//SI", LabelSyntax, 11, "last"},
		{"SECRET//REL USA//SI", LabelSyntax, 15, "last"},
		{"SECRET//REL USA,", LabelSyntax, 16, "principal is missing"},
		{"SECRET//SI//TK", LabelSyntax, 12, "only a REL part"},
		{"SECRET//SI//", LabelSyntax, 12, "only a REL part"},
		{"SECRET//SI//REL USA//REL CAN", LabelSyntax, 19, "last"},
		{"SECRET//REL USA//REL USA", LabelSyntax, 15, "last"},

		{"secret", RankUnknown, 0, "nearest is SECRET"},
		{"TOPSECRET", RankUnknown, 0, "nearest is TOP SECRET"},
		{"absent", RankUnknown, 0, "UNCLASSIFIED, CUI, CONFIDENTIAL, SECRET, TOP SECRET"},
		{"//SI", LabelSyntax, 0, "rank is missing"},
		{" ", LabelSyntax, 0, "rank is missing"},
		{"S\u0415CRET", RankUnknown, 0, `"S\u0415CRET"`},
		{"SECRET\n", RankUnknown, 0, `"SECRET\n"`},
		{"SECRET/SI", RankUnknown, 0, "is not in scheme"},
		{"SECRET//SI//rel USA", LabelSyntax, 12, "only a REL part"},
		{"SECRET//rel USA", CompartmentUnknown, 8, "is not in scheme"},
		{"SECRET//SI,XX", CompartmentUnknown, 11, `"XX"`},
		{"SECRET//USA", CompartmentUnknown, 8, "where it is a principal"},
		{"SECRET//NOFRON", CompartmentUnknown, 8, "nearest is NOFORN"},
		{"SECRET//REL NOFORN", ReleasableUnknown, 12, "where it is a compartment"},
		{"SECRET//REL FVEY", ReleasableUnknown, 12, "a group is written as its members"},
		{"SECRET//REL USA,NOBODY", ReleasableUnknown, 16, "REL NOBODY alone"},
		{"SECRET//REL TO USA", ReleasableUnknown, 12, "is not in scheme"},

		{" SECRET", LabelNotCanonical, 0, `write "SECRET"`},
		{"SECRET ", LabelNotCanonical, 6, `write "SECRET"`},
		{"SECRET//TK,SI", LabelNotCanonical, 8, `write "SECRET//SI,TK"`},
		{"SECRET//SI,SI", LabelNotCanonical, 10, `write "SECRET//SI"`},
		{"SECRET//SI, TK", LabelNotCanonical, 11, `write "SECRET//SI,TK"`},
		{"SECRET//REL USA, GBR", LabelNotCanonical, 12, `write "SECRET//REL GBR,USA"`},
		{"SECRET//REL  USA", LabelNotCanonical, 12, `write "SECRET//REL USA"`},
		{"SECRET//REL AUS,CAN,GBR,NZL,USA", LabelNotCanonical, 6, `write "SECRET"`},
		{"SECRET//REL NOBODY ", LabelNotCanonical, 18, `write "SECRET//REL NOBODY"`},
	} {
		l, err := s.Parse(c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: accepted as %s", c.text, l)
			continue
		}
		if e.Reason != c.reason || e.Offset != c.offset || e.Field != "" || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%q: %v at %d, want %s at %d saying %q", c.text, err, e.Offset, c.reason, c.offset, c.says)
		}
		if !l.IsAbsent() {
			t.Errorf("%q: a label beside the error", c.text)
		}
	}
}

// spellings are texts of one label; a reader must take exactly one of them.
func spellings() []string {
	return []string{"SECRET//SI,TK//REL GBR,USA", "SECRET//TK,SI//REL GBR,USA", "SECRET//SI,TK//REL USA,GBR",
		"SECRET//SI,SI,TK//REL GBR,USA", "SECRET //SI,TK//REL GBR,USA", "SECRET//SI, TK//REL GBR,USA"}
}

func TestOneSpellingPerLabel(t *testing.T) {
	s := mustBuiltin(t, "us-government")
	accepted := func(parse func(string) (Label, error)) (n int) {
		for _, text := range spellings() {
			if _, err := parse(text); err == nil {
				n++
			}
		}
		return n
	}
	if n := accepted(s.Parse); n != 1 {
		t.Errorf("%d spellings are accepted", n)
	}
	// The mutant without the comparison with String.
	if n := accepted(s.read); n != len(spellings()) {
		t.Errorf("the check does not tell a lenient reader: it accepted %d", n)
	}
}

func TestPartsRefused(t *testing.T) {
	s := mustBuiltin(t, "us-government")
	for _, c := range []struct {
		parts  Parts
		reason Reason
		field  string
		says   string
	}{
		{Parts{}, RankUnknown, "/rank", "the ranks are"},
		{Parts{Rank: "Secret"}, RankUnknown, "/rank", "nearest is SECRET"},
		{Parts{Rank: "SECRET "}, RankUnknown, "/rank", "nearest is SECRET"},
		{Parts{"SECRET", []string{"SI", "FOO"}, nil}, CompartmentUnknown, "/compartments/1", `"FOO"`},
		{Parts{"SECRET", []string{""}, nil}, CompartmentUnknown, "/compartments/0", `""`},
		{Parts{"SECRET", nil, []string{"NOBODY"}}, ReleasableUnknown, "/releasable/0", "an empty list"},
		{Parts{"SECRET", nil, []string{"USA", "FVEY"}}, ReleasableUnknown, "/releasable/1", "its members"},
		{Parts{"SECRET", []string{"TK", "SI"}, nil}, LabelNotCanonical, "/compartments/1", "SI,TK"},
		{Parts{"SECRET", []string{"SI", "SI"}, nil}, LabelNotCanonical, "/compartments/1", "without duplicates"},
		{Parts{"SECRET", []string{"SI"}, []string{"CAN", "USA", "GBR"}}, LabelNotCanonical, "/releasable/2", "CAN,GBR,USA"},
		{Parts{"SECRET", []string{"TK", "SI"}, []string{"XXX"}}, ReleasableUnknown, "/releasable/0", `"XXX"`},
	} {
		l, err := s.FromParts(c.parts)
		var e *Error
		if !errors.As(err, &e) || !l.IsAbsent() {
			t.Errorf("%+v: accepted as %s", c.parts, l)
			continue
		}
		if e.Reason != c.reason || e.Field != c.field || e.Offset != -1 || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%+v: %v, want %s at %s saying %q", c.parts, err, c.reason, c.field, c.says)
		}
	}
}

func TestPartsAreCopies(t *testing.T) {
	s := mustBuiltin(t, "us-government")
	l := mustParse(t, s, "SECRET//SI,TK//REL USA")
	p := l.Parts()
	p.Compartments[0], p.Releasable[0] = "HCS", "GBR"
	if l.String() != "SECRET//SI,TK//REL USA" {
		t.Error(l)
	}
}

func TestErrorText(t *testing.T) {
	s := mustBuiltin(t, "generic")
	_, err := s.Parse("INTERNAL//LEGAL")
	want := `label byte 10: compartment "LEGAL" is not in scheme generic; it has no compartments (compartment-unknown)`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = s.New("CONFIDENTAL", nil, nil)
	want = `label /rank: rank "CONFIDENTAL" is not in scheme generic; nearest is CONFIDENTIAL; the ranks are PUBLIC, INTERNAL, CONFIDENTIAL (rank-unknown)`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if isReason(err, LabelSyntax) || !isReason(err, RankUnknown) {
		t.Error("Is does not ask for the reason")
	}
	_, err = s.Parse("INTERNAL//" + strings.Repeat("\u202e", 200))
	if err == nil || len(err.Error()) > 600 || strings.Contains(err.Error(), "\u202e") {
		t.Errorf("foreign text reaches the message raw or unbounded: %v", err)
	}
}

func TestLongListsAreCutShort(t *testing.T) {
	s := mustScheme(t, SchemeData{Name: "long", Ranks: numbered(20), Releasable: []string{everyone}})
	if _, err := s.Parse("X"); err == nil || !strings.Contains(err.Error(), "N14, N15 and 4 more") {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"SECRET", "TOP SECRET", "SI", "CUI"}
	for name, want := range map[string]string{
		"SECRTE": "SECRET", "secret": "SECRET", "TOP-SECRET": "TOP SECRET", "": "", "PUBLIC": "",
		"XX": "", "CU": "CUI", strings.Repeat("S", 100): "", "si": "SI",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
