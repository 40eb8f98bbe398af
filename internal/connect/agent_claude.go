package connect

import "strings"

var claudeDeny = strings.Fields(`Bash BashOutput KillShell Read Edit MultiEdit Write NotebookEdit Glob Grep LSP WebFetch WebSearch
	Agent Task Skill SlashCommand Workflow Monitor ToolSearch ScheduleWakeup CronCreate CronDelete CronList EnterWorktree ExitWorktree
	RemoteTrigger ListAgents SendMessage ReportFindings TaskCreate TaskUpdate TaskGet TaskList TaskOutput TaskStop TodoWrite PowerShell
	ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool`)

func claude() Agent {
	return Agent{
		Name: "claude-code", Title: "Claude Code", Program: "claude",
		targets: claudeTargets,
		skills:  func(p Place) []string { return under([]string{p.Dir, p.Home}, ".claude/skills") },
		control: claudeControl,
		open:    claudeOpen,
	}
}

func claudeTargets(p Place, l Level) []target {
	servers := map[Level]string{User: p.home(".claude.json"), Project: p.dir(".mcp.json"), Managed: p.etc("claude-code/managed-mcp.json")}[l]
	settings := map[Level]string{User: p.home(".claude/settings.json"), Project: p.dir(".claude/settings.json"), Managed: p.etc("claude-code/managed-settings.json")}[l]
	return []target{
		{path: servers, format: plainJSON, ops: func(tree) []op { return []op{set(claudeServer(p), "mcpServers", "iff")} }},
		{path: settings, format: plainJSON, ops: func(tree) []op {
			out := []op{
				with([]string{"mcp__iff"}, "permissions", "allow"),
				with(append(claudeDeny[:len(claudeDeny):len(claudeDeny)], claudeServers(p)...), "permissions", "deny"),
			}
			switch l {
			case Project: // else it asks whether iff, of .mcp.json, may start; for the user it would start those of every project
				out = append(out, set(true, "enableAllProjectMcpServers"))
			case Managed:
				out = append(out, set(true, "allowManagedHooksOnly"))
			}
			return out
		}},
	}
}

func claudeServer(p Place) Object {
	return Object{{"type", "stdio"}, {"command", p.Iff}, {"args", p.Args()}, {"timeout", hour * 1000}}
}

// claudeServers are the names by which the tools of other servers are denied: they
// would not pass by iff.
func claudeServers(p Place) []string {
	var out []string
	for _, s := range []struct {
		path string
		at   []string
	}{{p.home(".claude.json"), []string{"mcpServers"}}, {p.home(".claude.json"), []string{"projects", p.Dir, "mcpServers"}}, {p.dir(".mcp.json"), []string{"mcpServers"}}} {
		t, _ := glance(plainJSON, s.path)
		for _, name := range members(t, s.at...) {
			if name != "iff" {
				out = append(out, "mcp__"+name)
			}
		}
	}
	return out
}
