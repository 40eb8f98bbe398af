package connect

import (
	"slices"
	"strings"
	"testing"
)

// reopening are files that open again what connecting closed, with the keys that do.
func reopening() map[Level][]finds {
	const (
		local  = "project/.claude/settings.local.json"
		dotted = "project/.opencode/opencode.json"
		evil   = `{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "COMMAND"}]}]}}`
	)
	hook := func(command string) string { return strings.Replace(evil, "COMMAND", command, 1) }
	return map[Level][]finds{
		"": { // user and project, which is what holds without root
			{"opencode", dotted, `{"agent": {"build": {"permission": {"bash": "allow"}}}}`, "no", "agent.build.permission.bash"},
			{"opencode", dotted, `{"mode": {"build": {"tools": {"bash": true}}}}`, "no", "mode.build.tools.bash"},
			{"opencode", dotted, `{"default_agent": "mine"}`, "no", "opencode.json has default_agent,"},
			{"opencode", dotted, `{"mcp": {"iff": {"type": "local", "command": ["evil"]}}}`, "no", "opencode.json has mcp.iff.command,"},
			{"opencode", dotted + "c", `{"mcp": {"iff": {"environment": {"HOME": "/evil"}}}}`, "no", "opencode.jsonc has mcp.iff.environment,"},
			{"opencode", dotted, `{"mcp": {"iff": 1}}`, "no", "opencode.json has mcp.iff,"},
			{"opencode", "opencode.json", `{"mcp": {"iff": {"environment": {"HOME": "/evil"}}}}`, "no", "mcp.iff.environment"},
			{"claude-code", local, hook("evil"), "no", "settings.local.json has hooks.PreToolUse,"},
			{"claude-code", local, hook("evil; iff hook"), "no", "hooks.PreToolUse"},
			{"claude-code", local, hook("iff hook; evil"), "no", "hooks.PreToolUse"},
			{"claude-code", local, hook("/x;y/iff hook"), "no", "hooks.PreToolUse"},
			{"claude-code", local, hook("eviliff hook"), "no", "hooks.PreToolUse"},
			{"claude-code", local, `{"hooks": {"Stop": [{"hooks": [{"command": "iff hook"}, {"type": "http"}]}]}}`, "no", "hooks.Stop"},
			{"claude-code", local, `{"enabledPlugins": {"x@y": true}}`, "no", "enabledPlugins"},
			{"claude-code", local, `{"env": {"HOME": "/evil"}}`, "no", "env.HOME"},
			{"claude-code", "project/.claude/settings.json", hook("evil"), "no", "settings.json has hooks.PreToolUse,"},
			{"claude-code", "home/.claude.json", `{"projects": {"ROOT/project": {"mcpServers": {"iff": {"command": "evil"}}}}}`, "no", "mcpServers.iff.command"},
			{"codex", "home/.codex/config.toml", "profile = \"open\"\n", "no", "config.toml has profile,"},
			{"codex", "project/.codex/config.toml", "[mcp_servers.iff.env]\nHOME = \"/evil\"\n", "no", "mcp_servers.iff.env"},
			{"qwen", "project/.qwen/settings.json", `{"tools": {"discoveryCommand": "evil"}}`, "no", "tools.discoveryCommand"},
		},
		User: {
			{"opencode", "project/opencode.json", `{"default_agent": "mine"}`, "no", "default_agent"},
			{"claude-code", "project/.mcp.json", `{"mcpServers": {"iff": {"command": "evil"}}}`, "no", "mcpServers.iff.command"},
			{"codex", "project/.codex/config.toml", "[features]\nshell_tool = true\n", "no", "features.shell_tool"},
			{"codex", "project/.codex/config.toml", "web_search = \"live\"\n[mcp_servers.docs]\ncommand = \"x\"\n", "no", "web_search, mcp_servers.docs"},
			{"codex", "project/.codex/config.toml", "[mcp_servers.iff]\ncommand = \"evil\"\n", "no", "mcp_servers.iff.command"},
			{"qwen", "project/.qwen/settings.json", `{"disableAllHooks": false}`, "no", "disableAllHooks"},
			{"qwen", "project/.qwen/settings.json", `{"mcp": {"allowed": ["iff", "evil"]}}`, "no", "mcp.allowed"},
			{"qwen", "project/.qwen/settings.json", `{"mcpServers": {"iff": {"command": "evil"}}}`, "no", "mcpServers.iff.command"},
			{"gemini", "project/.gemini/settings.json", `{"mcpServers": {"iff": {"command": "evil"}}}`, "no", "mcpServers.iff.command"},
			{"gemini", "project/.gemini/settings.json", `{"hooksConfig": {"enabled": true}, "tools": {"discoveryCommand": "evil"}}`, "no", "hooksConfig.enabled, tools.discoveryCommand"},
		},
		Project: {
			{"codex", "home/.codex/config.toml", "[features]\nnew_thing = true\n[projects.\"ROOT/project\"]\ntrust_level = \"trusted\"\n", "no", "features.new_thing"},
			{"gemini", "home/.gemini/settings.json", `{"mcpServers": {"iff": {"env": {"HOME": "/evil"}}}}`, "no", "mcpServers.iff.env"},
		},
		Managed: {
			{"opencode", dotted, `{"mcp": {"iff": {"environment": {"HOME": "/evil"}}}}`, "no", "mcp.iff.environment"},
			{"codex", "home/.codex/config.toml", "web_search = \"live\"\n", "no", "web_search"},
			{"codex", "project/.codex/config.toml", "[features]\ncode_mode = true\n", "no", "features.code_mode"},
			{"qwen", "project/.qwen/settings.json", `{"mcpServers": {"iff": {"env": {"HOME": "/evil"}}}}`, "no", "mcpServers.iff.env"},
			{"gemini", "project/.gemini/settings.json", `{"mcpServers": {"iff": {"env": {"HOME": "/evil"}}}}`, "no", "mcpServers.iff.env"},
		},
	}
}

func closures(l Level) []Level {
	if l == "" {
		return []Level{User, Project}
	}
	return []Level{l}
}

// TestReopened: what a file opens again is a failed check, with file and key.
func TestReopened(t *testing.T) {
	for level, cases := range reopening() {
		for _, c := range cases {
			t.Run(c.agent+" "+c.path, func(t *testing.T) { t.Parallel(); c.in(t, closures(level)...) })
		}
	}
}

// TestReopenedMutants: the checks as they must not be. Each misses something above.
func TestReopenedMutants(t *testing.T) {
	for name, change := range map[string]func(Finding) []Finding{
		"it only mentions it": func(f Finding) []Finding {
			if strings.Contains(f.What, " has ") || strings.Contains(f.What, " allows ") {
				f.Status = "open"
			}
			return []Finding{f}
		},
		"it looks at no file that connecting does not write": func(f Finding) []Finding {
			if strings.Contains(f.What, ".local.json has") || strings.Contains(f.What, "/.opencode/") {
				return nil
			}
			return []Finding{f}
		},
		"it names no key": func(f Finding) []Finding {
			file, _, _ := strings.Cut(f.What, " has ")
			return []Finding{{f.Status, file, f.Remedy}}
		},
	} {
		missed := 0
		for _, c := range reopening()[""] {
			w := newWorld(t)
			a, _ := Find(c.agent)
			sound := a.open
			a.open = func(p Place, levels []Level) []Finding {
				var out []Finding
				for _, f := range sound(p, levels) {
					out = append(out, change(f)...)
				}
				return out
			}
			w.must(w.connect(a, nil, User, Project))
			w.put(c.path, strings.ReplaceAll(c.text, "ROOT", w.root))
			if !slices.ContainsFunc(Check(a, w.Place, closures("")), c.hit) {
				missed++
			}
		}
		if missed == 0 {
			t.Errorf("%s: nothing tells it from the real one", name)
		}
	}
}

// TestNotReopened: what stands in such files and opens nothing is no failed check.
func TestNotReopened(t *testing.T) {
	for _, c := range []struct {
		agent, path, text string
		level             Level
	}{
		{"opencode", "project/.opencode/opencode.json", `{"model": "x/y", "agent": {"build": {"model": "x/y"}}, "permission": {"bash": "deny"}}`, ""},
		{"claude-code", "project/.claude/settings.local.json", `{"permissions": {"allow": ["Bash"]}, "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "/usr/local/bin/iff hook --agent claude-code"}]}]}}`, ""},
		{"claude-code", "project/.claude/settings.local.json", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "evil"}]}]}, "statusLine": {"command": "x"}}`, Managed},
		{"codex", "home/.codex/config.toml", "model = \"x\"\nweb_search = \"live\"\n[features]\nshell_tool = true\n[projects.\"ROOT/project\"]\ntrust_level = \"trusted\"\n", Project},
		{"codex", "home/.codex/config.toml", "[features]\nshell_tool = true\n[mcp_servers.docs]\ncommand = \"x\"\n", Managed},
		{"qwen", "project/.qwen/settings.json", `{"$version": 3, "ui": {}, "disableAllHooks": true}`, User},
		{"gemini", "project/.gemini/settings.json", `{"tools": {"core": ["x"]}, "ui": {}}`, User},
	} {
		w := newWorld(t)
		a, _ := Find(c.agent)
		w.must(w.connect(a, nil, closures(c.level)...))
		w.put(c.path, strings.ReplaceAll(c.text, "ROOT", w.root))
		for _, f := range Check(a, w.Place, closures(c.level)) {
			if f.Status == "no" {
				t.Errorf("%s in %s: %s", c.text, c.path, f.What)
			}
		}
	}
}

// TestCodexAbove: files of directories above the project count up to that of the
// repository, and where there is none not at all.
func TestCodexAbove(t *testing.T) {
	for _, repository := range []bool{true, false} {
		w := newWorld(t)
		w.Dir += "/deep"
		w.put("project/deep/x", "")
		w.put("project/.codex/config.toml", "[features]\nnew_thing = true\n")
		if repository {
			w.put("project/.git/HEAD", "x")
		}
		w.must(w.connect(codex(), nil, User, Project))
		found := slices.ContainsFunc(Check(codex(), w.Place, closures("")), func(f Finding) bool {
			return f.Status == "no" && strings.Contains(f.What, "project/.codex/config.toml has features.new_thing,")
		})
		if found != repository {
			t.Errorf("repository %v: found %v", repository, found)
		}
	}
}
