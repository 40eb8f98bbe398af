package connect

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/iff-run/iff/internal/connect/model"
)

// liveAgent is how an agent is run for a proof.
type liveAgent struct {
	passes  []string                      // variables of the user that configure it
	state   []liveState                   // what it has below the home directory
	prefix  string                        // of the names of iff's tools
	neutral []string                      // tools that reach nothing but iff
	left    []string                      // tools that reach something and have no switch
	listed  func(opening string) []string // tools that it offers by words; nil: none
	ask     model.Step
	shell   []model.Step            // calls of its shell, with %s for the command
	adjust  func(temp string) error // of the copies, what only a file says of the provider; nil: nothing
	launch  func(w liveWorld) launch
}

// liveWorld is where an agent is run.
type liveWorld struct {
	url   string // of the model
	temp  string
	place Place
}

// launch is how it is started.
type launch struct {
	args []string
	env  map[string]string
}

// liveState is a directory of settings that is copied.
type liveState struct {
	from  string   // below the home directory
	named string   // the variable that names another place for it; empty: there is none
	under string   // what stands between that variable's directory and the settings
	to    string   // below the run's own directory
	names []string // what is copied of it: files and directories that configure; patterns as for filepath.Match
}

const (
	livePrompt = "Call the tools."
	liveModel  = "scripted"
	liveKey    = "none" // in place of a credential
)

// liveArgs are the arguments of a step.
type liveArgs = map[string]any

func liveAgents() map[string]liveAgent {
	return map[string]liveAgent{
		"opencode":    liveOpencode(),
		"claude-code": liveClaude(),
		"codex":       liveCodex(),
		"qwen":        liveQwen(),
		"gemini":      liveGemini(),
	}
}

func liveOpencode() liveAgent {
	return liveAgent{
		passes: []string{
			"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_PERMISSION", "OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_PURE",
			"OPENCODE_EXPERIMENTAL", "OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_EXTERNAL_SKILLS", "OPENCODE_ENABLE_EXA",
		},
		state: []liveState{{from: ".config/opencode", named: "XDG_CONFIG_HOME", under: "opencode", to: "config/opencode", names: []string{
			"*.json", "*.jsonc", "agent", "agents", "mode", "modes", "command", "commands", "plugin", "plugins", "tool", "tools",
			"skill", "skills",
		}}},
		prefix: "iff_",
		ask:    model.Step{Tool: "iff_list_skills"},
		shell:  []model.Step{{Tool: "bash", Args: liveArgs{"command": "%s", "description": "x"}}},
		launch: func(w liveWorld) launch {
			provider := `{"autoupdate":false,"share":"disabled","enabled_providers":["iff-live"],"small_model":"iff-live/` + liveModel + `",` +
				`"provider":{"iff-live":{"npm":"@ai-sdk/openai-compatible","name":"iff","options":{"baseURL":` + strconv.Quote(w.url+"/v1") +
				`,"apiKey":"` + liveKey + `"},"models":{"` + liveModel + `":{"name":"scripted","tool_call":true}}}}}`
			return launch{
				args: []string{"run", "--auto", "--model", "iff-live/" + liveModel, livePrompt},
				env: map[string]string{
					"OPENCODE_CONFIG_CONTENT": provider, "XDG_CONFIG_HOME": filepath.Join(w.temp, "config"),
					"XDG_DATA_HOME": filepath.Join(w.temp, "data"), "XDG_STATE_HOME": filepath.Join(w.temp, "state"),
					"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
				},
			}
		},
	}
}

func liveClaude() liveAgent {
	configuration := []string{
		"settings.json", "settings.local.json", "agents", "commands", "skills", "plugins", "hooks", "rules", "workflows",
	}
	return liveAgent{
		passes: []string{"ENABLE_TOOL_SEARCH", "MCP_TIMEOUT"},
		state: []liveState{
			{from: ".claude", named: "CLAUDE_CONFIG_DIR", to: "claude", names: configuration},
			{from: "", named: "CLAUDE_CONFIG_DIR", to: "claude", names: []string{".claude.json"}},
		},
		prefix:  "mcp__iff__",
		neutral: []string{"ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool", "DeferredToolPlaceholder", "WaitForMcpServers"},
		ask:     model.Step{Tool: "mcp__iff__list_skills"},
		shell: []model.Step{
			{Tool: "Bash", Args: liveArgs{"command": "%s", "description": "x"}},
			{Tool: "Monitor", Args: liveArgs{"command": "%s", "description": "x", "timeout_ms": 5000, "persistent": false}},
		},
		launch: func(w liveWorld) launch {
			env := map[string]string{
				"ANTHROPIC_BASE_URL": w.url, "ANTHROPIC_API_KEY": liveKey, "CLAUDE_CODE_USE_BEDROCK": "0", "CLAUDE_CODE_USE_VERTEX": "0",
				"CLAUDE_CODE_USE_FOUNDRY": "0",
			}
			settings := `{"env":{"ANTHROPIC_BASE_URL":` + strconv.Quote(w.url) + `,"ANTHROPIC_API_KEY":"` + liveKey +
				`","CLAUDE_CODE_USE_BEDROCK":"0","CLAUDE_CODE_USE_VERTEX":"0","CLAUDE_CODE_USE_FOUNDRY":"0"}}`
			env["CLAUDE_CONFIG_DIR"] = filepath.Join(w.temp, "claude")
			env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"], env["DISABLE_AUTOUPDATER"] = "1", "1"
			if os.Geteuid() == 0 {
				env["IS_SANDBOX"] = "1" // root is refused the flag otherwise
			}
			return launch{env: env, args: []string{
				"-p", livePrompt, "--model", "claude-" + liveModel, "--dangerously-skip-permissions", "--no-session-persistence",
				"--settings", settings,
			}}
		},
	}
}

func liveCodex() liveAgent {
	return liveAgent{
		state: []liveState{{from: ".codex", named: "CODEX_HOME", to: "codex", names: []string{
			"*.toml", "hooks.json", "prompts", "agents", "skills", "rules", "plugins",
		}}},
		prefix:  "mcp__iff/",
		neutral: []string{"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "request_user_input"},
		left:    []string{"view_image"},
		ask:     model.Step{Tool: "list_skills", Namespace: "mcp__iff"},
		shell: []model.Step{
			{Tool: "exec_command", Args: liveArgs{"cmd": "%s"}},
			{Tool: "shell_command", Args: liveArgs{"command": "%s"}},
		},
		launch: func(w liveWorld) launch {
			provider := `model_providers.iff_live={name="iff",base_url=` + strconv.Quote(w.url+"/v1") +
				`,wire_api="responses",env_key="IFF_LIVE_KEY",supports_websockets=false}`
			return launch{
				env: map[string]string{"CODEX_HOME": filepath.Join(w.temp, "codex"), "IFF_LIVE_KEY": liveKey},
				args: []string{
					"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
					"-c", `model="` + liveModel + `"`, "-c", `model_provider="iff_live"`, "-c", provider,
					"-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false", livePrompt,
				},
			}
		},
	}
}

func liveQwen() liveAgent {
	return liveAgent{
		passes: []string{"QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH"},
		state: []liveState{{from: ".qwen", named: "QWEN_HOME", to: "qwen", names: []string{
			"settings.json", ".env", "trustedFolders.json", "agents", "commands", "skills", "extensions", "rules", "policies",
		}}},
		prefix:  "mcp__iff__",
		neutral: []string{"tool_search", "tool_call"},
		listed:  qwenListed,
		ask:     model.Step{Tool: "tool_call", Args: liveArgs{"name": "mcp__iff__list_skills", "arguments": liveArgs{}}},
		shell: []model.Step{
			{Tool: "run_shell_command", Args: liveArgs{"command": "%s", "is_background": false}},
			{Tool: "tool_call", Args: liveArgs{"name": "monitor", "arguments": liveArgs{"command": "%s", "description": "x"}}},
		},
		launch: func(w liveWorld) launch {
			return launch{
				env: map[string]string{
					"QWEN_HOME": filepath.Join(w.temp, "qwen"), "OPENAI_API_KEY": liveKey, "OPENAI_BASE_URL": w.url + "/v1", "OPENAI_MODEL": liveModel,
				},
				args: []string{
					"-p", livePrompt, "--approval-mode", "yolo", "--auth-type", "openai", "--openai-api-key", liveKey,
					"--openai-base-url", w.url + "/v1", "-m", liveModel, "--chat-recording=false",
				},
			}
		},
	}
}

// qwenListed reads which tools the agent says tool_call reaches.
func qwenListed(opening string) []string {
	_, text, _ := strings.Cut(opening, "are reachable through `tool_search`")
	text, _, _ = strings.Cut(text, "</system-reminder>")
	var out []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, `- "`); ok {
			name, _, _ := strings.Cut(rest, `"`)
			out = append(out, name)
		}
	}
	return out
}

func liveGemini() liveAgent {
	return liveAgent{
		passes: []string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"},
		state: []liveState{{from: ".gemini", named: "GEMINI_CLI_HOME", under: ".gemini", to: "gemini/.gemini", names: []string{
			"settings.json", ".env", "trustedFolders.json", "mcp-server-enablement.json", "policies", "agents", "commands", "skills",
			"extensions", "hooks",
		}}},
		prefix: "mcp_iff_",
		ask:    model.Step{Tool: "mcp_iff_list_skills"},
		shell:  []model.Step{{Tool: "run_shell_command", Args: liveArgs{"command": "%s", "description": "x"}}},
		adjust: geminiKey,
		launch: func(w liveWorld) launch {
			return launch{
				env: map[string]string{
					"GEMINI_CLI_HOME": filepath.Join(w.temp, "gemini"), "GEMINI_API_KEY": liveKey, "GOOGLE_GEMINI_BASE_URL": w.url,
					// Without trust it does not start, or asks; with it it reads the project's settings, and so may be more open.
					"GEMINI_CLI_TRUST_WORKSPACE": "true",
				},
				args: []string{"-p", livePrompt, "-m", "gemini-2.5-flash", "--approval-mode", "yolo"},
			}
		},
	}
}

// geminiKey chooses a key as the credential, in place of an account to log in with:
// nothing but a file of settings does.
func geminiKey(temp string) error {
	path := filepath.Join(temp, "gemini", ".gemini", "settings.json")
	data, err := readFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text, err := everything.set(string(data), []string{"security", "auth", "selectedType"}, "gemini-api-key")
	if err != nil { // the agent will say so
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
