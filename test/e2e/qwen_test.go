package e2e

import "slices"

// qwen is qwen-code, which calls tools of MCP servers through a tool of its own.
func qwen() agent {
	return agent{
		name:  "qwen",
		words: func(_, prompt string) []string { return []string{"qwen", "-p", prompt, "--approval-mode", "yolo"} },
		env: func(url string) []string {
			return []string{"OPENAI_API_KEY=x", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=fake-1"}
		},
		control: ".qwen/settings.json",
		skills:  []string{"project/.agents/skills", "project/.qwen/skills", "home/.qwen/skills"},
		files: map[string]string{"home/.qwen/settings.json": `{
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"disableAutoUpdate": true},
  "$version": 4
}
`},
		write: func(path, text string) step {
			return step{Tool: "write_file", Args: arguments{"file_path": path, "content": text}}
		},
		shell: func(command string) step {
			return step{Tool: "run_shell_command", Args: arguments{"command": command, "is_background": false}}
		},
		iff: func(tool string, args arguments) step {
			return step{Tool: "tool_call", Args: arguments{"name": "mcp__iff__" + tool, "arguments": args}}
		},
		mine:     "mcp__iff__",
		harmless: func(tool string) bool { return slices.Contains([]string{"tool_search", "tool_call"}, tool) },
	}
}
