package mcpgate

import "github.com/iff-run/iff/internal/serve"

// Reason is a closed token. Refused frames carry those of package canonical too, tool results those of the gate.
type Reason string

// Why a frame, a request or a listener is refused, beside what package serve has.
const (
	ToolUnknown     Reason = "tool-unknown"     // no tool has this name
	ResourceUnknown Reason = "resource-unknown" // no resource has this address
	TooManySessions Reason = "too-many-sessions"
	HostRefused     Reason = "host-refused"  // an HTTP request for another host, or of a page of another origin
	TokenInvalid    Reason = "token-invalid" // an HTTP request without the bearer token
	ListenRefused   Reason = "listen-refused"
	ProtocolRefused Reason = "protocol-refused" // what MCP does not have, or not then: as a request before initialize
)

func bad(r serve.Reason, message, remedy string) *serve.Fault {
	return &serve.Fault{Code: serve.CodeRequest, Reason: string(r), Message: message, Remedy: remedy}
}

func refused(r Reason, message, remedy string) *serve.Fault {
	return &serve.Fault{Code: serve.CodeRefused, Reason: string(r), Message: message, Remedy: remedy}
}
