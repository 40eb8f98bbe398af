package connect

import "strings"

var (
	codexOff     = strings.Fields("shell_tool unified_exec multi_agent multi_agent_v2 apps plugins goals code_mode")
	codexRequire = strings.Fields("shell_tool unified_exec multi_agent apps plugins goals")
)

func codex() Agent {
	return Agent{
		Name: "codex", Title: "Codex", Program: "codex",
		targets: func(p Place, l Level) []target {
			closed := func(trust bool) func(tree) []op {
				return func(t tree) []op { return codexOps(p, t, trust) }
			}
			switch l {
			case User:
				return []target{{path: p.home(".codex/config.toml"), format: tomlFormat{}, ops: closed(true)}}
			case Project:
				return []target{{path: p.dir(".codex/config.toml"), format: tomlFormat{}, ops: closed(false)}, {path: p.home(".codex/config.toml"), format: tomlFormat{}, ops: func(tree) []op {
					return []op{set("trusted", "projects", p.Dir, "trust_level")}
				}}}
			}
			return []target{
				{path: p.etc("codex/config.toml"), format: tomlFormat{}, ops: closed(false)},
				{path: p.etc("codex/requirements.toml"), format: tomlFormat{}, ops: func(tree) []op {
					var out []op
					for _, name := range codexRequire {
						out = append(out, set(false, "features", name))
					}
					return append(out, set(p.Iff, "mcp_servers", "iff", "identity", "command"))
				}},
			}
		},
		skills: func(p Place) []string {
			return under([]string{p.Dir, p.Home}, ".agents/skills", ".codex/skills")
		},
		control: codexControl,
		open:    codexOpen,
	}
}

func codexServer(p Place) Object {
	return Object{{"command", p.Iff}, {"args", p.Args()}, {"tool_timeout_sec", hour}, {"default_tools_approval_mode", "approve"}}
}

// codexOps closes a config.toml. A project's file is skipped in silence unless the
// user's trusts the project.
func codexOps(p Place, t tree, trust bool) []op {
	out := []op{
		set("never", "approval_policy"), set("read-only", "sandbox_mode"), set("disabled", "web_search"),
		set(false, "tools", "view_image"), set(false, "skills", "include_instructions"), set(false, "skills", "bundled", "enabled"),
	}
	for _, name := range codexOff {
		out = append(out, set(false, "features", name))
	}
	for _, name := range members(t, "features") { // what is turned on
		if v, _ := at(t, "features", name); v == true {
			out = append(out, set(false, "features", name))
		}
	}
	for _, name := range members(t, "mcp_servers") {
		if name != "iff" {
			out = append(out, set(false, "mcp_servers", name, "enabled"))
		}
	}
	for _, m := range codexServer(p) {
		out = append(out, set(m.Value, "mcp_servers", "iff", m.Name))
	}
	if trust {
		out = append(out, set("trusted", "projects", p.Dir, "trust_level"))
	}
	return out
}
