// Package hook answers the question that an agent's hook is asked before each
// call of a tool: whether the tool is iff's. It is a second sensor, for what an
// agent does past its MCP servers, and no lock: agents run the tool when the hook
// crashes, is missing or not registered.
//
// # The question
//
// One JSON object on standard input, strict but for a transcript_path of null, at
// most [MaxInput]:
//
//	claude-code  hook_event_name PreToolUse, transcript_path, tool_name mcp__iff__T, mcp_server {name}
//	codex        hook_event_name PreToolUse, turn_id, tool_name mcp__iff__T
//	qwen         hook_event_name PreToolUse, timestamp, tool_name mcp__iff__T
//	gemini       hook_event_name BeforeTool, timestamp, tool_name mcp_iff_T, mcp_context {server_name}
//
// This is what claude-code 2.1, codex 0.169, qwen 0.24 and gemini 0.61 were seen to
// send. Which of them it is those members tell, or the one who registered the hook.
// Where the agent says which server a tool is of, that is what counts. A T with
// two underscores could be of another server whose name begins with iff, and is
// iff's only if the agent says so. Of qwen, tool_search too may be called: it finds
// iff's tools and does nothing.
//
// # The answer
//
// By exit code, which all four understand: 0, and nothing is said, or 2, and the
// reason is on standard error, which the agent reads. Whatever is in doubt is 2:
// input that cannot be read, is too long, comes too late, is of an agent or an
// event that is not known.
//
// # The report
//
// What was denied is told to the runtime of the home, if one runs: [Report]. It is
// the agent's word, and it changes no answer. Calls of iff's tools are not told:
// the runtime has them.
package hook
