package serve

import (
	"context"

	"github.com/iff-run/iff/internal/host/tool"
)

// Upstreams are servers whose tools agents are offered. An [Operator] that is none has none.
type Upstreams interface {
	// Upstreams lists them in the order of the configuration.
	Upstreams(ctx context.Context) ([]Upstream, error)
	// Accept holds a tool to the schema that it has now; of an empty tool, all of the server.
	Accept(ctx context.Context, server, tool string) error
}

// Upstream is one of them.
type Upstream struct {
	Server string         `json:"server"`
	Up     bool           `json:"up"`
	Why    string         `json:"why,omitempty"`    // it is not up
	Stderr string         `json:"stderr,omitempty"` // the last that its program said
	Tools  []UpstreamTool `json:"tools"`
	Faults []string       `json:"faults"` // what of its list was not taken
}

// UpstreamTool is one tool.
type UpstreamTool struct {
	Name       string `json:"name"` // as the server calls it
	Offered    string `json:"offered"`
	Standing   string `json:"standing"` // offered, changed or taken
	Capability string `json:"capability"`
	Reach      string `json:"reach"`
	Mapped     bool   `json:"mapped"`
	Schema     string `json:"schema"` // hash
}

type upstreamList struct {
	Upstreams []Upstream `json:"upstreams"`
}

type upstreamTool struct {
	Server string `json:"server"`
	Tool   string `json:"tool,omitempty"`
}

func listUpstreams(ctx context.Context, o Operator, _ none) (upstreamList, error) {
	u, ok := o.(Upstreams)
	if !ok {
		return upstreamList{[]Upstream{}}, nil
	}
	out, err := u.Upstreams(ctx)
	return upstreamList{out}, err
}

func acceptUpstream(ctx context.Context, o Operator, p upstreamTool) (none, error) {
	u, ok := o.(Upstreams)
	if !ok {
		return none{}, refused(MethodUnknown, "there are no upstream servers here", "name one in iff.toml")
	}
	return none{}, u.Accept(ctx, p.Server, p.Tool)
}

// Upstreams implements [Upstreams].
func (a *Attachment) Upstreams(context.Context) ([]Upstream, error) {
	out := []Upstream{}
	for _, s := range a.runtime.Tools().States() {
		u := Upstream{Server: s.Server, Up: s.Up, Why: s.Why, Stderr: s.Stderr, Tools: []UpstreamTool{}, Faults: append([]string{}, s.Faults...)}
		for _, t := range s.Tools {
			u.Tools = append(u.Tools, toolLine(t))
		}
		out = append(out, u)
	}
	return out, nil
}

func toolLine(t tool.Tool) UpstreamTool {
	return UpstreamTool{
		Name: t.Upstream, Offered: t.Name, Standing: string(t.Standing), Capability: t.Capability, Reach: string(t.Reach), Mapped: t.Mapped, Schema: t.Schema.String(),
	}
}

// Accept implements [Upstreams].
func (a *Attachment) Accept(_ context.Context, server, tool string) error {
	return told(a.runtime.Tools().Accept(server, tool))
}
