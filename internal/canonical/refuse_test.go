package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEveryReason: the tables of refusals cover the closed set.
func TestEveryReason(t *testing.T) {
	want := []Reason{
		Syntax, DuplicateKey, CaseKey, UnknownField, MissingField, WrongType, BadUTF8, LoneSurrogate,
		ByteOrderMark, TrailingBytes, NumberInexact, TooDeep, TooLarge, InvalidValue,
	}
	var got []Reason
	for _, r := range append(refusedTyped(), refusedAnywhere...) {
		got = append(got, r.reason)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestErrorCause(t *testing.T) {
	var got everything
	err := Parse([]byte(without(`"high"`, `"top"`)), &got, Limits{})
	var cause *levelError
	if !errors.As(err, &cause) || cause.word != "top" {
		t.Errorf("got %v", err)
	}
	if _, err := Marshal(got); !errors.As(err, &cause) || cause.word != "0" {
		t.Errorf("got %v", err)
	}
	want := `invalid-value at /level (byte 90): the string is not one this field takes: level-unknown: top`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

// TestErrorText keeps hostile keys from a terminal and a log.
func TestErrorText(t *testing.T) {
	for _, doc := range []string{
		"{\"\u202e\":1}", `{"\u001b[2J":1}`, `{"\n":1}`, `{"` + strings.Repeat("k", 1<<19) + `":1}`, `{"` + strings.Repeat("é", 1<<18) + `":1}`,
	} {
		var got inner
		text := fmt.Sprint(Parse([]byte(doc), &got, Limits{}))
		if !strings.HasPrefix(text, "unknown-field at ") || len(text) > 300 || strings.ContainsAny(text, "\u202e\x1b\n\ufffd") {
			t.Errorf("%.40q: %.400q", doc, text)
		}
	}
}

// TestErrorTextIsSeen: characters that Go calls printable and nobody sees.
func TestErrorTextIsSeen(t *testing.T) {
	for _, c := range []string{"\ufe0b", "\u034f", "\u3164", "\U000e0101"} {
		for _, doc := range []string{c, `{"` + c + `":1}`, `{"a` + c + `":1,"a` + c + `":1}`, `[1` + c + `]`} {
			var got inner
			err := Parse([]byte(doc), &got, Limits{})
			if err == nil || strings.Contains(err.Error(), c) {
				t.Errorf("%+q: %v", doc, err)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for _, c := range []struct {
		lim   Limits
		doc   []byte
		wrong Reason
	}{
		{Limits{}, nested(32), ""},
		{Limits{}, nested(33), TooDeep},
		{Limits{Depth: -1}, nested(33), TooDeep},
		{Limits{Depth: 1}, []byte(`[1,{}]`), TooDeep},
		{Limits{Depth: 1}, []byte(`[1,2]`), ""},
		{Limits{Depth: 40}, nested(40), ""},
		{Limits{Depth: 1 << 40}, nested(1000), ""},
		{Limits{Depth: 1 << 40}, nested(1001), TooDeep},
		{Limits{Depth: 1 << 40}, nested(100_000), TooDeep},
		{Limits{Bytes: 4}, []byte(`1234`), ""},
		{Limits{Bytes: 3}, []byte(`1234`), TooLarge},
		{Limits{Bytes: -1}, make([]byte, 1<<20+1), TooLarge},
		{Limits{Bytes: 1 << 21}, append(bytes.Repeat([]byte(" "), 1<<20), '1'), ""},
	} {
		err := Check(c.doc, c.lim)
		var e *Error
		if errors.As(err, &e) != (c.wrong != "") || e != nil && e.Reason != c.wrong {
			t.Errorf("%.20q (%d bytes) within %+v: %v", c.doc, len(c.doc), c.lim, err)
		}
	}
	// A short document whose form is long is refused, not handed on.
	if out, err := Transform([]byte("[1e20]"), Limits{Bytes: 8}); err == nil {
		t.Errorf("got %s", out)
	}
	if raw, err := NewRaw([]byte("[1e20]"), Limits{Bytes: 8}); err == nil {
		t.Errorf("got %s", raw)
	}
}

// TestPlantedBug reads with the standard library at its strictest what this
// package refuses. Each document means something else to a second reader; the
// mutant must accept them all, or the refusals above prove nothing.
func TestPlantedBug(t *testing.T) {
	type call struct {
		Target string `json:"target"`
		Amount int64  `json:"amount"`
	}
	for _, c := range []struct {
		doc    string
		reason Reason
		mutant call
	}{
		{`{"target":"/a","amount":1,"target":"/etc/shadow"}`, DuplicateKey, call{"/etc/shadow", 1}},
		{`{"target":"/a","amount":1,"Target":"/etc/shadow"}`, CaseKey, call{"/etc/shadow", 1}},
		{`{"target":"/a","amount":1,"tarGet":"/etc/shadow"}`, CaseKey, call{"/etc/shadow", 1}},
		{`{"target":"/a","amount":1}{"target":"/etc/shadow"}`, TrailingBytes, call{"/a", 1}},
		{"{\"target\":\"/a\xff\",\"amount\":1}", BadUTF8, call{"/a\ufffd", 1}},
		{`{"target":"/a\ud800","amount":1}`, LoneSurrogate, call{"/a\ufffd", 1}},
		{`{"target":"/a","amount":null}`, WrongType, call{"/a", 0}},
		{`{"target":"/a"}`, MissingField, call{"/a", 0}},
		{`{"target":"/a","amount":9007199254740993}`, NumberInexact, call{"/a", 9007199254740993}},
		{`null`, WrongType, call{}},
	} {
		var lenient call
		dec := json.NewDecoder(strings.NewReader(c.doc))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&lenient); err != nil || lenient != c.mutant {
			t.Errorf("%s: the mutant was to read %+v, got %+v, %v", c.doc, c.mutant, lenient, err)
		}
		var strict call
		err := Parse([]byte(c.doc), &strict, Limits{})
		var e *Error
		if !errors.As(err, &e) || e.Reason != c.reason || strict != (call{}) {
			t.Errorf("%s: got %v, %+v, want %s", c.doc, err, strict, c.reason)
		}
	}
}
