package label

import (
	"errors"
	"strings"
	"testing"
)

func closed(err error) bool {
	var e *Error
	if !errors.As(err, &e) || strings.ContainsFunc(e.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
		return false
	}
	switch e.Reason {
	case LabelSyntax, LabelNotCanonical, RankUnknown, CompartmentUnknown, ReleasableUnknown,
		SchemeInvalid, SchemeDuplicate, SchemeReserved:
		return true
	}
	return false
}

// Whatever parses is the one spelling of a label of that scheme; whatever does
// not has a reason of the closed set, shown in printable ASCII.
func FuzzParse(f *testing.F) {
	for _, name := range BuiltinNames() {
		s := mustBuiltin(f, name)
		f.Add(name, s.Bottom().String())
		f.Add(name, s.Top().String())
	}
	for _, text := range spellings() {
		f.Add("us-government", text)
	}
	f.Add("healthcare", "PHI//HIV,PSYCHOTHERAPY//REL PATIENT,TREATMENT")
	f.Add("us-government", "SECRET//REL//REL REL ,//")
	f.Add("generic", "absent")
	f.Fuzz(func(t *testing.T, scheme, text string) {
		s, ok := Builtin(scheme)
		if !ok {
			s = mustBuiltin(t, "us-government")
		}
		l, err := s.Parse(text)
		if err != nil {
			if !l.IsAbsent() || !closed(err) {
				t.Fatalf("%q: %v, %v", text, l, err)
			}
			return
		}
		if l.String() != text || !s.Has(l) || !s.Bottom().LessEq(l) || !l.LessEq(s.Top()) {
			t.Fatalf("%q: %v", text, l)
		}
		if again, err := s.FromParts(l.Parts()); err != nil || again != l {
			t.Fatalf("%q: parts give %v, %v", text, again, err)
		}
	})
}

// Whatever is accepted as a scheme makes labels whose texts are read back.
// Names are separated by semicolons.
func FuzzNewScheme(f *testing.F) {
	for _, d := range append(builtins(), valid(), SchemeData{}) {
		f.Add(d.Name, strings.Join(d.Ranks, ";"), strings.Join(d.Compartments, ";"), strings.Join(d.Releasable, ";"))
	}
	f.Add("x", "absent", "REL;REL A", "NOBODY")
	f.Add("x", "A//B", "A,B;a", "EVERYONE;X")
	f.Fuzz(func(t *testing.T, name, ranks, compartments, releasable string) {
		split := func(list string) []string {
			if list == "" {
				return nil
			}
			return strings.Split(list, ";")
		}
		s, err := NewScheme(SchemeData{name, split(ranks), split(compartments), split(releasable)})
		if err != nil {
			if s != nil || !closed(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := NewScheme(s.Data())
		if err != nil || again.Top() != s.Top() || again.Digest() != s.Digest() {
			t.Fatalf("not the same again: %v", err)
		}
		for r := range s.data.Ranks {
			for i := range 64 {
				bit := uint64(1) << i
				l := s.label(r+1, bit&full(len(s.data.Compartments)), bit&full(len(s.data.Releasable)))
				if got, err := again.Parse(l.String()); err != nil || got != l {
					t.Fatalf("%s: %v, %v", l, got, err)
				}
			}
		}
	})
}
