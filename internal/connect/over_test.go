package connect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// proved is a world in which an agent was connected and proved.
func proved(t *testing.T, name string, env ...string) (*world, Agent) {
	t.Helper()
	w := newWorld(t)
	a, _ := Find(name)
	w.must(w.connect(a, nil, User, Project))
	over, err := Look(a, w.Place, env)
	w.must(err)
	w.must(NewStore(w.iff(), nil).Note(a.Name, w.Place, "proved: x", over))
	if stale := w.record(a).Stale(); len(stale) > 0 {
		t.Fatalf("%s: at once: %q", name, stale)
	}
	return w, a
}

func (w *world) record(a Agent) *Record {
	w.t.Helper()
	r, err := NewStore(w.iff(), nil).Find(a.Name, w.Place)
	w.must(err)
	return r
}

// moves are changes after the proof, and what is said of them; nothing of those that
// change no tool.
var moves = []struct{ agent, path, text, says string }{
	{"opencode", "project/opencode.json", `{"permission": "allow"}`, "project/opencode.json has changed"},
	{"opencode", "project/opencode.jsonc", `{"x": 1}`, "project/opencode.jsonc is new"},
	{"opencode", "project/.opencode/opencode.json", `{"x": 1}`, "project/.opencode/opencode.json is new"},
	{"opencode", "project/.opencode/agent/skills/x.md", "x", "agent/skills/x.md is new"},
	{"opencode", "project/.opencode/plugin/x.ts", "x", "plugin/x.ts is new"},
	{"opencode", "opencode.json", `{"x": 1}`, "/opencode.json is new"},
	{"opencode", ".opencode/tool/x.ts", "x", ".opencode/tool/x.ts is new"},
	{"opencode", "home/.config/opencode/plugins/x.ts", "x", "plugins/x.ts is new"},
	{"opencode", "home/.config/opencode/opencode.json", `{"mcp": {}}`, "opencode.json has changed"},
	{"opencode", "home/.config/opencode/opencode.jsonc", `{"$schema": "x"}`, ""},
	{"opencode", "etc/opencode/opencode.json", `{"x": 1}`, "etc/opencode/opencode.json is new"},
	{"opencode", "project/.env", "X=1", ".env is new"},
	{"opencode", "project/.opencode/package.json", `{}`, ""},
	{"opencode", "project/.opencode/skills/x/SKILL.md", "x", ""},
	{"opencode", "project/notes.txt", "x", ""},
	{"claude-code", "home/.claude.json", `{"mcpServers": {}, "numStartups": 1}`, ".claude.json has changed"},
	{"claude-code", "project/.claude/settings.local.json", `{"x": 1}`, "settings.local.json is new"},
	{"claude-code", "project/.claude/agents/CLAUDE.md", "x", "agents/CLAUDE.md is new"},
	{"claude-code", "project/.claude/todos/x", "x", ""},
	{"claude-code", "etc/claude-code/managed-settings.d/x.json", `{"x": 1}`, "managed-settings.d/x.json is new"},
	{"codex", "home/.codex/config.toml", "[features]\nshell_tool = true\n", "config.toml has changed"},
	{"codex", "project/.codex/hooks.json", `{"x": 1}`, "hooks.json is new"},
	{"codex", "home/.codex/skills/x/SKILL.md", "x", ""},
	{"codex", "etc/codex/requirements.toml", "x = 1", "requirements.toml is new"},
	{"qwen", "project/.qwen/.env", "X=1", ".qwen/.env is new"},
	{"qwen", "home/.qwen/extensions/x/qwen-extension.json", `{"x": 1}`, "qwen-extension.json is new"},
	{"qwen", "home/.qwen/extensions/extension-enablement.json", "{}", ""},
	{"gemini", "home/.gemini/policies/mine.toml", "x = 1", "mine.toml is new"},
	{"gemini", "etc/gemini-cli/policies/x.toml", "x = 1", "x.toml is new"},
}

// TestStale: a proof is void once a file that the agent goes by is another, has
// appeared or is gone, and not for what the agent keeps for itself.
func TestStale(t *testing.T) {
	for _, m := range moves {
		t.Run(m.agent+" "+m.path, func(t *testing.T) {
			t.Parallel()
			w, a := proved(t, m.agent)
			w.put(m.path, m.text)
			stale := w.record(a).Stale()
			if m.says == "" && len(stale) > 0 || m.says != "" && (len(stale) != 1 || !strings.Contains(stale[0], m.says)) {
				t.Errorf("it says %q", stale)
			}
		})
	}
}

// TestStaleMutants: comparisons as they must not be. Each misses something above.
func TestStaleMutants(t *testing.T) {
	for name, keep := range map[string]func(r *Record, f Seen) bool{
		"only what connecting has written": func(r *Record, f Seen) bool { return slices.Contains(r.Needs, f.Path) },
		"only what was there": func(r *Record, f Seen) bool {
			return slices.ContainsFunc(r.Over.Files, func(o Seen) bool { return o.Path == f.Path })
		},
		"only the project": func(r *Record, f Seen) bool { return below(f.Path, r.Dir) },
		"only the user":    func(r *Record, f Seen) bool { return below(f.Path, r.Home) },
	} {
		missed := 0
		for _, m := range moves {
			w, a := proved(t, m.agent)
			w.put(m.path, m.text)
			r := w.record(a)
			now, err := Look(a, w.Place, nil)
			w.must(err)
			now.Files = slices.DeleteFunc(now.Files, func(f Seen) bool { return !keep(r, f) })
			then := *r.Over
			then.Files = slices.DeleteFunc(slices.Clone(then.Files), func(f Seen) bool { return !keep(r, f) })
			if m.says != "" && len(then.Since(now)) == 0 {
				missed++
			}
		}
		if missed == 0 {
			t.Errorf("%s: nothing tells it from the real one", name)
		}
	}
}

// TestStaleGone: what was there and is not any more is named; a record without its
// files proves nothing, nor does one whose files cannot be looked through.
func TestStaleGone(t *testing.T) {
	w, a := proved(t, "opencode")
	w.put("project/.opencode/agent/x.md", "x")
	over, err := Look(a, w.Place, nil)
	w.must(err)
	w.must(NewStore(w.iff(), nil).Note(a.Name, w.Place, "proved: x", over))
	w.must(os.RemoveAll(w.Dir + "/.opencode/agent"))
	if stale := w.record(a).Stale(); len(stale) != 1 || !strings.HasSuffix(stale[0], "x.md is gone, or says nothing any more") {
		t.Errorf("it says %q", stale)
	}
	w.must(os.Symlink(w.Dir, w.Dir+"/.opencode/agent"))
	w.must(os.Symlink(".", w.Dir+"/loop"))
	if stale := w.record(a).Stale(); len(stale) != 1 || !strings.Contains(stale[0], "directories") && !strings.Contains(stale[0], "files") {
		t.Errorf("of a loop it says %q", stale)
	}
	w.must(NewStore(w.iff(), nil).Note(a.Name, w.Place, "proved: x", nil))
	if stale := w.record(a).Stale(); len(stale) != 1 {
		t.Errorf("without files it says %q", stale)
	}
}

// TestStaleMoved: what a variable has put elsewhere is looked at there, whether it is
// set or not when somebody asks.
func TestStaleMoved(t *testing.T) {
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, a := proved(t, "codex", "CODEX_HOME="+elsewhere, "SECRET=x")
	if moved := w.record(a).Over.Moved; !slices.Equal(moved, []string{"CODEX_HOME=" + elsewhere}) {
		t.Errorf("kept are %q", moved)
	}
	w.must(os.WriteFile(elsewhere+"/config.toml", []byte("[features]\nshell_tool = true\n"), 0o600))
	if stale := w.record(a).Stale(); !slices.Equal(stale, []string{elsewhere + "/config.toml is new"}) {
		t.Errorf("it says %q", stale)
	}
}

// TestApplyVoidsProof: connecting that changes something proves nothing by itself.
func TestApplyVoidsProof(t *testing.T) {
	w, a := proved(t, "qwen")
	w.put("project/.qwen/settings.json", `{}`)
	w.must(w.connect(a, nil, User, Project))
	if r := w.record(a); r.Proof != "" || r.Over != nil {
		t.Errorf("it keeps %q over %v", r.Proof, r.Over)
	}
}
