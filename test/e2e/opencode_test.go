package e2e

// opencode reads its endpoint from the environment by a placeholder, so that no file changes between runs.
func opencode() agent {
	return agent{
		name:    "opencode",
		words:   func(_, prompt string) []string { return []string{"opencode", "run", "--auto", prompt} },
		env:     func(url string) []string { return []string{"E2E_URL=" + url + "/v1"} },
		control: "opencode.json",
		skills:  []string{"project/.opencode/skills", "project/.agents/skills", "home/.config/opencode/skills"},
		files: map[string]string{"home/.config/opencode/config.json": `{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false,
  "share": "disabled",
  "provider": {"fake": {
    "npm": "@ai-sdk/openai-compatible",
    "name": "Fake",
    "options": {"baseURL": "{env:E2E_URL}", "apiKey": "x"},
    "models": {"fake-1": {"name": "fake-1", "tool_call": true}}
  }},
  "model": "fake/fake-1",
  "small_model": "fake/fake-1"
}
`},
		write: func(path, text string) step {
			return step{Tool: "write", Args: arguments{"filePath": path, "content": text}}
		},
		shell: func(command string) step {
			return step{Tool: "bash", Args: arguments{"command": command, "description": "x"}}
		},
		iff:  func(tool string, args arguments) step { return step{Tool: "iff_" + tool, Args: args} },
		mine: "iff_",
	}
}
