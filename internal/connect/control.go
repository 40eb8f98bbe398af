package connect

import (
	"os"
	"strings"
)

// ControlFile is a file or directory by which an agent is controlled. Agents rewrite
// some of their files all the time: of those Keys name the members that count, each
// a name or a JSON pointer; without keys all of it does.
type ControlFile struct {
	Path string
	Keys []string
}

// ControlFiles are the files by which an agent, or with an empty name any agent, is
// controlled in a project and below the user's home: its configuration, hooks,
// plugins, skills and .env. They need not be there, but for the user's skills of
// codex, of which those that are there are named.
func ControlFiles(agent string, p Place) []ControlFile {
	out := whole(p.dir(".env"), p.dir(".agents"), p.home(".env"), p.home(".agents/skills"))
	for _, a := range Agents() {
		if agent == "" || a.Name == agent {
			out = append(out, a.control(p)...)
		}
	}
	seen := make(map[string]bool)
	var once []ControlFile
	for _, f := range out {
		if !seen[f.Path] {
			seen[f.Path] = true
			once = append(once, f)
		}
	}
	return once
}

func whole(paths ...string) []ControlFile {
	var out []ControlFile
	for _, path := range paths {
		out = append(out, ControlFile{Path: path})
	}
	return out
}

func opencodeControl(p Place) []ControlFile {
	out := whole(p.dir("opencode.json"), p.dir("opencode.jsonc"), p.dir(".opencode"))
	// The agent puts $schema into them.
	for _, path := range under([]string{p.home(".config/opencode")}, "opencode.json", "opencode.jsonc", "config.json") {
		out = append(out, ControlFile{Path: path, Keys: []string{
			"mcp", "permission", "tools", "agent", "mode", "default_agent", "plugin", "instructions", "command", "skills", "lsp", "formatter",
		}})
	}
	// Beside them it keeps packages of its own.
	out = append(out, whole(under([]string{p.home(".config/opencode")}, "AGENTS.md",
		"agent", "agents", "mode", "modes", "command", "commands", "plugin", "plugins", "tool", "tools", "skill", "skills")...)...)
	return append(out, whole(under([]string{p.home(".opencode")}, "opencode.json", "opencode.jsonc", "agent", "agents", "mode", "modes", "plugin", "plugins", "tool", "tools")...)...)
}

func claudeControl(p Place) []ControlFile {
	state := ControlFile{Path: p.home(".claude.json"), Keys: []string{"mcpServers"}}
	if !strings.ContainsAny(p.Dir, ",#") {
		state.Keys = append(state.Keys, "/projects/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(p.Dir)+"/mcpServers")
	}
	out := append(whole(p.dir(".mcp.json"), p.dir(".claude")), state)
	return append(out, whole(under([]string{p.home(".claude")}, "settings.json", "CLAUDE.md", "agents", "commands", "hooks", "skills", "plugins/installed_plugins.json")...)...)
}

const maxSkills = 64 // that are named one by one: iff.toml takes no endless list

func codexControl(p Place) []ControlFile {
	config := ControlFile{Path: p.home(".codex/config.toml"), Keys: []string{
		"approval_policy", "sandbox_mode", "web_search", "tools", "skills", "features", "mcp_servers", "hooks", "notify", "plugins", "profile", "profiles",
	}}
	out := append(whole(p.dir(".codex"), p.home(".codex/AGENTS.md"), p.home(".codex/hooks.json"), p.home(".codex/prompts"), p.home(".codex/rules")), config)
	// Not .codex/skills as a whole: the agent unpacks its own into .system there.
	skills, _ := os.ReadDir(p.home(".codex/skills"))
	for _, s := range skills[:min(len(skills), maxSkills)] {
		if s.Name() != ".system" && !strings.ContainsAny(s.Name(), ",#\n") {
			out = append(out, whole(p.home(".codex/skills/"+s.Name()))...)
		}
	}
	return out
}

func qwenControl(p Place) []ControlFile {
	settings := ControlFile{Path: p.home(".qwen/settings.json"), Keys: []string{
		"mcpServers", "mcp", "permissions", "tools", "hooks", "disableAllHooks", "skills", "security",
	}}
	return append(append(whole(p.dir(".qwen")), settings), whole(under([]string{p.home(".qwen")}, "QWEN.md", ".env", "agents", "commands", "extensions", "skills")...)...)
}

func geminiControl(p Place) []ControlFile {
	settings := ControlFile{Path: p.home(".gemini/settings.json"), Keys: []string{
		"mcpServers", "mcp", "tools", "hooks", "hooksConfig", "skills", "experimental", "security", "policyPaths",
	}}
	return append(append(whole(p.dir(".gemini")), settings), whole(under([]string{p.home(".gemini")}, "GEMINI.md", ".env", "policies", "commands", "extensions", "skills", "trustedFolders.json")...)...)
}
