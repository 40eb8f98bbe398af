package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/canonical"
)

// TestRead: what package canonical refuses and what is of no account here.
func TestRead(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":1e400,"b":-0,"c":[12345678901234567890]}`, `{"a":0,"b":0,"c":[0]}`},
		{`{"a":1,"a":2}`, `{"(again 0) a":2,"a":1}`},
		{`{"-a":1,"-A":2,"\u002da":3}`, `{"(again 0) -A":2,"(again 1) -a":3,"-a":1}`},
		{`{"a":"\ud800x\udc00"}`, "{\"a\":\"\ufffdx\ufffd\"}"},
		{"{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}"},
		{`[null,"null \" null",{"null":null},"\\",null]`, `[false,"null \" null",{"null":false},"\\",false]`},
		{` 7 `, `7`},
	} {
		if got, err := read([]byte(c.in)); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{``, `{`, `{"a":01}`, "\ufeff{}", `{} x`, `nul`, `{"a":` + strings.Repeat(`"\ud800`, 1) + `}`} {
		if got, err := read([]byte(in)); err == nil {
			t.Errorf("%q is read as %s", in, got)
		}
	}
	if _, err := read([]byte(`[` + strings.Repeat(`-0,`, maxRepairs) + `-0]`)); err == nil {
		t.Error("there is no end to what is made good")
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		`"a"`:                                   "a",
		`[{"type":"text","text":"a"},"b"]`:      "a\nb",
		`{"output":"a"}`:                        "a",
		`{"output":false,"error":"bad"}`:        "bad",
		`{"content":[{"text":"a"}]}`:            "a",
		`{"x":1}`:                               `{"x":1}`,
		``:                                      "",
		`{"output":{"stdout":"a","code":1}}`:    `{"code":1,"stdout":"a"}`,
		`[{"text":{"text":{"text":"deep"}}},3]`: "deep\n3",
	} {
		if got := value(in).plain(); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// FuzzRequest: every request is refused, or read into a canonical document without
// null that every dialect can be asked about.
func FuzzRequest(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"a":null,"a":-0,"b":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := read(data)
		if err != nil {
			return
		}
		again, err := canonical.Transform([]byte(v), limits())
		if err != nil || string(again) != string(v) {
			t.Fatalf("%q is no canonical document: %v", v, err)
		}
		if string(withoutNulls([]byte(v))) != string(v) {
			t.Fatalf("%q has a null", v)
		}
		for _, hear := range []func(map[string]value) heard{hearChat, hearResponses, hearMessages, hearGemini} {
			if h := hear(v.object()); h.calls < 0 || len(h.offered) > len(data) || len(h.results) > len(data) {
				t.Fatalf("%+v", h)
			}
		}
	})
}
