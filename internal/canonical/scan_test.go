package canonical

import (
	"strings"
	"testing"
)

func TestStringLength(t *testing.T) {
	for text, want := range map[string]int{
		`""`: 2, `"a"b"`: 3, `"\""x`: 4, `"\\"x`: 4, `"\\\""`: 6, `"a`: 2, `"\`: 2, `"\"`: 3, `"`: 1, ``: 0, "\"\xff\"": 3,
	} {
		if got := StringLength(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
		if got := StringLength([]byte(text)); got != want {
			t.Errorf("%s as bytes: %d, want %d", text, got, want)
		}
	}
}

// naive is the planted bug: a string ends at the next quote.
func naive(text string) int {
	if strings.HasPrefix(text, `"`) {
		return strings.IndexByte(text[1:], '"') + 2
	}
	return ValueLength(text)
}

var valueSeeds = []string{`{}`, `[1,"a,b",[],{"x":"}]"}]`, `"a\"b"`, `"\\"`, `-1.5e+30`, `true`, `null`, `{"":{"a":[":",","]}}`}

// TestValueSeeds: the seeds show a length that forgets escapes.
func TestValueSeeds(t *testing.T) {
	noticed := 0
	for _, seed := range valueSeeds {
		if got := ValueLength(seed + ","); got != len(seed) {
			t.Errorf("%s: %d", seed, got)
		}
		if naive(seed+",") != len(seed) {
			noticed++
		}
	}
	if noticed == 0 || noticed == len(valueSeeds) {
		t.Errorf("%d of %d seeds show the planted bug", noticed, len(valueSeeds))
	}
}

// FuzzValueLength: a value in canonical form ends where it does, whatever stands
// behind it; and no text leads beyond its end.
func FuzzValueLength(f *testing.F) {
	for _, seed := range valueSeeds {
		f.Add(seed)
	}
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, text string) {
		if n := ValueLength(text); n < 0 || n > len(text) || StringLength(text) > len(text) {
			t.Fatalf("%q: %d", text, n)
		}
		raw, err := NewRaw([]byte(text), Limits{})
		if err != nil {
			return
		}
		for _, behind := range []string{"", ",", ":1", "}", `]"`} {
			if n := ValueLength(raw.String() + behind); n != len(raw.String()) {
				t.Fatalf("%s%s: %d", raw, behind, n)
			}
		}
	})
}
