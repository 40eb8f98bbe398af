package hook

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
)

const (
	// MaxInput bounds a question in bytes.
	MaxInput = 4 << 20
	// maxDepth is how deep a tool's input may nest.
	maxDepth = 100
	// maxName is how much of a tool's name is told, in runes.
	maxName = 200

	server = "iff"
)

// Client is the agent that asks. The zero value is not known.
type Client string

// The agents that have such hooks.
const (
	ClaudeCode Client = "claude-code"
	Codex      Client = "codex"
	Qwen       Client = "qwen"
	Gemini     Client = "gemini"
)

// Reason is a closed token: why a call is denied.
type Reason string

// The reasons.
const (
	NotOurs       Reason = "hook-not-iff" // the tool is not one of iff's
	InputInvalid  Reason = "hook-input"   // the question cannot be read
	InputLate     Reason = "hook-late"    // the question did not come in time
	ClientUnknown Reason = "hook-client"  // it is of no agent, or no event, that is known
)

// Ruling is the answer to one question. The zero value denies.
type Ruling struct {
	Allow  bool
	Reason Reason // empty if it is allowed
	Words  string // for the agent: what is wrong, then what to do; one line

	Client Client   // empty if it is not known
	Tool   string   // as the agent names it, made visible; empty if it is not known
	Input  [32]byte // SHA-256 of the canonical form of the tool's input, zero if there is none
}

// Decide answers a question. Client says which agent asks, empty for the one that
// it looks like. It is pure.
func Decide(data []byte, client Client) Ruling {
	e, err := read(data)
	if err != nil {
		return Deny(InputInvalid, "the hook's input cannot be read: "+visible.Truncate(visible.Escape(err.Error()), maxName))
	}
	seen := e.client()
	if client == "" {
		client = seen
	}
	out := Ruling{Client: client, Tool: visible.Truncate(visible.Escape(e.tool), maxName), Input: e.sum}
	switch {
	case client == "" || seen == "" || (client == Gemini) != (seen == Gemini):
		out.Reason, out.Words = ClientUnknown, "this is not a question before a tool call, of an agent that iff knows; see iff hook --help"
	case e.ours(client):
		out.Allow = true
	default:
		out.Reason, out.Words = NotOurs, fmt.Sprintf("%s is not a tool of iff, so nothing gates or records it; %s", shown(out.Tool), instead)
	}
	return out
}

// instead is what an agent is to do.
const instead = "use those of the iff server: fs_read, fs_list, fs_write, fs_delete, net_fetch, use_skill"

func shown(tool string) string {
	if tool == "" {
		return "a tool without a name"
	}
	return tool
}

// Deny is a denial of a question that could not even be looked at.
func Deny(why Reason, words string) Ruling {
	return Ruling{Reason: why, Words: words + "; when in doubt the call is denied"}
}

// event is a question as it is read.
type event struct {
	name     string // of the event
	tool     string
	sum      [32]byte
	has      map[string]canonical.Raw
	server   string // that the tool is of, by the agent's word
	isServed bool   // it gives that word
}

// read takes a question apart.
func read(data []byte) (event, error) {
	limits := canonical.Limits{Bytes: MaxInput, Depth: maxDepth}
	whole, err := canonical.NewRaw(data, limits)
	if err != nil {
		return event{}, err
	}
	// In canonical form a quotation mark within a text has a backslash before it, so
	// this is a member wherever it stands. codex has it in sessions without a file.
	text := strings.ReplaceAll(whole.String(), `"transcript_path":null`, `"transcript_path":""`)
	var e event
	if err := canonical.Parse([]byte(text), &e.has, canonical.Limits{Bytes: 2 * MaxInput, Depth: maxDepth}); err != nil {
		return event{}, err
	}
	if e.name, err = e.text("hook_event_name"); err != nil {
		return event{}, err
	}
	if e.tool, err = e.text("tool_name"); err != nil {
		return event{}, err
	}
	if input, ok := e.has["tool_input"]; ok {
		e.sum = sha256.Sum256([]byte(input.String()))
	}
	for member, key := range map[string]string{"mcp_server": "name", "mcp_context": "server_name"} {
		if of, ok := e.has[member]; ok {
			e.isServed = true
			e.server = textIn(of, key)
		}
	}
	return e, nil
}

// text is a member that is a string; one that is not there is empty.
func (e event) text(name string) (string, error) {
	raw, ok := e.has[name]
	if !ok {
		return "", nil
	}
	var s string
	if err := canonical.Parse([]byte(raw.String()), &s, canonical.Limits{Bytes: MaxInput}); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// textIn is a member of an object that is a string; empty if it is not.
func textIn(of canonical.Raw, key string) string {
	inner := event{}
	if canonical.Parse([]byte(of.String()), &inner.has, canonical.Limits{Bytes: MaxInput, Depth: maxDepth}) != nil {
		return ""
	}
	s, err := inner.text(key)
	if err != nil {
		return ""
	}
	return s
}

// client is the agent that an event looks like.
func (e event) client() Client {
	has := func(name string) bool { _, ok := e.has[name]; return ok }
	switch {
	case e.name == "BeforeTool" && has("timestamp"):
		return Gemini
	case e.name != "PreToolUse":
		return ""
	case has("turn_id"):
		return Codex
	case has("timestamp"):
		return Qwen
	case has("transcript_path"):
		return ClaudeCode
	}
	return ""
}

// ours says whether the tool is one of iff's.
func (e event) ours(client Client) bool {
	name := e.tool
	if client == Gemini {
		return e.isServed && e.server == server && after(name, "mcp_"+server+"_") != ""
	}
	if client == Qwen && name == "tool_search" { // finds tools, and does nothing
		return true
	}
	tool := after(name, "mcp__"+server+"__")
	if e.isServed {
		return tool != "" && e.server == server
	}
	return tool != "" && !strings.Contains(tool, "__") && !strings.HasPrefix(tool, "_")
}

func after(name, prefix string) string {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return ""
	}
	return rest
}
