package e2e

import (
	"fmt"
	"slices"
)

// codex has no built-in that only writes files with this model; its shell stands for both.
func codex() agent {
	return agent{
		name: "codex",
		words: func(url, prompt string) []string {
			provider := fmt.Sprintf(`model_providers.fake={name="fake",base_url="%s/v1",wire_api="responses",env_key="FAKE_KEY",supports_websockets=false}`, url)
			return []string{
				"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
				"-c", `model="fake-1"`, "-c", `model_provider="fake"`, "-c", provider, "-c", "analytics.enabled=false",
				"-c", "check_for_update_on_startup=false", prompt,
			}
		},
		env:     func(string) []string { return []string{"FAKE_KEY=x"} },
		control: ".codex/config.toml",
		skills:  []string{"project/.agents/skills", "project/.codex/skills", "home/.codex/skills", "home/.agents/skills"},
		write: func(path, text string) step {
			return step{Tool: "exec_command", Args: arguments{"cmd": fmt.Sprintf("printf '%%s' '%s' > '%s'", text, path)}}
		},
		shell: func(command string) step { return step{Tool: "exec_command", Args: arguments{"cmd": command}} },
		iff:   func(tool string, args arguments) step { return step{Namespace: "mcp__iff", Tool: tool, Args: args} },
		mine:  "mcp__iff/",
		// view_image reads any image and cannot be turned off, which iff doctor says. The others reach iff mcp, or ask.
		harmless: func(tool string) bool {
			return slices.Contains([]string{"view_image", "list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "request_user_input"}, tool)
		},
	}
}
