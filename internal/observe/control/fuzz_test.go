package control

import (
	"bytes"
	"slices"
	"testing"

	"github.com/iff-run/iff/corpus"
)

// Whatever a file holds, its state is the same for any order of keys and says
// whether a member is there; and what is not of the form is read as bytes.
func FuzzMembers(f *testing.F) {
	f.Add(true, []byte(`{"a":{"b":[1,2.5,"x",null,true]}}`), "a", "/a/b")
	f.Add(false, []byte("a = 1\n[b.c]\nd = 1979-05-27T07:32:00Z\ne = [inf, -0.0, 9223372036854775807]\n[[f]]\n"), "b", "/b/c")
	f.Add(true, []byte(`{"a":1,"a":2}`), "a", "")
	f.Add(true, []byte(`{"\\\"{":[],"x":{"y":"}\\"","z":null}}`), "/x/z", "\"{")
	f.Add(true, []byte(` `), "/", "~0~1")
	f.Add(false, []byte("a."), "a", "a")
	f.Fuzz(func(t *testing.T, json bool, data []byte, a, b string) {
		name := "x.toml"
		if json {
			name = "x.json"
		}
		before := slices.Clone(data)
		one, ok := members(name, data, []string{a, b})
		two, again := members(name, data, []string{b, a, b})
		if one != two || ok != again || !bytes.Equal(before, data) {
			t.Fatalf("%q: %s and %s", data, one, two)
		}
		if ok && one != corpus.Absent && !one.Known() || !ok && one != "" {
			t.Fatalf("%q: %q", data, one)
		}
		if other, _ := members(name, data, []string{a, "another key"}); json && ok && one == corpus.Absent && other.Known() && other != corpus.Absent {
			t.Fatalf("%q has what it has not", data)
		}
		if only, _ := members(name, data, []string{a}); ok && one == corpus.Absent && only != corpus.Absent {
			t.Fatalf("%q: neither %q nor %q is there, and %q is", data, a, b, a)
		}
	})
}

func TestMember(t *testing.T) {
	const doc = `{"":0,"a":{"b":[1,"]}",{"c":null}],"b/c":"\"}","~":{}},"d\\\"":-1,"z":null}`
	for key, want := range map[string]string{
		"a": `{"b":[1,"]}",{"c":null}],"b/c":"\"}","~":{}}`, "/a/b": `[1,"]}",{"c":null}]`, "/a/b~1c": `"\"}"`, "/a/~0": `{}`, `d\"`: "-1", "z": "null", "/z": "null",
		"": "0", "/": "0", "b": "-", "/a/b/0": "-", "/a/~": `{}`, "/z/a": "-", "c": "-", "/d": "-",
	} {
		got, ok := member(doc, key)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", key, got, want)
		}
	}
}
