package connect

import (
	"reflect"
	"testing"
)

// ops that agents need, on whatever file.
var fuzzOps = []op{
	set("deny", "permission", "bash"), set(true, "a"), set(3600, "mcp_servers", "iff", "tool_timeout_sec"),
	set([]string{"mcp", "--home", "/x y"}, "mcp_servers", "iff", "args"), with([]string{"one", "two"}, "permissions", "deny"),
	set("trusted", "projects", "/a.b/\"c\"", "trust_level"),
}

// edits does all ops and takes them back; what the file means is as before, whatever
// it is.
func edits(t *testing.T, f format, text string) {
	before, err := f.parse(text)
	if err != nil {
		return
	}
	var done []edit
	now := text
	for _, o := range fuzzOps {
		next, e, err := perform(f, now, o)
		if err != nil {
			continue // refused
		}
		after, err := f.parse(next)
		if err != nil || !o.holds(after) {
			t.Fatalf("%v on %q gives %q: %v", o, now, next, err)
		}
		if now = next; e != nil {
			done = append(done, *e)
		}
	}
	for i := len(done) - 1; i >= 0; i-- {
		next, kept, err := takeBack(f, now, done[i])
		if err != nil || kept {
			t.Fatalf("taking %v back from %q: kept %v, %v", done[i], now, kept, err)
		}
		now = next
	}
	after, err := f.parse(now)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("%q is %q after all is taken back: %v", text, now, err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, files := range given {
		for _, text := range files {
			f.Add(text)
		}
	}
	for _, text := range []string{
		`{"permissions":{"deny":[]}}`, `{"permissions":{"deny":["one" /* x */,],}, }`, "{\"a\": 1 // x\n}", "{ /* x */ }", "{\n// x\n}", `{"a":{}}`,
		`{"permission":{"bash":"allow"},"mcp_servers":{"iff":{"args":[1,2],"x":[{"y":[]}]}}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { edits(t, everything, text) })
}

func FuzzTOML(f *testing.F) {
	for _, files := range given {
		for _, text := range files {
			f.Add(text)
		}
	}
	for _, text := range []string{
		"[permissions]\ndeny = [\"a#b\", 'c,]#', # d ]\n  \"e\", # f\n]\n", "permissions.deny=[\"x#\"]",
		"a = 1", "a = 1 # x\n[permission]\nbash = 'x'\n", "permissions.deny = [ # x\n 'one', # y\n]\n", "[permissions]\ndeny = []", "permission.bash = \"\"\"\n[x]\n\"\"\"\nz = '''a''''\n",
		"[[mcp_servers.iff.x]]\na = 1\n[mcp_servers.iff]\nargs = 2\n", "[projects.\"/a.b/\\\"c\\\"\"]\nx = 1\n", "\"a\" = 2\n", "[ mcp_servers . iff ]\n\n\n[z]\n", "permissions = { deny = ['x'] }\n",
		"\ufeff", "\ufeffa = 1\n", "\xff\xfe", "\xfe\xff[a]\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { edits(t, tomlFormat{}, text) })
}
