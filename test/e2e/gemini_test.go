package e2e

// gemini is gemini-cli. Without a terminal it does not start in a folder that nobody has trusted.
func gemini() agent {
	return agent{
		name: "gemini",
		words: func(_, prompt string) []string {
			return []string{"gemini", "-p", prompt, "-m", "gemini-2.5-flash", "--approval-mode", "yolo"}
		},
		env: func(url string) []string {
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url}
		},
		control: ".gemini/settings.json",
		skills:  []string{"project/.agents/skills", "project/.gemini/skills", "home/.gemini/skills"},
		files: map[string]string{"home/.gemini/settings.json": `{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false},
  "telemetry": {"enabled": false}
}
`},
		write: func(path, text string) step {
			return step{Tool: "write_file", Args: arguments{"file_path": path, "content": text}}
		},
		shell: func(command string) step {
			return step{Tool: "run_shell_command", Args: arguments{"command": command, "description": "x"}}
		},
		iff:  func(tool string, args arguments) step { return step{Tool: "mcp_iff_" + tool, Args: args} },
		mine: "mcp_iff_",
	}
}
