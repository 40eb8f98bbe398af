package main

import (
	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/internal/mcpgate"
)

// upstreams are the tools of other servers as the gateway takes them: it
// implements [mcpgate.ToolSource] and [mcpgate.Surface].
type upstreams struct{ *tool.Host }

var _ mcpgate.Surface = upstreams{}

// Tools implements [mcpgate.ToolSource].
func (u upstreams) Tools() []mcpgate.Tool {
	var out []mcpgate.Tool
	for _, t := range u.Host.Tools() {
		out = append(out, mcpgate.Tool{Name: t.Name, Definition: t.Definition})
	}
	return out
}
