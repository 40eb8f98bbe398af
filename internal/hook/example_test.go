package hook_test

import (
	"fmt"

	"github.com/iff-run/iff/internal/hook"
)

// An agent asks before each call of a tool.
func Example() {
	const question = `{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/p","permission_mode":"default",
		"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":{"command":"ls"},"tool_use_id":"1"}`
	for _, tool := range []string{"mcp__iff__fs_list", "Bash"} {
		r := hook.Decide(fmt.Appendf(nil, question, tool), "")
		fmt.Printf("%s: allow %v %q\n", r.Client, r.Allow, r.Reason)
	}
	// Output:
	// claude-code: allow true ""
	// claude-code: allow false "hook-not-iff"
}
