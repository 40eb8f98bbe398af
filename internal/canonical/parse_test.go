package canonical

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// level is a string type that knows its words, as the packages above have.
type level uint8

type levelError struct{ word string }

func (e *levelError) Error() string { return "level-unknown: " + e.word }

func (l *level) UnmarshalText(text []byte) error {
	switch string(text) {
	case "low":
		*l = 1
	case "high":
		*l = 2
	default:
		return &levelError{string(text)}
	}
	return nil
}

func (l level) MarshalText() ([]byte, error) {
	if l < 1 || l > 2 {
		return nil, &levelError{fmt.Sprint(uint8(l))}
	}
	return []byte([]string{"low", "high"}[l-1]), nil
}

type inner struct {
	Rank string   `json:"rank"`
	Tags []string `json:"tags"`
}

// everything has one field of each kind that Parse takes.
type everything struct {
	Name   string             `json:"name"`
	On     bool               `json:"on"`
	Small  int8               `json:"small"`
	Big    int64              `json:"big"`
	Count  uint16             `json:"count"`
	Ratio  float64            `json:"ratio"`
	Level  level              `json:"level"`
	Label  inner              `json:"label"`
	Many   []inner            `json:"many"`
	Pair   [2]int             `json:"pair"`
	By     map[string]inner   `json:"by"`
	Weight map[string]float64 `json:"weight"`
	Next   *inner             `json:"next"`
	Note   string             `json:"note,omitempty"`
	More   *everything        `json:"more,omitzero"`
	hidden int
	Skip   string `json:"-"`
}

// whole is a document of everything, with the optional fields left out.
const whole = `{"name":"a","on":true,"small":-5,"big":9007199254740992,"count":65535,"ratio":0.1,` +
	`"level":"high","label":{"rank":"r","tags":["x","y"]},"many":[{"rank":"m","tags":[]}],` +
	`"pair":[1,2],"by":{"k":{"rank":"b","tags":[]}},"weight":{"w":2.5},"next":{"rank":"n","tags":[]}}`

func wholeValue() everything {
	return everything{
		Name: "a", On: true, Small: -5, Big: 1 << 53, Count: 65535, Ratio: 0.1, Level: 2,
		Label:  inner{Rank: "r", Tags: []string{"x", "y"}},
		Many:   []inner{{Rank: "m", Tags: []string{}}},
		Pair:   [2]int{1, 2},
		By:     map[string]inner{"k": {Rank: "b", Tags: []string{}}},
		Weight: map[string]float64{"w": 2.5},
		Next:   &inner{Rank: "n", Tags: []string{}},
	}
}

func TestParseEverything(t *testing.T) {
	spaced := " \r\n\t" + strings.NewReplacer(":", " : ", ",", "\n,\t").Replace(whole) + "\n"
	for _, doc := range []string{whole, spaced} {
		var got everything
		if err := Parse([]byte(doc), &got, Limits{}); err != nil {
			t.Fatal(err)
		}
		if want := wholeValue(); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestParseReplaces(t *testing.T) {
	got := inner{Rank: "old", Tags: []string{"old", "older"}}
	tags := got.Tags
	if err := Parse([]byte(`{"rank":"new","tags":["new"]}`), &got, Limits{}); err != nil {
		t.Fatal(err)
	}
	if want := (inner{Rank: "new", Tags: []string{"new"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if tags[0] != "old" {
		t.Error("the old slice was written to")
	}
	keep := got
	if err := Parse([]byte(`{"rank":"newer","tags":["x"],"z":1}`), &got, Limits{}); err == nil {
		t.Fatal("an unknown field was accepted")
	}
	if !reflect.DeepEqual(got, keep) {
		t.Errorf("changed on error: %+v", got)
	}
}

// refusal is one document and why it is refused. In doc, ¦ stands where the
// error must point and is taken out.
type refusal struct {
	doc    string
	reason Reason
	field  string
}

func (r refusal) split() ([]byte, int64) {
	before, after, _ := strings.Cut(r.doc, "¦")
	return []byte(before + after), int64(len(before))
}

func (r refusal) verify(t *testing.T, err error) {
	t.Helper()
	doc, offset := r.split()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%.60q: got %v, want %s", doc, err, r.reason)
		return
	}
	if e.Reason != r.reason || e.Offset != offset || e.Field != r.field {
		t.Errorf("%.60q: got %s byte %d field %q, want %s byte %d field %q",
			doc, e.Reason, e.Offset, e.Field, r.reason, offset, r.field)
	}
	if text := e.Error(); e.Detail == "" || strings.ContainsAny(text, "\n\x00\x1b") || !strings.HasPrefix(text, string(e.Reason)) {
		t.Errorf("%.60q: error text %q", doc, text)
	}
}

// refusedAnywhere is what Check refuses.
var refusedAnywhere = []refusal{
	{"¦", Syntax, ""},
	{"  \n¦", Syntax, ""},
	{"nul¦", Syntax, ""},
	{"¦True", Syntax, ""},
	{"{¦", Syntax, ""},
	{`{"a¦`, Syntax, ""},
	{`{"a"¦`, Syntax, "/a"},
	{`{"a":¦`, Syntax, "/a"},
	{`{"a":1¦`, Syntax, ""},
	{`{"a" ¦1}`, Syntax, "/a"},
	{`{"a":1 ¦"b":2}`, Syntax, ""},
	{`{"a":1¦,}`, Syntax, ""},
	{`{¦,"a":1}`, Syntax, ""},
	{`{"a":¦}`, Syntax, "/a"},
	{`{¦1:2}`, Syntax, ""},
	{`{¦[[1]]:2}`, Syntax, ""},
	{`{¦null:2}`, Syntax, ""},
	{`{¦]`, Syntax, ""},
	{`[1¦,]`, Syntax, ""},
	{`[1 ¦2]`, Syntax, ""},
	{`[¦}`, Syntax, "/0"},
	{`[1,2¦}`, Syntax, ""},
	{`¦]`, Syntax, ""},
	{`0¦1`, TrailingBytes, ""},
	{`[0¦1]`, Syntax, ""},
	{`[¦+1]`, Syntax, "/0"},
	{`[¦.5]`, Syntax, "/0"},
	{`[5.¦]`, Syntax, "/0"},
	{`[1e¦]`, Syntax, "/0"},
	{`[¦NaN]`, Syntax, "/0"},
	{`[¦'a']`, Syntax, "/0"},
	{"[1] ¦/* a */", TrailingBytes, ""},
	{`["` + "¦\n" + `"]`, Syntax, "/0"},
	{`["` + "¦\x00" + `"]`, Syntax, "/0"},
	{`["¦\x41"]`, Syntax, "/0"},
	{`["¦\u12G4"]`, Syntax, "/0"},

	{`{"a":1,¦"a":2}`, DuplicateKey, "/a"},
	{`{"a":1,"b":2,¦"\u0061":3}`, DuplicateKey, "/a"},
	{`{"x":[{"a/b":1,¦"a/b":1}]}`, DuplicateKey, "/x/0/a~1b"},
	{`{"":1,¦"":2}`, DuplicateKey, "/"},
	{`{"a":1,¦"A":2}`, CaseKey, "/A"},
	{`{"k":1,¦"` + "\u212a" + `":2}`, CaseKey, "/\u212a"},
	{`{"` + "\u017f" + `":1,¦"S":2}`, CaseKey, "/S"},
	{`{"É":1,¦"\u00e9":2}`, CaseKey, "/é"},
	{`{"Σ":1,"x":{"σ":1,¦"ς":2}}`, CaseKey, "/x/ς"},
	{`{"Ⅷ":1,¦"ⅷ":2}`, CaseKey, "/ⅷ"},

	{"[\"a¦\xffb\"]", BadUTF8, "/0"},
	{"{\"¦\xc0\x80\":1}", BadUTF8, ""},
	{"[\"¦\xed\xa0\x80\"]", BadUTF8, "/0"},
	{"[\"¦\xf5\x80\x80\x80\"]", BadUTF8, "/0"},
	{"[\"¦\xe2\x82", BadUTF8, "/0"},
	{"[\"¦\xe2\x82\"]", BadUTF8, "/0"},
	{"[¦\xff]", BadUTF8, "/0"},
	{"¦\xff\xfe[\x001\x00]\x00", BadUTF8, ""},
	{`["a¦\ud800"]`, LoneSurrogate, "/0"},
	{`["¦\uDFFF\ud800"]`, LoneSurrogate, "/0"},
	{`["¦\uD83D\u0041"]`, LoneSurrogate, "/0"},
	{`["¦\uD83Dxxxxxx"]`, LoneSurrogate, "/0"},
	{`{"¦\udead":1}`, LoneSurrogate, ""},
	{"¦\ufeff{}", ByteOrderMark, ""},
	{"{¦\ufeff}", Syntax, ""},

	{`{} ¦{}`, TrailingBytes, ""},
	{`{}¦,`, TrailingBytes, ""},
	{`{}¦]`, TrailingBytes, ""},
	{"{}\n¦\x00", TrailingBytes, ""},
	{"1 ¦\xff", TrailingBytes, ""},
	{"1¦\v", TrailingBytes, ""},
	{"1¦\u00a0", TrailingBytes, ""},

	{`{"a":¦9007199254740993}`, NumberInexact, "/a"},
	{`[0,¦-0]`, NumberInexact, "/1"},
	{`¦1e400`, NumberInexact, ""},

	{strings.Repeat("[", 32) + "¦[", TooDeep, strings.Repeat("/0", 32)},
	{strings.Repeat(`{"a":`, 32) + "¦{}" + strings.Repeat("}", 32), TooDeep, strings.Repeat("/a", 32)},
	{strings.Repeat(" ", 1<<20) + "¦1", TooLarge, ""},
}

func TestCheckRefuses(t *testing.T) {
	for _, r := range refusedAnywhere {
		doc, _ := r.split()
		before := bytes.Clone(doc)
		r.verify(t, Check(doc, Limits{}))
		if _, err := Transform(doc, Limits{}); err == nil || err.Error() != Check(doc, Limits{}).Error() {
			t.Errorf("%.60q: Transform says %v", doc, err)
		}
		if raw, err := NewRaw(doc, Limits{}); err == nil || !raw.IsZero() {
			t.Errorf("%.60q: NewRaw made %v", doc, raw)
		}
		if !bytes.Equal(doc, before) {
			t.Errorf("%.60q: the input was changed to %.60q", before, doc)
		}
		// Inside a type that takes anything the verdict is the same.
		var m map[string]Raw
		if err := Parse([]byte(`{"in":`+string(doc)+`}`), &m, Limits{}); err == nil || m != nil {
			t.Errorf("%.60q: accepted as a Raw: %v", doc, m)
		}
	}
}

func TestCheckAccepts(t *testing.T) {
	for _, doc := range []string{
		"null", "true", "false", "0", "-1", `""`, "[]", "{}", " [ ] ", "\t1\r\n",
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"A":1}]}`,
		`{"ß":1,"ss":2,"SS ":3}`, // full folding would join ß and ss; simple folding does not
		`{"i":1,"ı":2,"İ":3}`,    // dotted and dotless i are letters of their own
		"{\"é\":1,\"e\u0301\":2}",
		`"\ud83d\ude00"`, "\"\ufeff\"", `"\ufffd"`, "\"\ufffd\"", `"\u0000"`, `"\/\b\f\n\r\t\"\\"`,
		strings.Repeat("[", 32) + strings.Repeat("]", 32),
		strings.Repeat(" ", 1<<20-1) + "1",
	} {
		if err := Check([]byte(doc), Limits{}); err != nil {
			t.Errorf("%.60q: %v", doc, err)
		}
	}
}

// without returns the whole document with one piece replaced.
func without(old, new string) string { return strings.Replace(whole, old, new, 1) }

// refusedTyped is what Parse into everything refuses.
func refusedTyped() []refusal {
	return []refusal{
		{without(`{"name":"a",`, `¦{`), MissingField, "/name"},
		{without(`"label":{"rank":"r",`, `"label":¦{`), MissingField, "/label/rank"},
		{without(`[{"rank":"m","tags":[]}]`, `[{"rank":"m","tags":[]},¦{"rank":"m"}]`), MissingField, "/many/1/tags"},
		{without(`{"rank":"b",`, `¦{`), MissingField, "/by/k/rank"},
		{without(`{"rank":"n",`, `¦{`), MissingField, "/next/rank"},
		{without(`,"next":`, `,"more":¦{},"next":`), MissingField, "/more/name"},
		{`¦{}`, MissingField, "/name"},

		{without(`"on":true`, `"on":true,¦"off":true`), UnknownField, "/off"},
		{without(`"tags":[]`, `"tags":[],¦"taġs":[]`), UnknownField, "/many/0/taġs"},
		{without(`"on":true`, `"on":true,¦"hidden":1`), UnknownField, "/hidden"},
		{without(`"on":true`, `"on":true,¦"Skip":""`), UnknownField, "/Skip"},
		{without(`"on":true`, `"on":true,¦"-":""`), UnknownField, "/-"},
		{without(`"on":true`, `"on":true,¦"":""`), UnknownField, "/"},
		{without(`"on"`, `¦"On"`), CaseKey, "/On"},
		{without(`"on":true`, `"on":true,¦"oN":false`), CaseKey, "/oN"},
		{without(`"tags":[]`, `¦"tagſ":[]`), CaseKey, "/many/0/tagſ"},
		{without(`"rank":"r"`, "¦\"ran\u212a\":\"r\""), CaseKey, "/label/ran\u212a"},
		{without(`"on":true`, `"on":true,¦"on":true`), DuplicateKey, "/on"},
		{without(`"on":true`, `"on":true,¦"o\u006e":true`), DuplicateKey, "/on"},
		{without(`"w":2.5`, `"w":2.5,¦"w":2.5`), DuplicateKey, "/weight/w"},
		{without(`"w":2.5`, `"w":2.5,¦"W":2.5`), CaseKey, "/weight/W"},

		{without(`"a"`, `¦null`), WrongType, "/name"},
		{without(`"a"`, `¦1`), WrongType, "/name"},
		{without(`"a"`, `¦true`), WrongType, "/name"},
		{without(`"a"`, `¦["a"]`), WrongType, "/name"},
		{without(`"a"`, `¦{"a":1}`), WrongType, "/name"},
		{without(`true`, `¦"true"`), WrongType, "/on"},
		{without(`true`, `¦null`), WrongType, "/on"},
		{without(`-5`, `¦"5"`), WrongType, "/small"},
		{without(`-5`, `¦128`), WrongType, "/small"},
		{without(`-5`, `¦-129`), WrongType, "/small"},
		{without(`-5`, `¦1.5`), WrongType, "/small"},
		{without(`-5`, `¦1e-1`), WrongType, "/small"},
		{without(`9007199254740992`, `¦9223372036854775808`), NumberInexact, "/big"},
		{without(`9007199254740992`, `¦1e19`), WrongType, "/big"},
		{without(`9007199254740992`, `¦-1e19`), WrongType, "/big"},
		{without(`9007199254740992`, `¦1e22`), WrongType, "/big"},
		{without(`65535`, `¦65536`), WrongType, "/count"},
		{without(`65535`, `¦-1`), WrongType, "/count"},
		{without(`0.1`, `¦"0.1"`), WrongType, "/ratio"},
		{without(`0.1`, `¦null`), WrongType, "/ratio"},
		{without(`0.1`, `¦false`), WrongType, "/ratio"},
		{without(`"high"`, `¦2`), WrongType, "/level"},
		{without(`"high"`, `¦null`), WrongType, "/level"},
		{without(`"high"`, `¦[]`), WrongType, "/level"},
		{without(`"high"`, `¦"HIGH"`), InvalidValue, "/level"},
		{without(`["x","y"]`, `¦null`), WrongType, "/label/tags"},
		{without(`["x","y"]`, `["x",¦null]`), WrongType, "/label/tags/1"},
		{without(`["x","y"]`, `¦{}`), WrongType, "/label/tags"},
		{without(`["x","y"]`, `¦"x"`), WrongType, "/label/tags"},
		{without(`[1,2]`, `¦[1]`), WrongType, "/pair"},
		{without(`[1,2]`, `¦[]`), WrongType, "/pair"},
		{without(`[1,2]`, `¦[1,2,3]`), WrongType, "/pair"},
		{without(`[1,2]`, `¦{}`), WrongType, "/pair"},
		{without(`[1,2]`, `[1,¦null]`), WrongType, "/pair/1"},
		{without(`{"w":2.5}`, `¦null`), WrongType, "/weight"},
		{without(`{"w":2.5}`, `{"w":¦null}`), WrongType, "/weight/w"},
		{without(`{"w":2.5}`, `¦[]`), WrongType, "/weight"},
		{without(`{"rank":"n","tags":[]}`, `¦null`), WrongType, "/next"},
		{without(`{"rank":"n","tags":[]}`, `¦[]`), WrongType, "/next"},
		{without(`,"next":`, `,"more":¦null,"next":`), WrongType, "/more"},
		{without(`,"next":`, `,"note":¦null,"next":`), WrongType, "/note"},
		{`¦null`, WrongType, ""},
		{`¦[]`, WrongType, ""},
		{`¦"x"`, WrongType, ""},

		{whole + `¦{}`, TrailingBytes, ""},
		{without(`"a"`, "\"¦\xff\""), BadUTF8, "/name"},
		{without(`"a"`, `"¦\ud800"`), LoneSurrogate, "/name"},
		{without(`"a"`, `"a"¦:`), Syntax, ""},
	}
}

func TestParseRefuses(t *testing.T) {
	for _, r := range refusedTyped() {
		doc, _ := r.split()
		var got everything
		r.verify(t, Parse(doc, &got, Limits{}))
		if !reflect.DeepEqual(got, everything{}) {
			t.Errorf("%.60q: stored %+v", doc, got)
		}
	}
}

func TestParseEqualNumbers(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "1.0": 1, "1e0": 1, "0.1e1": 1, "10E-1": 1, "100000e-5": 1, "12e1": 120, "100": 100,
		"0": 0, "0.0": 0, "0e99999999999999999999": 0, "0e-99999999999999999999": 0,
	} {
		var got struct {
			I int8    `json:"i"`
			U uint8   `json:"u"`
			F float64 `json:"f"`
		}
		if err := Parse([]byte(`{"i":`+text+`,"u":`+text+`,"f":`+text+`}`), &got, Limits{}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got.I != int8(want) || got.U != uint8(want) || got.F != float64(want) {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

// TestMapElements: an element keeps nothing of the one before.
func TestMapElements(t *testing.T) {
	type opt struct {
		X int   `json:"x,omitzero"`
		S []int `json:"s,omitzero"`
	}
	var got map[string]opt
	if err := Parse([]byte(`{"a":{"x":1,"s":[1]},"b":{},"c":{"s":[2,3]}}`), &got, Limits{}); err != nil {
		t.Fatal(err)
	}
	if want := map[string]opt{"a": {1, []int{1}}, "b": {}, "c": {0, []int{2, 3}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestArrayLength(t *testing.T) {
	var none struct {
		A [0]int `json:"a"`
	}
	r := refusal{`{"a":¦[1]}`, WrongType, "/a"}
	doc, _ := r.split()
	r.verify(t, Parse(doc, &none, Limits{}))
	if err := Parse([]byte(`{"a":[]}`), &none, Limits{}); err != nil {
		t.Error(err)
	}
}
