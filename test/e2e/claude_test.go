package e2e

import "strings"

// claude is claude-code. It is proprietary: it is run here and shipped nowhere.
func claude() agent {
	return agent{
		name: "claude-code",
		words: func(_, prompt string) []string {
			return []string{"claude", "-p", prompt, "--model", "claude-fake-1", "--dangerously-skip-permissions"}
		},
		env: func(url string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-fake", "IS_SANDBOX=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
			}
		},
		control: ".claude/settings.json",
		skills:  []string{"project/.claude/skills", "home/.claude/skills"},
		files: map[string]string{
			"home/.claude.json": `{"hasCompletedOnboarding": true, "bypassPermissionsModeAccepted": true}` + "\n",
		},
		write: func(path, text string) step {
			return step{Tool: "Write", Args: arguments{"file_path": path, "content": text}}
		},
		shell: func(command string) step {
			return step{Tool: "Bash", Args: arguments{"command": command, "description": "x"}}
		},
		iff:  func(tool string, args arguments) step { return step{Tool: "mcp__iff__" + tool, Args: args} },
		mine: "mcp__iff__",
		// They reach what iff mcp offers, and nothing else.
		harmless: func(tool string) bool {
			return strings.Contains(tool, "McpResource") || tool == "DeferredToolPlaceholder"
		},
	}
}
