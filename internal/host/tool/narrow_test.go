package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iff-run/iff/gate"
)

// What a tool with a target is given beside its templates holds no text, at any
// depth, unless takes lists it.
func TestNarrow(t *testing.T) {
	if wrong := narrowed(t, (*mapping).narrow); len(wrong) > 0 {
		t.Error(wrong)
	}
	if len(narrowed(t, byName)) == 0 {
		t.Error("nobody finds that only the names of arguments are looked at")
	}
}

// byName looks at nothing but what arguments are called, which an agent's tool may
// call as it likes.
func byName(m *mapping, args []member) error {
	for _, a := range args {
		if !m.named(a.name) && strings.Contains(a.name, "path") {
			return bad("argument %q", a.name)
		}
	}
	return nil
}

func narrowed(t *testing.T, narrow func(*mapping, []member) error) []string {
	t.Helper()
	var wrong []string
	for _, c := range []struct {
		rule   Rule
		args   string
		passes bool
	}{
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","head":3,"raw":true,"none":null,"list":[1,[2]],"bare":{}}`, true},
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","other_path":"/w/b"}`, false},
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","x":"b"}`, false},
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","x":[1,["b"]]}`, false},
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","x":[{"b":1}]}`, false},
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","options":{"deep":{"also":"https://evil.example"}}}`, false},
		{Rule{Capability: "fs.read", Target: "{path}"}, `{"path":"/w/a","files":{"/etc/passwd":1}}`, false},
		{Rule{Capability: "fs.read", Target: "{path}", Takes: []string{"head"}}, `{"path":"/w/a","head":"3"}`, true},
		{Rule{Capability: "fs.read", Target: "{path}", Takes: []string{"head"}}, `{"path":"/w/a","tail":3}`, false},
		{Rule{Capability: "fs.write.irrev", Target: "notes.md"}, `{"text":"hello"}`, false},
		{Rule{Capability: "fs.write.irrev", Target: "notes.md", Takes: []string{"text"}}, `{"text":"hello"}`, true},
		{Rule{Capability: "fs.write.irrev", Target: "{path}", Takes: []string{"edits"}}, `{"path":"/w/a","edits":[{"old":"a","new":"b"}]}`, true},
		{Rule{Capability: "net.egress", Target: "{url}"}, `{"url":"https://example.com","proxy":"http://evil.example"}`, false},
		{Rule{Capability: "net.egress", Target: "example.com"}, `{"body":"x"}`, false},
		{Rule{Capability: "publish", Target: "slack:#{channel}"}, `{"channel":"a","text":"x"}`, false},
		{Rule{Capability: "spawn.proc", Target: "git log {rev}"}, `{"rev":"HEAD","cwd":"/w"}`, false},
		{Rule{}, `{"anything":{"at":"all"}}`, true},
		{Rule{Also: []string{"memory.json"}}, `{"entities":[{"name":"a"}]}`, true},
	} {
		if err := narrow(compiled(t, c.rule), object(t, c.args)); (err == nil) != c.passes {
			wrong = append(wrong, fmt.Sprintf("%s %s %s: %v", c.rule.Capability, c.rule.Target, c.args, err))
		}
	}
	return wrong
}

// A target without arguments is the same for every call: an object as grants name
// it, or an absolute path, wherever the server runs.
func TestLiteralTargets(t *testing.T) {
	s := upstreamOf(t, "fake", "plain",
		Rule{Name: "write", Capability: "fs.write.irrev", Target: "sub/notes.md", Takes: []string{"content", "path"}},
		Rule{Name: "echo", Capability: "fs.read", Target: "work:a", Takes: []string{"say"}},
		Rule{Name: "shout", Capability: "publish", Target: "slack:#general", Takes: []string{"say"}})
	w := newWorld(t, nil, s)
	for tool, want := range map[string]string{
		"write": "fs.write.irrev(sub/notes.md)", "echo": "fs.read(a)", "shout": "publish(slack:#general)",
	} {
		env := w.call(tool, `{}`)
		if got := env.Target().Capability().String() + "(" + env.Target().String() + ")"; got != want {
			t.Errorf("%s is %s, want %s", tool, got, want)
		}
		touches, err := w.h.Touches(env)
		if err != nil {
			t.Errorf("%s: %v", tool, err)
		}
		if tool == "write" && (len(touches.Changes) != 1 || touches.Changes[0] != "work/sub/notes.md") {
			t.Errorf("%s touches %+v", tool, touches)
		}
	}
	nowhere := upstreamOf(t, "nowhere", "plain", Rule{Name: "write", Capability: "fs.write.irrev", Target: "/nowhere/at/all"})
	if _, err := w.h.newUpstream(nowhere, 1); reason(err) != gate.NoCorpus {
		t.Errorf("a path in no corpus: %v", err)
	}
	m := compiled(t, Rule{Capability: "fs.read", Target: "/w/a b"})
	if d, err := m.derive("srv", places{{"work", "/w"}}, nil); err != nil || d.target.String() != "a b" {
		t.Errorf("an absolute one: %v, %v", d.target, err)
	}
}
