package canonical

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// drawKey draws keys that often clash: letters of folding orbits, on both sides
// of the surrogates.
func drawKey() *rapid.Generator[string] {
	runes := []rune("aAkK\u212asSſßςσΣéÉǅǆǄ0_-~/\"\\\n\x00\x7f\u2028\ud7ff\ue000\ufb01\ufffd\uffff\U00010000\U0001f600\U0010ffff")
	return rapid.StringOfN(rapid.OneOf(rapid.SampledFrom(runes), rapid.Rune()), 0, 4, -1)
}

func TestFoldEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		folded := foldRune(r)
		if !strings.EqualFold(string(folded), string(r)) {
			t.Fatalf("%U folds to %U", r, folded)
		}
		if next := unicode.SimpleFold(r); foldRune(next) != folded {
			t.Fatalf("%U folds to %U, %U to %U", r, folded, next, foldRune(next))
		}
	}
}

func TestFoldLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey().Draw(t, "a"), drawKey().Draw(t, "b")
		if got, want := foldsAlike(appendFolded, a, b), strings.EqualFold(a, b); got != want {
			t.Fatalf("%q and %q: got %v, want %v", a, b, got, want)
		}
	})
}

// TestFoldPlantedBug: the law above tells folding from what is often taken for
// it.
func TestFoldPlantedBug(t *testing.T) {
	for name, mutant := range map[string]func(dst, text []byte) []byte{
		"ToLower": func(dst, text []byte) []byte { return append(dst, bytes.ToLower(text)...) },
		"ToUpper": func(dst, text []byte) []byte { return append(dst, bytes.ToUpper(text)...) },
		"ASCII": func(dst, text []byte) []byte {
			for _, c := range text {
				dst = append(dst, lower(c))
			}
			return dst
		},
	} {
		caught := false
		for _, pair := range [][2]string{{"ς", "Σ"}, {"\u212a", "k"}, {"ſ", "s"}, {"É", "é"}, {"ϑ", "ϴ"}} {
			if !foldsAlike(appendFolded, pair[0], pair[1]) {
				t.Errorf("%q do not fold alike", pair)
			}
			caught = caught || !foldsAlike(mutant, pair[0], pair[1])
		}
		if !caught {
			t.Errorf("nothing tells %s from folding", name)
		}
	}
}

func foldsAlike(fold func(dst, text []byte) []byte, a, b string) bool {
	return bytes.Equal(fold(nil, []byte(a)), fold(nil, []byte(b)))
}

func TestKeyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey().Draw(t, "a"), drawKey().Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := cmp.Compare(compareKeys(a, b), 0); got != want {
			t.Fatalf("%q and %q: got %d, want %d", a, b, got, want)
		}
	})
}

// TestKeyOrderRFC is the example of RFC 8785, section 3.2.3.
func TestKeyOrderRFC(t *testing.T) {
	in := `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
		`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
	want := `{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
		`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`
	got, err := Transform([]byte(in), Limits{})
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	var m map[string]string
	if err := Parse([]byte(in), &m, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got, err = Marshal(m); err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestManyKeys crosses from the list of keys to the map, at several sizes and
// with a nested object on the way.
func TestManyKeys(t *testing.T) {
	for _, n := range []int{linearKeys - 1, linearKeys, linearKeys + 1, 2*linearKeys + 1, 20_000} {
		for _, twin := range []int{0, n / 2, n - 1} {
			var doc bytes.Buffer
			doc.WriteString(`{"in":{"key0":{"KEY1":0,"IN":0`)
			for i := range linearKeys {
				fmt.Fprintf(&doc, `,"In%d":{"KEY%d":0}`, i, i)
			}
			doc.WriteString(`}},`)
			for i := range n {
				fmt.Fprintf(&doc, `"key%d":%d,`, i, i)
			}
			plain := append(bytes.Clone(doc.Bytes()[:doc.Len()-1]), '}')
			if err := Check(plain, Limits{}); err != nil {
				t.Fatalf("%d keys: %v", n, err)
			}
			for name, want := range map[string]Reason{"key": DuplicateKey, "\u212aEY": CaseKey} {
				last := fmt.Sprintf(`"%s%d"`, name, twin)
				err := Check([]byte(doc.String()+last+`:1}`), Limits{})
				var e *Error
				if !errors.As(err, &e) || e.Reason != want || e.Offset != int64(doc.Len()) {
					t.Errorf("%d keys and %s: %v", n, last, err)
				}
			}
		}
	}
}
