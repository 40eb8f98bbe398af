package connect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestControlFiles: what connecting writes is among the control files of the agent,
// and each names keys only where the agent itself rewrites the file.
func TestControlFiles(t *testing.T) {
	for _, a := range Agents() {
		w := newWorld(t)
		files := ControlFiles(a.Name, w.Place)
		covered := func(path string) bool {
			return slices.ContainsFunc(files, func(f ControlFile) bool { return below(path, f.Path) })
		}
		plan, err := Prepare(a, w.Place, []Level{User, Project})
		w.must(err)
		for _, c := range plan.Changes {
			if !covered(c.Path) {
				t.Errorf("%s: %s is not a control file", a.Name, c.Path)
			}
		}
		for _, dir := range a.SkillDirs(w.Place) {
			if !covered(dir) && below(dir, w.Dir) && !strings.Contains(dir, "/.claude/") {
				t.Errorf("%s: %s is not a control file", a.Name, dir)
			}
		}
		for _, f := range ControlFiles("", w.Place) {
			if f.Path == w.Dir || f.Path == w.Home || below(w.iff(), f.Path) {
				t.Errorf("%s is too much", f.Path)
			}
		}
	}
}

// TestControlCodexSkills: the user's skills are watched, those that codex unpacks are
// not.
func TestControlCodexSkills(t *testing.T) {
	w := newWorld(t)
	w.put("home/.codex/skills/.system/own/SKILL.md", "x")
	w.put("home/.codex/skills/mine/SKILL.md", "x")
	var got []string
	for _, f := range ControlFiles("codex", w.Place) {
		if strings.Contains(f.Path, "/.codex/skills") {
			got = append(got, f.Path)
		}
	}
	if !slices.Equal(got, []string{w.Home + "/.codex/skills/mine"}) {
		t.Errorf("%v", got)
	}
}

// finds is a file that somebody writes, and what Check says of it.
type finds struct{ agent, path, text, status, says string }

func (c finds) hit(f Finding) bool { return f.Status == c.status && strings.Contains(f.What, c.says) }

func (c finds) in(t *testing.T, levels ...Level) {
	t.Helper()
	w := newWorld(t)
	a, _ := Find(c.agent)
	w.must(w.connect(a, nil, levels...))
	if slices.ContainsFunc(Check(a, w.Place, levels), c.hit) {
		t.Errorf("%s is found before: %+v", c.says, Check(a, w.Place, levels))
	}
	w.put(c.path, strings.ReplaceAll(c.text, "ROOT", w.root))
	if found := Check(a, w.Place, levels); slices.ContainsFunc(found, c.hit) != (c.says != "") {
		t.Errorf("%v: %s in %s: %+v", levels, c.text, c.path, found)
	}
}

// TestCheckFinds: what opens an agent again is found.
func TestCheckFinds(t *testing.T) {
	const permits = "---\ndescription: x\npermission:\n  bash: allow\n---\nYou are x.\n"
	for _, c := range []finds{
		{"opencode", "project/opencode.json", `{"permission": {"*": "allow"}}`, "no", "permission"},
		{"opencode", "project/opencode.jsonc", `{"mode": {"build": {"permission": {"bash": "allow"}}}}`, "no", "mode.build.permission.bash"},
		{"opencode", "home/.config/opencode/config.json", `{"agent": {"build": {"tools": {"bash": true}}}}`, "no", "agent.build.permission"},
		{"opencode", "opencode.json", `{"mode": {"build": {"permission": {"bash": "allow"}}}}`, "no", "mode.build.permission.bash"},
		{"opencode", "project/.opencode/agent/x.md", "---\n---\npermission: allow\n", "open", "describes agents"},
		{"opencode", "project/.opencode/agent/x.md", permits, "no", "x.md permits tools"},
		{"opencode", "project/.opencode/modes/deep/x.md", permits, "no", "x.md permits tools"},
		{"opencode", "home/.opencode/agents/x.md", "---\n\"tools\": {bash: true}\n---\n", "no", "x.md permits tools"},
		{"opencode", "home/.config/opencode/agent/build.md", permits, "no", "build.md permits tools"},
		{"opencode", "home/.config/opencode/mode/build.md", permits, "no", "build.md permits tools"},
		{"opencode", "project/.opencode/opencode.json", "{}", "open", "read last"},
		{"opencode", "project/.opencode/opencode.json", `{"permission": {"bash": {"ls": "deny", "*": "ask"}}}`, "no", "permission.bash"},
		{"opencode", "project/.opencode/opencode.jsonc", `{"tools": {"bash": true}}`, "no", "tools.bash"},
		{"opencode", "project/.opencode/opencode.json", `{"permission": "allow"}`, "no", "allows permission"},
		{"opencode", "project/.opencode/opencode.json", `{"mcp": {"iff_x": {"type": "local"}}}`, "no", "named as if they were iff's"},
		{"opencode", "project/opencode.json", `{"mcp": {"iff.x": {"type": "local"}}}`, "no", "mcp.iff.x.enabled"},
		{"opencode", "home/.config/opencode/config.json", `{"mcp": {"docs": {"type": "local"}}, "plugin": ["x"]}`, "open", "docs"},
		{"opencode", "project/.opencode/tool/x.ts", "x", "open", "holds code"},
		{"opencode", "project/.opencode/skills/x/SKILL.md", "x", "open", "has not got the library"},
		{"claude-code", "project/.claude/settings.json", "not json", "no", "value is missing"},
		{"claude-code", "project/.claude/settings.local.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "evil"}]}]}}`, "no", "settings.local.json has hooks.PreToolUse,"},
		{"claude-code", "project/.mcp.json", `{"mcpServers": {"docs": {"command": "x"}}}`, "no", "mcpServers.iff"},
		{"codex", "home/.codex/config.toml", "[features]\nshell_tool = true\n", "no", "trusted"},
		{"codex", "project/.codex/config.toml", "[features]\nnew_thing = true\n", "no", "features"},
		{"qwen", "project/.qwen/extensions/x", "", "open", "holds extensions"},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]\n", "open", "mine.toml cannot be read"},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\ntoolName = [\"glob\", \"run_shell_command\"]\ndecision = \"allow\"\npriority = 999\n", "no", "mine.toml allows glob run_shell_command"},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"ask_user\"\npriority = 900\n", "no", "mine.toml allows glob"},
		{"gemini", "home/.gemini/policies/iff.toml", "[[rule]\n", "no", "iff.toml"},
		{"gemini", "project/.gemini/settings.json", `{"policyPaths": ["/elsewhere"]}`, "no", "policyPaths"},
		{"gemini", "project/.gemini/settings.json", `{"mcpServers": {"iff_x": {}}}`, "no", "mcp.excluded"},
	} {
		t.Run(c.agent+" "+c.path, func(t *testing.T) { t.Parallel(); c.in(t, User, Project) })
	}
}

// TestOpencodeLibrary: where opencode has its library, it installs none; above the
// project it does too.
func TestOpencodeLibrary(t *testing.T) {
	w := newWorld(t)
	a, _ := Find("opencode")
	w.must(w.connect(a, nil, User, Project))
	missing := finds{says: "has not got the library", status: "open"}
	for _, c := range []struct {
		path string
		want bool
	}{
		{"project/.opencode/skills/x/SKILL.md", true},
		{"project/.opencode/node_modules/zod/index.js", true},
		{"project/.opencode/node_modules/@opencode-ai/plugin/package.json", false},
	} {
		w.put(c.path, "x")
		if found := Check(a, w.Place, []Level{User, Project}); slices.ContainsFunc(found, missing.hit) != c.want {
			t.Errorf("with %s: %+v", c.path, found)
		}
	}
	w.must(os.Mkdir(filepath.Join(w.root, ".opencode"), 0o755))
	missing.says = filepath.Join(w.root, ".opencode") + " " + missing.says
	if found := Check(a, w.Place, []Level{User, Project}); !slices.ContainsFunc(found, missing.hit) {
		t.Errorf("above the project: %+v", found)
	}
}

// TestCheckFindsElsewhere: so is what stands in files of a level that is not edited.
func TestCheckFindsElsewhere(t *testing.T) {
	for _, c := range []finds{
		{"opencode", "home/.config/opencode/opencode.json", `{"permission": {"*": "ask", "bash": "allow"}}`, "no", "permission.*, permission.bash"},
		{"gemini", "home/.gemini/settings.json", `{"mcpServers": {"iff_x": {}}}`, "no", "iff_x"},
	} {
		c.in(t, Project)
	}
	finds{"gemini", "project/.gemini/settings.json", `{"policyPaths": ["/elsewhere"]}`, "no", "read in place of iff's"}.in(t, User)
	for _, c := range []finds{
		{"opencode", "project/opencode.json", `{"agent": {"evil": {"permission": {"bash": "allow"}}}}`, "no", "agent.evil.permission.bash"},
		{"opencode", "project/opencode.json", `{"mode": {"build": {"permission": {"ba*": "allow"}}}}`, "no", "mode.build.permission.ba*"},
		{"opencode", "project/opencode.json", `{"mcp": {"iff_x": {"type": "local"}}}`, "no", "iff_x"},
		{"gemini", "etc/gemini-cli/policies/a.toml", "[[rule]]\ntoolName = \"x\"\ndecision = \"allow\"\npriority = 950\n", "no", "a.toml allows x"},
	} {
		c.in(t, Managed)
	}
}

// TestCheckAgrees: what a stronger level holds against, and what allows nothing but
// iff, is not said to open anything.
func TestCheckAgrees(t *testing.T) {
	for _, c := range []struct {
		agent, path, text string
		level             Level
	}{
		{"opencode", "project/opencode.json", `{"permission": {"*": "allow", "bash": "ask"}, "mode": {"build": {"tools": {"bash": true}}}}`, Managed},
		{"opencode", "home/.config/opencode/opencode.json", `{"permission": {"bash": "deny", "iff_*": "allow"}, "tools": {"write": false}}`, Project},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\npriority = 999\n", Managed},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 999\n", User},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\npriority = 100\n", User},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\npriority = 999\n", Project},
		{"gemini", "home/.gemini/policies/mine.toml", "[[rule]]\nmcpName = \"iff\"\ndecision = \"allow\"\npriority = 999\n", User},
	} {
		w := newWorld(t)
		a, _ := Find(c.agent)
		w.put(c.path, c.text)
		w.must(w.connect(a, nil, c.level))
		for _, f := range Check(a, w.Place, []Level{c.level}) {
			if f.Status == "no" {
				t.Errorf("%s in %s: %s", c.text, c.path, f.What)
			}
		}
	}
}
