package mcpgate

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
)

// whole is a source that offers everything.
type whole struct {
	upstreams
	asked []string
}

func (w *whole) Offers(string) bool { return true }

func (w *whole) List(_ context.Context, method string) ([]byte, error) {
	switch method {
	case "resources/list":
		return []byte(`[{"uri":"test://a","name":"a","x":1}]`), nil
	case "prompts/list":
		return []byte(` [{"name":"greet"}] `), nil
	}
	return []byte("[]"), nil
}

func (w *whole) Read(method string, params []byte) (gate.Call, error) {
	w.asked = append(w.asked, method+" "+string(params))
	return gate.Call{Capability: "tool.invoke", Target: "echo/" + method, Arguments: params}, nil
}

func (w *whole) Ask(_ context.Context, method string, params []byte) ([]byte, error) {
	w.asked = append(w.asked, method+" "+string(params))
	return []byte("{}"), nil
}

func TestWhatUpstreamsOfferBesideTools(t *testing.T) {
	source := new(whole)
	r := newRig(t, func(o *Options, _ *limits) { o.Tools = source })
	s := r.client(t, nil)
	if caps := s.InitializeResult(); caps != nil && (caps.Capabilities.Prompts == nil || caps.Capabilities.Completions == nil || caps.Capabilities.Logging == nil) {
		t.Errorf("capabilities %+v", caps.Capabilities)
	}
	if l := unwrap(s.ListResources(t.Context(), nil))(t).Resources; len(l) != 3 || l[2].URI != "test://a" {
		t.Errorf("resources %+v", l)
	}
	if l := unwrap(s.ListPrompts(t.Context(), nil))(t).Prompts; len(l) != 1 || l[0].Name != "greet" {
		t.Errorf("prompts %+v", l)
	}
	_ = unwrap(s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://a"}))(t)
	_ = unwrap(s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "<you>"}}))(t)
	c := unwrap(s.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "x"}}))(t)
	if len(c.Completion.Values) != 0 { // the gate of the test answers something else
		t.Errorf("completion %+v", c)
	}
	must(t, s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "test://secret"}))
	must(t, s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}))
	got := strings.Join(source.asked, "\n")
	for _, want := range []string{`resources/read {"uri":"test://a"}`, `prompts/get {"arguments":{"who":"<you>"},"name":"greet"}`, `completion/complete {`, `logging/setLevel {"level":"info"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s was not asked: %s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("a subscription went beside the gate: %s", got)
	}
	p := r.player(t, 0)
	if n := see(p, func() int { return len(p.calls) }); n != 3 { // the completion too: it carries what the agent wrote
		t.Errorf("%d reads were calls of the gate", n)
	}
}
