package mcpgate

import (
	"context"

	"github.com/iff-run/iff/gate"
)

// ToolSource is the tools of upstream servers. It is safe for concurrent use. One that is a [Surface] too offers more than tools.
type ToolSource interface {
	// Tools are those that are offered now, in the order in which they are listed.
	Tools() []Tool
	// Call says which call of the gate the use of a tool is; arguments are a JSON object as the agent sent it. An error that is a
	// [gate.Refusal] is told to the agent as a refused call.
	Call(tool string, arguments []byte) (gate.Call, error)
	// Notify says whom to tell that Tools, or what a Surface lists, has changed. It is called once.
	Notify(changed func())
}

// Tool is one tool of an upstream server.
type Tool struct {
	Name       string // as offered: unique, of A-Z a-z 0-9 _ . -
	Definition []byte // the JSON object that MCP calls Tool, its name as offered; passed on as it is
}

// Surface is what upstream servers offer beside tools. Methods and params are those of MCP, as JSON.
type Surface interface {
	// Offers says whether any server has "resources", "prompts", "completions" or "logging".
	Offers(feature string) bool
	// List is the elements of resources/list, resources/templates/list or prompts/list: a JSON array.
	List(ctx context.Context, method string) ([]byte, error)
	// Read says which call of the gate resources/read, prompts/get or completion/complete is. The reply's result is the method's.
	Read(method string, params []byte) (gate.Call, error)
	// Ask passes on logging/setLevel, which carries nothing of an agent's, and gives the result.
	Ask(ctx context.Context, method string, params []byte) ([]byte, error)
}
