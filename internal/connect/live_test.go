package connect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/connect/model"
)

// TestEveryAgentRuns: whatever can be connected can be proved.
func TestEveryAgentRuns(t *testing.T) {
	live := liveAgents()
	for _, a := range Agents() {
		l, ok := live[a.Name]
		if !ok || l.prefix == "" || l.ask.Tool == "" || len(l.shell) == 0 || len(l.state) == 0 {
			t.Errorf("%s cannot be run: %+v", a.Name, l)
			continue
		}
		out := l.launch(liveWorld{url: "http://127.0.0.1:1", temp: "/t"})
		if text := strings.Join(out.args, " "); !strings.Contains(text, livePrompt) {
			t.Errorf("%s is not told what to do: %s", a.Name, text)
		}
		for name, v := range out.env {
			if strings.Contains(name, "KEY") && v != liveKey {
				t.Errorf("%s: %s is %q", a.Name, name, v)
			}
		}
		for _, s := range l.state {
			var moved bool
			for _, v := range out.env {
				moved = moved || strings.HasPrefix(filepath.Join("/t", s.to), v) && v != ""
			}
			if !moved {
				t.Errorf("%s is not told of the copy of %s", a.Name, s.from)
			}
		}
	}
	if len(live) != len(Agents()) {
		t.Errorf("%d agents are run, %d connected", len(live), len(Agents()))
	}
}

// TestJudge: one thing that is not iff's is enough to be open, and nothing short of
// a whole run with an answer of iff is proved.
func TestJudge(t *testing.T) {
	a := liveAgent{prefix: "iff_", neutral: []string{"search"}, left: []string{"view"}, listed: func(opening string) []string {
		return strings.Fields(opening)
	}}
	main := func(step int, offered ...string) model.Request {
		return model.Request{Who: model.Main, Step: step, Offered: offered}
	}
	good := []model.Request{{Who: model.Aux}, main(0, "iff_read", "search", "view"), main(2, "iff_read")}
	for _, c := range []struct {
		name   string
		change func(*sight)
		want   Verdict
		says   string
	}{
		{"closed", func(*sight) {}, Proved, ""},
		{"a foreign tool", func(s *sight) { s.requests = append(s.requests, main(1, "bash")) }, Open, "bash"},
		{"a name like iff's", func(s *sight) { s.requests = append(s.requests, main(1, "xiff_read")) }, Open, "xiff_read"},
		{"one of a server called iff_more", func(s *sight) { s.requests = append(s.requests, main(1, "iff_more_read")) }, Open, "iff_more_read"},
		{"a name like a neutral one", func(s *sight) { s.requests = append(s.requests, main(1, "search2")) }, Open, "search2"},
		{"one told in words", func(s *sight) { s.requests[1].Opening = "iff_list bash" }, Open, "bash"},
		{"one of a sub-agent", func(s *sight) {
			s.requests = append(s.requests, model.Request{Who: model.Sub, Offered: []string{"edit"}})
		}, Open, "edit"},
		{"one that ran unoffered", func(s *sight) { s.ran = []string{"bash"} }, Open, "ran bash"},
		{"no request", func(s *sight) { s.requests = nil }, NotProved, "never asked the model: it ended by itself, saying: bye"},
		{"no tools", func(s *sight) { s.requests = s.requests[:1] }, NotProved, "no tools at all"},
		{"none of iff's", func(s *sight) { s.requests = []model.Request{main(2, "search")} }, NotProved, "not iff's tools either"},
		{"an early end", func(s *sight) { s.requests = s.requests[:2] }, NotProved, "after 0 of 2 calls"},
		{"no answer of iff", func(s *sight) { s.results = []string{"", "x"} }, NotProved, "did not answer"},
		{"no answers", func(s *sight) { s.results = nil }, NotProved, "did not answer"},
	} {
		s := sight{iff: []string{"read", "list"}, requests: slices.Clone(good), results: []string{"skills", ""}, steps: 2, said: "bye"}
		c.change(&s)
		p := a.judge(s)
		if p.Verdict != c.want || !strings.Contains(p.Why, c.says) || (p.Verdict == Proved) != (p.Why == "") {
			t.Errorf("%s: %v, %q, want %v", c.name, p.Verdict, p.Why, c.want)
		}
		if !strings.HasPrefix(p.String(), c.want.String()+": ") {
			t.Errorf("%s: %s", c.name, p)
		}
	}
	if (Proof{}).Verdict != NotProved {
		t.Error("no proof is one")
	}
}

// TestQwenListed reads the words with which the agent offers deferred tools.
func TestQwenListed(t *testing.T) {
	opening := "x\n- \"before\": \"\"\nThe following tools are reachable through `tool_search` and `tool_call`. Review.\n\n### Bundled\n" +
		"- \"monitor\": \"Starts a \\\"long\\\" one\"\n\n### MCP servers\n#### iff\n- \"mcp__iff__fs_read\": \"d\"\n</system-reminder>\n- \"after\": \"\"\n"
	if got, want := qwenListed(opening), []string{"monitor", "mcp__iff__fs_read"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := qwenListed("no such words\n- \"x\": \"\""); got != nil {
		t.Errorf("%q", got)
	}
}

// TestCopyState: settings are copied to the byte, links followed, and neither
// credentials nor history; a variable that moves the settings is obeyed.
func TestCopyState(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"a/settings.json", "a/auth.json", "a/history/h.json", "a/agents/deep/x.md", "a/agents/node_modules/n.js", "b/c/settings.json", "elsewhere/y.md",
	} {
		put(path, path)
	}
	for from, to := range map[string]string{"elsewhere": "a/agents/linked", "elsewhere/y.md": "a/agents/y.md", "nowhere": "a/agents/dead"} {
		if err := os.Symlink(filepath.Join(home, from), filepath.Join(home, to)); err != nil {
			t.Fatal(err)
		}
	}
	states := []liveState{
		{from: "a", named: "UNSET", to: "a", names: []string{"settings.json", "agents"}},
		{from: "a", named: "MOVED", under: "c", to: "b", names: []string{"*.json"}},
		{from: "gone", to: "gone", names: []string{"*"}},
	}
	r := &liveRun{agent: liveAgent{state: states}, temp: temp, options: LiveOptions{Place: Place{Home: home}, Env: []string{"MOVED=" + home + "/b"}}}
	if err := r.copyState(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err := filepath.WalkDir(temp, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		got[strings.TrimPrefix(path, temp+"/")] = string(data)
		if d.Type() != 0 {
			t.Errorf("%s is %v", path, d.Type())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a/settings.json": "a/settings.json", "a/agents/deep/x.md": "a/agents/deep/x.md", "a/agents/linked/y.md": "elsewhere/y.md",
		"a/agents/y.md": "elsewhere/y.md", "b/settings.json": "b/c/settings.json",
	}
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s: %q, want %q", path, got[path], text)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("copied too: %v", got)
	}
}

// TestCopyBounds: a directory without an end is no settings.
func TestCopyBounds(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "loop"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(home, "loop", "loop")); err != nil {
		t.Fatal(err)
	}
	if err := (&copier{}).copy(home, t.TempDir(), 0); err == nil {
		t.Error("a loop of links was copied")
	}
	file := filepath.Join(home, "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*copier{{files: copyFiles}, {bytes: copyBytes}} {
		if err := c.copy(file, file+"2", 0); err == nil {
			t.Errorf("copied beyond %+v", c)
		}
	}
}

func TestGeminiKey(t *testing.T) {
	temp := t.TempDir()
	path := filepath.Join(temp, "gemini", ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", `{"a": 1, // kept` + "\n" + ` "security": {"auth": {"selectedType": "oauth-personal"}}}`, `{"a": 1}`} {
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := geminiKey(temp); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		after, err := everything.parse(string(data))
		if v, _ := at(after, "security", "auth", "selectedType"); err != nil || v != "gemini-api-key" {
			t.Errorf("%s became %s: %v", before, data, err)
		}
		if v, _ := at(after, "a"); before != "" && v != number("1") {
			t.Errorf("%s became %s", before, data)
		}
	}
}

func TestTail(t *testing.T) {
	var out tail
	for range 3 {
		if n, err := out.Write([]byte(strings.Repeat("x", tailBytes-2))); n != tailBytes-2 || err != nil {
			t.Fatal(n, err)
		}
	}
	_, _ = out.Write([]byte("\nlast \x1b[31mline\n \n"))
	if len(out.data) > tailBytes {
		t.Errorf("%d bytes kept", len(out.data))
	}
	if got := out.last(); !strings.HasPrefix(got, "last ") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}
