package canonical

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestPlain: documents that are their own canonical form are seen to be, and none
// that has another form is taken for one. FuzzTransform compares the forms.
func TestPlain(t *testing.T) {
	for doc, plain := range map[string]bool{
		`{}`: true, `[]`: true, `null`: true, `[true,false,null]`: true, `""`: true, `0`: true, `-12`: true,
		`{"a":{"b":[1,{"c":""}]},"b":"é\n\t\"\\\u0001\u001f/"}`: true,
		`{"":1,"A":2,"b":3}`: true, "{\"\U0001f600\":1,\"\uf000\":2}": true,
		` 1`: false, `1 `: false, `[1, 2]`: false, `{"a" :1}`: false, "{\n\"a\":1}": false, `[ ]`: false, `{"a":1 }`: false,
		`{"b":1,"a":2}`: false, `[{"a":{"c":1,"b":2}}]`: false, "{\"\uf000\":1,\"\U0001f600\":2}": false,
		`"\/"`: false, `"\u0041"`: false, `"\u000a"`: false, `"\u0008"`: false, `"\u001F"`: false, `"\u0020"`: false, `"\ud83d\ude00"`: false,
		`{"\u0061":1}`: false, `1.0`: false, `1e2`: false, `0.5`: false, `1234567890123456`: false,
	} {
		d, err := read([]byte(doc), nil, reflect.Value{}, Limits{})
		if err != nil || d.other == plain {
			t.Errorf("%s: another form %v, %v", doc, d != nil && d.other, err)
		}
	}
}

// TestRawPlain: what is read of one member says nothing of the next.
func TestRawPlain(t *testing.T) {
	var v struct {
		A Raw `json:"a"`
		B Raw `json:"b"`
		C Raw `json:"c"`
	}
	if err := Parse([]byte(`{"a": {"y":1,"x":2},"b":[1,2],"c":{"b":1.0,"a":2}}`), &v, Limits{}); err != nil {
		t.Fatal(err)
	}
	if v.A.String() != `{"x":2,"y":1}` || v.B.String() != `[1,2]` || v.C.String() != `{"a":2,"b":1}` {
		t.Errorf("%s %s %s", v.A, v.B, v.C)
	}
}

// What is written without the help of the tokenizer is what that writes.
func TestPlainPrefix(t *testing.T) {
	short := 0
	for c := range 0x180 {
		for _, s := range []string{string(rune(c)), "a" + string(rune(c)), string(rune(c)) + "b c"} {
			got, err := Marshal(s)
			want, wrong := jsontext.AppendQuote(nil, s)
			if err != nil || wrong != nil || string(got) != string(want) {
				t.Errorf("%q is written %s, not %s: %v, %v", s, got, want, err, wrong)
			}
			if PlainPrefix(s) == len(s) {
				short++
			}
		}
	}
	if want := 3 * (0x7f - 0x20 - 2); short != want {
		t.Errorf("%d strings stand for themselves, not %d", short, want)
	}
	checkPlainPrefix(t, PlainPrefix)
	// The same, of a function that looks at a word too little.
	failed := new(mute)
	checkPlainPrefix(failed, func(s string) int { return min(PlainPrefix(s), 8) })
	if failed.n == 0 {
		t.Error("one that looks at eight bytes only passes")
	}
}

// mute counts what a check of a mutant finds.
type mute struct{ n int }

func (m *mute) Errorf(string, ...any) { m.n++ }

// checkPlainPrefix puts every byte, and one after it, at every place of two words.
func checkPlainPrefix(t interface{ Errorf(string, ...any) }, prefix func(string) int) {
	for c := range 0x100 {
		for at := range 19 {
			for _, next := range []byte{'a', 0, ' ', '"', '\\', 0x7f, 0x80, 0xff} {
				s := []byte("abcdefgh ijklmn~#[]!")
				s[at], s[at+1] = byte(c), next
				want := 0
				for want < len(s) && s[want] >= 0x20 && s[want] < 0x7f && s[want] != '"' && s[want] != '\\' {
					want++
				}
				if got := prefix(string(s)); got != want {
					t.Errorf("%q: %d bytes stand for themselves, not %d", s, want, got)
				}
			}
		}
	}
}
