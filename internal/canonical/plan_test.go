package canonical

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

type onlyMarshals struct{}

func (onlyMarshals) MarshalText() ([]byte, error) { return []byte("x"), nil }

type onlyUnmarshals struct{}

func (*onlyUnmarshals) UnmarshalText([]byte) error { return nil }

type ownJSON struct{}

func (ownJSON) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

type textKey string

func (textKey) MarshalText() ([]byte, error) { return nil, io.EOF }

// wide returns a pointer to a struct with that many fields.
func wide(n int) any {
	var fields []reflect.StructField
	for i := range n {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int]()})
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// tagged returns a pointer to a struct with one field of that tag, for tags
// that tools would complain of.
func tagged(tag string) any {
	return reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "F", Type: reflect.TypeFor[int](), Tag: reflect.StructTag(tag),
	}})).Interface()
}

func TestTypeRefused(t *testing.T) {
	type pointers *pointers
	for _, in := range []any{
		new([]byte), new([4]byte), new(any), new(error), new(chan int), new(func()), new(complex128), new(float32), new(uintptr),
		new(*[]byte), new(map[string][]byte), new(map[int]string), new(map[textKey]string), new(**int), new(pointers), new(ownJSON),
		wide(65), new([]struct{ F any }), new(encoding.TextMarshaler),
		new(struct{ inner }), new(struct{ *inner }), new(struct{ everything }),
		new(struct {
			inner `json:"in"`
		}),
		new(struct {
			F int `json:"f,string"`
		}),
		tagged(`json:"f,omitZero"`), tagged(`json:"f,omitempty,inline"`), tagged(`json:"\xff"`),
		new(struct {
			F int `json:"f"`
			G int `json:"F"`
		}),
		new(struct {
			K int `json:"k"`
			G int "json:\"\u212a\""
		}),
		new(struct {
			A struct{ B []struct{ C chan int } }
		}),
	} {
		if err := Parse([]byte(`{}`), in, Limits{}); !errors.Is(err, ErrType) {
			t.Errorf("Parse into %T: %v", in, err)
		}
		if out, err := Marshal(in); !errors.Is(err, ErrType) || out != nil {
			t.Errorf("Marshal of %T: %s, %v", in, out, err)
		}
		if _, err := Pretty(in); !errors.Is(err, ErrType) {
			t.Errorf("Pretty of %T: %v", in, err)
		}
	}
	for _, in := range []any{nil, 1, inner{}, (*inner)(nil), map[string]int{}} {
		if err := Parse([]byte(`{}`), in, Limits{}); !errors.Is(err, ErrType) {
			t.Errorf("Parse into %#v: %v", in, err)
		}
	}
	if _, err := Marshal(nil); !errors.Is(err, ErrType) {
		t.Errorf("Marshal(nil): %v", err)
	}
	// The error says where in the type.
	err := Parse(nil, new(struct{ A struct{ B chan int } }), Limits{})
	if text := err.Error(); !strings.Contains(text, "chan int") || !strings.Contains(text, "field B") || !strings.Contains(text, "field A") {
		t.Error(text)
	}
}

func TestTextOneWay(t *testing.T) {
	var m onlyMarshals
	if err := Parse([]byte(`"x"`), &m, Limits{}); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	if out, err := Marshal([]onlyMarshals{m}); err != nil || string(out) != `["x"]` {
		t.Errorf("got %s, %v", out, err)
	}
	var u map[string]onlyUnmarshals
	if err := Parse([]byte(`{"k":"x"}`), &u, Limits{}); err != nil || len(u) != 1 {
		t.Error(err)
	}
	if _, err := Marshal(u); !errors.Is(err, ErrType) {
		t.Error(err)
	}
}

// TestLastField: the highest bit of the set of fields works like the others.
func TestLastField(t *testing.T) {
	out, err := Marshal(wide(64))
	if err != nil {
		t.Fatal(err)
	}
	if err := Parse(out, wide(64), Limits{}); err != nil {
		t.Error(err)
	}
	for doc, want := range map[string]Reason{
		strings.Replace(string(out), `,"F63":0`, "", 1):                 MissingField,
		strings.Replace(string(out), `,"F63":0`, `,"F63":0,"F63":0`, 1): DuplicateKey,
		strings.Replace(string(out), `,"F63":0`, `,"f63":0`, 1):         CaseKey,
	} {
		var e *Error
		if err := Parse([]byte(doc), wide(64), Limits{}); !errors.As(err, &e) || e.Reason != want {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

// TestTextEverywhere: a method with a pointer receiver is found in every place
// a value can stand.
func TestTextEverywhere(t *testing.T) {
	type doc struct {
		V big.Int             `json:"v"`
		P *big.Int            `json:"p"`
		S []big.Int           `json:"s"`
		A [1]big.Int          `json:"a"`
		M map[string]big.Int  `json:"m"`
		Q map[string]*big.Int `json:"q"`
		T time.Time           `json:"t"`
		L []level             `json:"l"`
	}
	in := `{"a":["5"],"l":["low","high"],"m":{"k":"6"},"p":"2","q":{"k":"7"},"s":["3","4"],"t":"2026-11-20T09:39:00Z","v":"1"}`
	var v doc
	if err := Parse([]byte(in), &v, Limits{}); err != nil {
		t.Fatal(err)
	}
	six := v.M["k"]
	if got := []int64{v.V.Int64(), v.P.Int64(), v.S[0].Int64(), v.S[1].Int64(), v.A[0].Int64(), six.Int64(), v.Q["k"].Int64()}; !reflect.DeepEqual(got, []int64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("read %v", got)
	}
	for _, from := range []any{v, &v} {
		if out, err := Marshal(from); err != nil || string(out) != in {
			t.Errorf("got %s, %v", out, err)
		}
	}
}

// TestTextMayKeep: a type that keeps or changes the bytes it was given, which
// it should not, harms nobody else.
func TestTextMayKeep(t *testing.T) {
	doc := []byte(`["one","two"]`)
	var v []keeper
	if err := Parse(doc, &v, Limits{}); err != nil {
		t.Fatal(err)
	}
	if string(doc) != `["one","two"]` || string(v[0].kept) != "!ne" || string(v[1].kept) != "!wo" {
		t.Errorf("%s %s", doc, v)
	}
}

type keeper struct{ kept []byte }

func (k *keeper) UnmarshalText(text []byte) error {
	text[0] = '!'
	k.kept = text
	return nil
}

type named string

func TestNamedTypes(t *testing.T) {
	type flag bool
	type count uint32
	v := struct {
		M map[named]count `json:"m"`
		F flag            `json:"f"`
		S []named         `json:"s"`
	}{}
	in := `{"f":true,"m":{"a":1,"b":2},"s":["x"]}`
	if err := Parse([]byte(in), &v, Limits{}); err != nil {
		t.Fatal(err)
	}
	if out, err := Marshal(v); err != nil || string(out) != in {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestOmit(t *testing.T) {
	type doc struct {
		E []string  `json:"e,omitempty"`
		S struct{}  `json:"s,omitempty"`
		B bool      `json:"b,omitempty"`
		T time.Time `json:"t,omitzero"`
		P *int      `json:"p,omitempty"`
		Z []string  `json:"z,omitzero"`
		R Raw       `json:"r,omitzero"`
		A [0]int    `json:"a,omitempty"`
		N string    `json:",omitzero"`
	}
	empty := doc{E: []string{}, Z: []string{}, T: time.Time{}.In(time.FixedZone("", 60))}
	out, err := Marshal(empty)
	if want := `{"s":{},"z":[]}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}
	var back doc
	if err := Parse([]byte(`{"N":"n"}`), &back, Limits{}); err != nil || !reflect.DeepEqual(back, doc{N: "n"}) {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestRaw(t *testing.T) {
	type doc struct {
		Name string         `json:"name"`
		Args Raw            `json:"args"`
		More map[string]Raw `json:"more"`
		Opt  Raw            `json:"opt,omitzero"`
	}
	in := `{"more" : { "x" : 1.50 , "y":"\u0061"}, "args":{"b":[null,{"d":1,"c":-2}] , "a":1e2},"name":"n"}`
	var v doc
	if err := Parse([]byte(in), &v, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got, want := v.Args.String(), `{"a":100,"b":[null,{"c":-2,"d":1}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if v.More["x"].String() != "1.5" || v.More["y"].String() != `"a"` || !v.Opt.IsZero() {
		t.Errorf("got %+v", v)
	}
	want, err := Transform([]byte(in), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := Marshal(v); err != nil || string(out) != string(want) {
		t.Errorf("got %s, %v, want %s", out, err, want)
	}
	same, err := NewRaw([]byte(` {"b":[null,{"c":-2,"d":1}],"\u0061":100.0} `), Limits{})
	if err != nil || same != v.Args {
		t.Errorf("got %v, %v, want %v", same, err, v.Args)
	}
	for _, r := range []refusal{
		{`{"args":¦null,"more":{},"name":""}`, WrongType, "/args"},
		{`{"args":1,"more":{"x":¦null},"name":""}`, WrongType, "/more/x"},
		{`{"args":{"b":1,¦"B":1},"more":{},"name":""}`, CaseKey, "/args/B"},
		{`{"args":[[-1,¦-0]],"more":{},"name":""}`, NumberInexact, "/args/0/1"},
		{`{"args":¦}`, Syntax, "/args"},
		{`¦{"more":{},"name":""}`, MissingField, "/args"},
		{`{"args":` + strings.Repeat("[", 31) + `¦[`, TooDeep, "/args" + strings.Repeat("/0", 31)},
	} {
		in, _ := r.split()
		var v doc
		r.verify(t, Parse(in, &v, Limits{}))
	}
}

// TestRawDepth: a Raw counts with its nesting wherever it is put.
func TestRawDepth(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + `{"a":[],"b":1}` + strings.Repeat("]", n) }
	fits, err := NewRaw([]byte(deep(29)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	tooDeep, err := NewRaw([]byte(deep(30)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := Marshal([]Raw{fits}); err != nil || string(out) != "["+deep(29)+"]" {
		t.Errorf("got %s, %v", out, err)
	}
	var e *Error
	if out, err := Marshal([]Raw{fits, tooDeep}); !errors.As(err, &e) || e.Reason != TooDeep || e.Field != "/1" {
		t.Errorf("got %s, %v", out, err)
	}
	var parsed []Raw
	flat, err := NewRaw([]byte("[]"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Parse([]byte("[1,"+deep(29)+",[]]"), &parsed, Limits{}); err != nil || parsed[1] != fits || parsed[2] != flat {
		t.Errorf("got %v, %v", parsed, err)
	}
}

// TestPlansTogether fills the memo of one recursive type from many goroutines.
func TestPlansTogether(t *testing.T) {
	type tree struct {
		Name string          `json:"name"`
		Kids []tree          `json:"kids"`
		By   map[string]tree `json:"by,omitempty"`
		Up   *tree           `json:"up,omitzero"`
	}
	in := `{"by":{"x":{"kids":[],"name":"b"}},"kids":[{"kids":[],"name":"c"}],"name":"a","up":{"kids":[],"name":"d"}}`
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var v tree
			if err := Parse([]byte(in), &v, Limits{}); err != nil {
				t.Error(err)
			}
			if out, err := Marshal(v); err != nil || string(out) != in {
				t.Errorf("got %s, %v", out, err)
			}
		})
	}
	wg.Wait()
}
