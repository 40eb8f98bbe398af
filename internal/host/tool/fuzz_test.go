package tool

import (
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
)

// FuzzTemplate: what is parsed is written back as it was.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"", "{a}", "x{a}y{b-c_1}", "{", "}", "{}", "{a}}", "work:a/{n}.md"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		parsed, err := parseTemplate(source)
		if err == nil && parsed.String() != source {
			t.Errorf("%q became %q", source, parsed)
		}
	})
}

// FuzzSplit: an object in canonical form that is taken apart and put together is
// the same; so is an array.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[1,{"c":"}"}],"\"":"\\","d":null}`, `[1,"a,b",[],{"x":","}]`, `"a"`, `1`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		raw, err := canonical.NewRaw([]byte(source), canonical.Limits{})
		if err != nil {
			return
		}
		switch json := raw.String(); json[0] {
		case '{':
			if got, err := join(members(json)); err != nil || got != json {
				t.Errorf("%s became %s, %v", json, got, err)
			}
		case '[':
			if got := "[" + strings.Join(elements(json), ",") + "]"; got != json {
				t.Errorf("%s became %s", json, got)
			}
		default:
			if members(json) != nil || elements(json) != nil {
				t.Errorf("%s has parts", json)
			}
		}
	})
}

// FuzzDerive: whatever path an agent names, a call that is taken is of an object
// that lies where the path leads, and what is sent names nothing else.
func FuzzDerive(f *testing.F) {
	for _, s := range []string{"a", "/w/a", "../o/x", "/w/../etc", "~/a", "/w//a/./b", "/w/in/../x", "a\x00b", "/w/a/", ".", "*"} {
		f.Add(s)
	}
	p := places{{"work", "/w"}, {"inner", "/w/in"}}
	m, err := Rule{Name: "t", Capability: "fs.read", Target: "{path}"}.compile()
	if err != nil {
		f.Fatal(err)
	}
	roots := map[string]string{"work": "/w", "inner": "/w/in"}
	f.Fuzz(func(t *testing.T, name string) {
		quoted, ok := quote(name)
		if !ok {
			return
		}
		args, err := m.absolute("/w/d", []member{{"path", quoted}})
		if err != nil {
			return
		}
		sent, _ := text(args[0].value)
		d, err := m.derive("s", p, args)
		if err != nil {
			return
		}
		corpus, at, _ := d.target.Path()
		want := strings.TrimSuffix(roots[corpus]+"/"+at, "/.")
		if sent != want || strings.Contains(sent, "/../") || d.target.Capability() != capability.FSRead {
			t.Errorf("%q is sent as %q and is %s", name, sent, d.target)
		}
	})
}

// FuzzFrame: a frame that is taken is one that strict JSON readers agree about.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}`, `[]`, `{"jsonrpc":"2.0","method":"ping","id":"x"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993}}`, `{"id":1}`, ` `, `{`, strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s screen
		msg, err := s.frame(data)
		if err == nil && msg != nil && canonical.Check(data, limits) != nil && !answers(canonical.Check(data, limits), data) {
			t.Errorf("%q was taken", data)
		}
	})
}
