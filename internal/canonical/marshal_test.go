package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func TestMarshalEverything(t *testing.T) {
	want := `{"big":9007199254740992,"by":{"k":{"rank":"b","tags":[]}},"count":65535,"label":{"rank":"r","tags":["x","y"]},` +
		`"level":"high","many":[{"rank":"m","tags":[]}],"name":"a","next":{"rank":"n","tags":[]},"on":true,"pair":[1,2],` +
		`"ratio":0.1,"small":-5,"weight":{"w":2.5}}`
	v := wholeValue()
	v.hidden, v.Skip = 1, "not shown"
	for _, in := range []any{v, &v} {
		got, err := Marshal(in)
		if err != nil || string(got) != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	if got, err := Transform([]byte(whole), Limits{}); err != nil || string(got) != want {
		t.Errorf("Transform: got %s, %v", got, err)
	}
}

// TestAppendMarshal: what was there stays in front, and values without an address
// are written like those that have one.
func TestAppendMarshal(t *testing.T) {
	raw, err := NewRaw([]byte(`{"b":[1]}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{wholeValue(), raw, &raw, level(2), []Raw{raw}, [1]Raw{raw}, map[string]Raw{"k": raw}, struct{ R Raw }{raw}, "é\n"} {
		want, err := Marshal(v)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		got, err := AppendMarshal([]byte("in front "), v)
		if err != nil || string(got) != "in front "+string(want) {
			t.Errorf("%T: got %s, %v, want %s behind it", v, got, err, want)
		}
	}
	if got, err := AppendMarshal([]byte("in front "), "\xff"); err == nil || got != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestMarshalNil(t *testing.T) {
	type doc struct {
		S []string          `json:"s"`
		M map[string]string `json:"m"`
		O []string          `json:"o,omitempty"`
		Z *int              `json:"z,omitzero"`
	}
	got, err := Marshal(doc{})
	if want := `{"m":{},"s":[]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// TestMarshalMaps: the keys of one map have nothing to do with another's.
func TestMarshalMaps(t *testing.T) {
	v := map[string]map[string]int{"a": {"b": 1, "A": 2}, "b": {"a": 3}}
	got, err := Marshal(v)
	if want := `{"a":{"A":2,"b":1},"b":{"a":3}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestMarshalText(t *testing.T) {
	in := "\x00\x1f\b\t\n\f\r\"\\/<>&\x7f\u0080\u2028\u2029\ufeff\ufffd\U0001f600é"
	want := `"\u0000\u001f\b\t\n\f\r\"\\/<>&` + "\x7f\u0080\u2028\u2029\ufeff\ufffd\U0001f600é" + `"`
	if got, err := Marshal(in); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestMarshalRefuses(t *testing.T) {
	type loop struct {
		Next *loop `json:"next,omitzero"`
	}
	self := &loop{}
	self.Next = self
	type one[T any] struct {
		V T `json:"v"`
	}
	bad := "a\xff"
	for _, c := range []struct {
		in     any
		reason Reason
		field  string
	}{
		{bad, BadUTF8, ""},
		{one[[]string]{[]string{"", bad}}, BadUTF8, "/v/1"},
		{map[string]int{bad: 1}, BadUTF8, ""},
		{map[string]one[int]{"a/~b": {1 << 60}, "b": {1<<60 + 1}}, NumberInexact, "/a~1~0b/v"},
		{one[int64]{1<<53 + 1}, NumberInexact, "/v"},
		{one[int64]{math.MaxInt64}, NumberInexact, "/v"},
		{one[uint64]{math.MaxUint64}, NumberInexact, "/v"},
		{one[float64]{1e300}, NumberInexact, "/v"},
		{one[float64]{math.Copysign(0, -1)}, NumberInexact, "/v"},
		{one[float64]{math.NaN()}, NumberInexact, "/v"},
		{map[string]int{"key": 1, "\u212aey": 2}, CaseKey, "/\u212aey"},
		{one[*int]{}, WrongType, "/v"},
		{(*int)(nil), WrongType, ""},
		{one[Raw]{}, WrongType, "/v"},
		{one[level]{}, InvalidValue, "/v"},
		{self, TooDeep, strings.Repeat("/next", 32)},
	} {
		out, err := Marshal(c.in)
		var e *Error
		if !errors.As(err, &e) || e.Reason != c.reason || e.Field != c.field || e.Offset != -1 || out != nil {
			t.Errorf("%T: got %s, %v, want %s at %q", c.in, out, err, c.reason, c.field)
		}
		if out, err2 := Pretty(c.in); err2 == nil || out != nil || err2.Error() != err.Error() {
			t.Errorf("%T: Pretty got %s, %v", c.in, out, err2)
		}
	}
	for _, n := range []int64{1 << 53, 1 << 60, math.MinInt64} {
		out, err := Marshal(n)
		var back int64
		if err == nil {
			err = Parse(out, &back, Limits{})
		}
		// Powers of two are exact; those whose shortest form is another number are not.
		if want := exactNumber(string(appendInt(n))); want != (err == nil) || err == nil && back != n {
			t.Errorf("%d: got %s, %d, %v", n, out, back, err)
		}
	}
}

func appendInt(n int64) []byte { b, _ := json.Marshal(n); return b }

func TestPretty(t *testing.T) {
	v := struct {
		B []string       `json:"b"`
		A map[string]int `json:"a"`
		C struct{}       `json:"c"`
		D []inner        `json:"d"`
	}{A: map[string]int{"z": 1, "y": 100}, D: []inner{{Rank: "<&>\u2028", Tags: []string{"t"}}}}
	want := "{\n  \"a\": {\n    \"y\": 100,\n    \"z\": 1\n  },\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    {\n" +
		"      \"rank\": \"<&>\u2028\",\n      \"tags\": [\n        \"t\"\n      ]\n    }\n  ]\n}\n"
	got, err := Pretty(v)
	if err != nil || string(got) != want {
		t.Fatalf("got %s, %v", got, err)
	}
	plain, err := Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Transform(got, Limits{}); err != nil || !bytes.Equal(again, plain) {
		t.Errorf("got %s, %v, want %s", again, err, plain)
	}
}

// drawEverything draws values that Marshal takes.
func drawEverything() *rapid.Generator[everything] {
	return rapid.Custom(func(t *rapid.T) everything {
		whole := rapid.Int64Range(-1<<53, 1<<53)
		in := rapid.Custom(func(t *rapid.T) inner {
			return inner{drawKey().Draw(t, "rank"), rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "tags")}
		})
		v := everything{
			Name: rapid.String().Draw(t, "name"), On: rapid.Bool().Draw(t, "on"), Small: rapid.Int8().Draw(t, "small"),
			Big: whole.Draw(t, "big"), Count: rapid.Uint16().Draw(t, "count"),
			Ratio: float64(whole.Draw(t, "n")) / 1024, Level: level(rapid.IntRange(1, 2).Draw(t, "level")),
			Label: in.Draw(t, "label"), Many: rapid.SliceOfN(in, 0, 3).Draw(t, "many"),
			Pair: [2]int{rapid.IntRange(0, 9).Draw(t, "p"), 1}, By: map[string]inner{}, Weight: map[string]float64{},
			Note: rapid.String().Draw(t, "note"),
		}
		var seen keys
		scope := seen.open()
		for _, key := range rapid.SliceOfN(drawKey(), 0, 8).Draw(t, "keys") {
			if seen.add(&scope, []byte(key)) == "" {
				v.By[key], v.Weight[key] = in.Draw(t, "by"), float64(len(key))/8
			}
		}
		next := in.Draw(t, "next")
		v.Next = &next
		if rapid.IntRange(0, 3).Draw(t, "more") == 0 {
			more := v
			v.More = &more
		}
		return v
	})
}

// TestMarshalLaw: Parse undoes Marshal, Transform leaves it, and two other
// implementations, one after the other, give the same bytes.
func TestMarshalLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawEverything().Draw(t, "v")
		out, err := Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Transform(out, Limits{}); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%s became %s, %v", out, again, err)
		}
		var back everything
		if err := Parse(out, &back, Limits{}); err != nil || !reflect.DeepEqual(back, v) {
			t.Fatalf("%s: read %+v, %v", out, back, err)
		}
		pretty, err := Pretty(v)
		if err != nil {
			t.Fatal(err)
		}
		var again everything
		if err := Parse(pretty, &again, Limits{}); err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("%s: read %+v, %v", pretty, again, err)
		}
		standard, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := jcs.Transform(standard); err != nil || !bytes.Equal(other, out) {
			t.Fatalf("got  %s\njcs: %s, %v", out, other, err)
		}
	})
}
