package connect

import (
	"slices"
	"strings"
	"testing"
)

// TestDiffMasks: values that look like secrets are not printed; what iff writes is.
func TestDiffMasks(t *testing.T) {
	for _, c := range []struct{ text, shown string }{
		{`"apiKey": "HIDE", "model": "x"`, `"apiKey": ***, "model": "x"`},
		{`"env":{"GITHUB_TOKEN":"HIDE","A":"b"}`, `"env":{"GITHUB_TOKEN":***,"A":"b"}`},
		{`"password": 1234`, `"password": ***`},
		{`"Authorization": "Bearer HIDE"`, `"Authorization": ***`},
		{`"header": "x-auth: Bearer HIDEHIDE"`, `"header": "x-auth: Bearer ***"`},
		{`"args": ["--api-key", "HIDE", "-v"]`, `"args": ["--api-key", ***, "-v"]`},
		{`"args": ["--token=HIDE"]`, `"args": ["--token=***"]`},
		{`"url": "https://x/?token=HIDE"`, `"url": "https://x/?token=***"`},
		{`"x": "sk-HIDE-0123456789"`, `"x": "***"`},
		{`api_key = 'HIDE' # mine`, `api_key = *** # mine`},
		{`headers = { "X-Secret" = "HI\"DE" }`, `headers = { "X-Secret" = *** }`},
		{`"keys": ["HIDE", "HI]DE"], "a": {"b": 1}`, `"keys": ***, "a": {"b": 1}`},
		{"\"secrets\": {\n  \"a\": {\"b\": \"HIDE\"},\n  \"c\": \"HI}DE\"\n}, \"d\": 1", "\"secrets\": ***\n  ***\n  ***\n***, \"d\": 1"},
		{"secret = \"\"\"\nHIDE\n\"\"\"\na = 1", "secret = ***\n***\n***\na = 1"},
		{`"keybindings": "x", "hockey_team": "y"`, `"keybindings": "x", "hockey_team": "y"`},
		{`"/home/me/tokens": "TRUST_FOLDER"`, `"/home/me/tokens": "TRUST_FOLDER"`},
		{`[projects."/home/me/key"]`, `[projects."/home/me/key"]`},
		{`"iff": {"command": "/usr/bin/iff", "args": ["mcp"]}`, `"iff": {"command": "/usr/bin/iff", "args": ["mcp"]}`},
	} {
		diff := Diff("x", []byte(c.text+"\n"), []byte(c.text+"\nmore\n"))
		if strings.Contains(strings.Join(diff, "\n"), "HI") {
			t.Errorf("%s: it prints %q", c.text, diff)
		}
		if got := masked(strings.Split(c.text, "\n")); !slices.Equal(got, strings.Split(c.shown, "\n")) {
			t.Errorf("%s:\n%s, not\n%s", c.text, strings.Join(got, "\n"), c.shown)
		}
	}
}

// TestDiffMasksChanged: that a secret has changed is seen, what it is is not.
func TestDiffMasksChanged(t *testing.T) {
	diff := Diff("x", []byte("a = 1\ntoken = \"one\"\n"), []byte("a = 1\ntoken = \"two\"\n"))
	if want := []string{"-token = ***", "+token = ***"}; !slices.Equal(diff[len(diff)-2:], want) {
		t.Errorf("%q", diff)
	}
}

// FuzzMask: a secret of any form, in any surroundings that JSON may have, is not in
// what is printed, and no line is lost.
func FuzzMask(f *testing.F) {
	f.Add("abc", "  ", "model")
	f.Add(`x\"y`, "\t", "a]b")
	f.Add("{[", "", "secret")
	f.Fuzz(func(t *testing.T, secret, lead, name string) {
		secret = "q7Z" + secret
		text := "{" + lead + quote(name) + ": 1,\n" + lead + `"api_token": ` + quote(secret) + ",\n\"end\": 1}"
		if _, err := everything.parse(text); err != nil || strings.Contains(name+lead, "q7Z") || strings.ContainsAny(name, `"'=:`) {
			return
		}
		out := masked(strings.Split(text, "\n"))
		if len(out) != strings.Count(text, "\n")+1 || strings.Contains(strings.Join(out, "\n"), "q7Z") {
			t.Errorf("%q: %q", text, out)
		}
	})
}
