package level

import (
	"encoding"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var (
	_ encoding.TextMarshaler   = Level(0)
	_ encoding.TextUnmarshaler = (*Level)(nil)
)

func TestTexts(t *testing.T) {
	for text, want := range map[string]Level{
		"unverified": Unverified, "declared": Declared, "tested": Tested, "formal": Formal,
	} {
		got, err := Parse(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		out, err := want.MarshalText()
		if err != nil || string(out) != text {
			t.Errorf("%s: marshals as %q, %v", text, out, err)
		}
		var in Level
		if err := in.UnmarshalText([]byte(text)); err != nil || in != want {
			t.Errorf("%s: unmarshals as %v, %v", text, in, err)
		}
	}
	var zero Level
	if zero != Unverified {
		t.Error("the zero level is not unverified")
	}
}

func TestTextsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                       "unverified, declared, tested, formal",
		"Tested":                 "write tested",
		"TESTED":                 "write tested",
		" formal\n":              "write formal",
		"testd":                  "unverified, declared",
		"level(7)":               "unverified, declared",
		"0":                      "unverified, declared",
		"tested\x00":             `"tested\x00"`,
		"t\u0435sted":            `"t\u0435sted"`,
		strings.Repeat("a", 999): "(999 bytes)",
	} {
		l, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) || e.Reason != Unknown || !errors.Is(err, &Error{Reason: Unknown}) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s saying %q", text, err, Unknown, says)
		}
		if l != Unverified || len(err.Error()) > 400 {
			t.Errorf("%q: %v beside %v", text, l, err)
		}
		kept := Tested
		if err := kept.UnmarshalText([]byte(text)); err == nil || kept != Tested {
			t.Errorf("%q: unmarshalled as %v", text, kept)
		}
	}
}

// order counts how often atLeast differs from the definition over all values.
func order(atLeast func(l, floor Level) bool) (wrong int) {
	for l := range 256 {
		for floor := range 256 {
			want := l <= 3 && floor <= 3 && l >= floor
			if atLeast(Level(l), Level(floor)) != want {
				wrong++
			}
		}
	}
	return wrong
}

func TestOrder(t *testing.T) {
	if wrong := order(Level.AtLeast); wrong != 0 {
		t.Errorf("%d pairs are wrong", wrong)
	}
	// Mutants: a value past the last passes for the highest; strictly above.
	if order(func(l, floor Level) bool { return l >= floor }) == 0 ||
		order(func(l, floor Level) bool { return l.AtLeast(floor) && l != floor }) == 0 {
		t.Error("a planted bug is not caught")
	}
}

func TestNoSuchLevel(t *testing.T) {
	for _, l := range []Level{Formal + 1, 255} {
		if got := l.String(); got != fmt.Sprintf("level(%d)", uint8(l)) {
			t.Error(got)
		}
		if text, err := l.MarshalText(); !errors.Is(err, &Error{Reason: Unknown}) || text != nil {
			t.Errorf("%v marshals as %q, %v", l, text, err)
		}
	}
}

// Exactly four texts are levels, and each comes back as it was.
func FuzzParse(f *testing.F) {
	for _, seed := range append(names(), "", "Tested", "tested ", "level(4)", "form\u0430l") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err == nil && l.String() != text {
			t.Fatalf("%q reads as %v", text, l)
		}
		if err != nil && (l != Unverified || !errors.Is(err, &Error{Reason: Unknown})) {
			t.Fatalf("%q: %v, %v", text, l, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q: message is not printable ASCII: %q", text, err)
		}
	})
}

func Example() {
	l, err := Parse("declared")
	fmt.Println(l, err, l.AtLeast(Declared), l.AtLeast(Tested))
	_, err = Parse("Formal")
	fmt.Println(err)
	// Output:
	// declared <nil> true false
	// level: "Formal" is not a level; write formal (level-unknown)
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("formal"); err != nil {
			b.Fatal(err)
		}
	}
}
