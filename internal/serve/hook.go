package serve

import (
	"context"
	"encoding/hex"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// HookReport are the params of hook.report: what a hook in an agent saw, which the gate does not see. Nothing in it is believed.
type HookReport struct {
	Choice string `json:"choice"` // approve or deny
	Client string `json:"client"` // which agent it is
	Input  string `json:"input"`  // SHA-256 of the tool's input in hex
	Reason string `json:"reason"` // closed token; empty if it was approved
	Tool   string `json:"tool"`
}

// Hooks takes reports of hooks. An [Agents] that is none refuses them.
type Hooks interface {
	Hook(ctx context.Context, peer Peer, r HookReport) error
}

// longestHook is how much of what a hook says is kept, in characters.
const longestHook = 128

func reportHook(ctx context.Context, c *conn, params string) (any, error) {
	r, err := paramsOf[HookReport](params)
	if err != nil {
		return nil, err
	}
	h, ok := c.plane.server.opts.Agents.(Hooks)
	if !ok {
		return nil, refused(MethodUnknown, "nobody takes reports of hooks here", "go on without")
	}
	return none{}, h.Hook(ctx, c.peer, r)
}

// Hook implements [Hooks]: the report is recorded.
func (a *Attachment) Hook(ctx context.Context, peer Peer, r HookReport) error {
	input, err := hex.DecodeString(r.Input)
	if choice := record.Choice(r.Choice); err != nil || len(input) != len(record.Hash{}) || choice != record.Approve && choice != record.Deny {
		return &Fault{CodeParams, string(canonical.InvalidValue), "choice is approve or deny, and input 64 hex digits", "send what docs/agent-api.md says"}
	}
	kept := func(s string) string { return visible.Truncate(visible.Escape(s), longestHook) }
	return told(a.runtime.Hooked(ctx, record.Hook{
		Agent: peer.Principal(), Choice: record.Choice(r.Choice), Client: kept(r.Client), Input: record.Hash(input), Reason: kept(r.Reason), Tool: kept(r.Tool),
	}))
}
