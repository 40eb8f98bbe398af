package connect

const geminiDeny = 900 // priority of the first rule

// geminiPolicy needs toolName in both rules.
const geminiPolicy = `# Written by iff connect: no tool but those of iff.
[[rule]]
toolName = "*"
decision = "deny"
priority = 900

[[rule]]
mcpName = "iff"
toolName = "*"
decision = "allow"
priority = 950
`

func gemini() Agent {
	return Agent{
		Name: "gemini", Title: "Gemini CLI", Program: "gemini",
		targets: geminiTargets,
		skills:  func(p Place) []string { return under([]string{p.Dir, p.Home}, ".agents/skills", ".gemini/skills") },
		control: geminiControl,
		open:    geminiOpen,
	}
}

func geminiTargets(p Place, l Level) []target {
	path := map[Level]string{User: p.home(".gemini/settings.json"), Project: p.dir(".gemini/settings.json"), Managed: p.etc("gemini-cli/settings.json")}[l]
	settings := target{path: path, format: commented, ops: func(t tree) []op {
		out := []op{
			set(trustedServer(p), "mcpServers", "iff"), set([]string{"iff"}, "mcp", "allowed"),
			set(false, "hooksConfig", "enabled"), set(false, "skills", "enabled"), set("", "tools", "discoveryCommand"),
		}
		if others := rivals(members(t, "mcpServers"), "iff_"); len(others) > 0 { // mcp_iff_* would fit their tools
			out = append(out, with(others, "mcp", "excluded"))
		}
		if len(items(t, "policyPaths")) > 0 && l != Managed { // it is read in place of the user's directory
			out = append(out, with([]string{p.home(".gemini/policies")}, "policyPaths"))
		}
		if l == Project { // policies of a project are not read
			out = append(out, set([]string{"mcp_iff_*"}, "tools", "core"))
		}
		return out
	}}
	// Without it the agent does not start in the project, or asks.
	trust := target{path: p.home(".gemini/trustedFolders.json"), format: commented, ops: func(tree) []op {
		return []op{set("TRUST_FOLDER", p.Dir)}
	}}
	switch l {
	case User:
		return []target{settings, {path: p.home(".gemini/policies/iff.toml"), whole: geminiPolicy}}
	case Managed:
		return []target{settings, {path: p.etc("gemini-cli/policies/iff.toml"), whole: geminiPolicy}, trust}
	}
	return []target{settings, trust}
}
