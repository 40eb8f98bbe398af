package mcpgate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

// listTools is all tools on one page, ours first. A tool of an upstream that has the name of another is not offered.
func (g *Gateway) listTools() ([]byte, error) {
	if cached := g.tools.Load(); cached != nil {
		return *cached, nil
	}
	var out bytes.Buffer
	out.WriteString(`{"cacheScope":"private","tools":[`)
	for i, name := range g.sorted() {
		if i > 0 {
			out.WriteByte(',')
		}
		t := g.natives[name]
		fmt.Fprintf(&out, `{"annotations":{"readOnlyHint":%t},"description":%q,"inputSchema":{"additionalProperties":false,"properties":{%s},"required":[%s],"type":"object"},"name":%q}`,
			t.readOnly, t.description, t.properties, quoted(t.required), name)
	}
	left := 0
	for _, t := range g.upstream() {
		if out.Len()+len(t.Definition) > g.limits.result-roomForEnd {
			left++ // iff's own tools and what fits are offered all the same
			continue
		}
		out.WriteByte(',')
		out.Write(t.Definition)
	}
	if left > 0 {
		g.report(fmt.Errorf("%d tools of upstream servers do not fit into one list of %d bytes and are not offered; take servers out of iff.toml", left, g.limits.result))
	}
	out.WriteString(`],"ttlMs":0}`)
	data := out.Bytes()
	if err := canonical.Check(data, canonical.Limits{Bytes: g.limits.result, Depth: 1000}); err != nil {
		return nil, fmt.Errorf("the list of tools: %w", err)
	}
	g.tools.Store(&data)
	return data, nil
}

// roomForEnd is more than what stands behind the last tool of a list.
const roomForEnd = 64

func quoted(names string) string {
	if names == "" {
		return ""
	}
	return `"` + strings.ReplaceAll(names, ",", `","`) + `"`
}

// upstream is the tools of upstream servers that can be offered.
func (g *Gateway) upstream() []Tool {
	if g.opts.Tools == nil {
		return nil
	}
	var out []Tool
	seen := map[string]bool{}
	for _, t := range g.opts.Tools.Tools() {
		if _, taken := g.natives[t.Name]; taken || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		out = append(out, t)
	}
	return out
}

// callTool uses a tool. What is wrong with its arguments, and what is denied, are results: the model is meant to read them.
func (g *Gateway) callTool(ctx context.Context, req mcp.Request) ([]byte, error) {
	r, ok := req.(*mcp.ServerRequest[*mcp.CallToolParamsRaw])
	if !ok {
		return nil, noTool("")
	}
	t, ok := g.natives[r.Params.Name]
	if !ok && g.opts.Tools == nil {
		return nil, noTool(r.Params.Name)
	}
	s, agent, err := g.sessionOf(ctx, req)
	if err != nil {
		return nil, err
	}
	u := use{g: g, s: s, agent: agent, arguments: r.Params.Arguments, who: listenerOf(ctx, r)}
	if !ok {
		return u.viaUpstream(ctx, r.Params.Name)
	}
	s.enter()
	defer s.leave(false)
	return t.run(ctx, u)
}

func noTool(name string) error {
	return &serve.Fault{Code: serve.CodeParams, Reason: string(ToolUnknown), Message: "there is no tool " + visible.Truncate(visible.Escape(name), 128), Remedy: "see tools/list"}
}

// viaUpstream uses a tool of an upstream server: what it answers is the client's result as it is.
func (u use) viaUpstream(ctx context.Context, name string) ([]byte, error) {
	c, err := u.g.opts.Tools.Call(name, u.arguments)
	if r, ok := refusalOf(err); ok {
		u.s.note(string(r.Reason))
		return replyResult(r)
	} else if err != nil {
		return nil, err
	}
	return u.do(ctx, c, func(r gate.Reply) ([]byte, error) {
		if r.Status != gate.Done || !bytes.HasPrefix(r.Result, []byte(`{"`)) {
			return replyResult(r)
		}
		if len(r.Result) > u.g.limits.result {
			r.Message = fmt.Sprintf("the tool answered with %d bytes; at most %d are sent: ask for less", len(r.Result), u.g.limits.result)
			r.Result = nil
			return replyResult(r)
		}
		return r.Result, nil
	})
}

type repliesForm struct {
	Replies []serve.Reply `json:"replies"`
}

// endRound ends a round, and waits for it like a call for its end.
func endRound(ctx context.Context, u use) ([]byte, error) {
	if _, err := read[struct{}](u.arguments); err != nil {
		return u.refuse(err)
	}
	u.s.mu.Lock()
	if u.s.ended {
		u.s.mu.Unlock()
		return u.refuse(&serve.Fault{Reason: string(gate.SessionEnded), Message: "the session has ended"})
	}
	r := u.s.begin()
	u.s.mu.Unlock()
	if !u.awaitRound(ctx, r) {
		return pendingResult("", "call end_round again")
	}
	replies, err := u.s.hear(r)
	if err != nil {
		return u.refuse(err)
	}
	told, text, failed := repliesForm{[]serve.Reply{}}, "", false
	for _, r := range replies {
		one := serve.Told(r, mostResult/mostUnheard)
		told.Replies = append(told.Replies, one)
		failed = failed || r.Status != gate.Done
		text += fmt.Sprintf("%s %s\n", r.Request, strings.TrimSpace(textOf(one)))
	}
	if len(replies) == 0 {
		text = "nothing was staged"
	}
	return toolResult(text, told, failed)
}

func (u use) awaitRound(ctx context.Context, r *round) bool {
	patience := time.NewTimer(u.g.opts.Wait)
	defer patience.Stop()
	beat := time.NewTicker(u.g.limits.progress)
	defer beat.Stop()
	for {
		select {
		case <-r.done:
			return true
		case <-beat.C:
			u.who.tell("what is staged waits for a person; whoever runs iff decides: iff inbox")
		case <-patience.C:
			return false
		case <-ctx.Done():
			return false
		case <-u.g.ctx.Done():
			return false
		}
	}
}

// listOf is a list of ours and of the upstream servers'.
func (g *Gateway) listOf(ctx context.Context, method, member string, own []any) ([]byte, error) {
	items, err := json.Marshal(append([]any{}, own...))
	if err != nil {
		return nil, err
	}
	if s := g.surface(); s != nil {
		theirs, err := s.List(ctx, method)
		if err != nil {
			return nil, err
		}
		items = joined(items, theirs)
	}
	return fmt.Appendf(nil, `{"cacheScope":"private",%q:%s,"ttlMs":0}`, member, items), nil
}

// joined is two JSON arrays in one.
func joined(a, b []byte) []byte {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	switch {
	case len(b) <= 2:
		return a
	case len(a) <= 2:
		return b
	}
	return append(append(bytes.Clone(a[:len(a)-1]), ','), b[1:]...)
}

// readUpstream has an upstream's resource or prompt read, as a call of the gate.
func (g *Gateway) readUpstream(ctx context.Context, method string, req mcp.Request) ([]byte, error) {
	surface := g.surface()
	if surface == nil {
		return nil, noResource("of " + method)
	}
	s, agent, err := g.sessionOf(ctx, req)
	if err != nil {
		return nil, err
	}
	params, err := paramsOf(req)
	if err != nil {
		return nil, err
	}
	c, err := surface.Read(method, params)
	if err != nil {
		return nil, err
	}
	out := s.call(ctx, agent, c, readerOf(ctx, req))
	r := out.reply
	switch {
	case out.pending:
		return nil, &aboutCall{r.Request, &serve.Fault{Reason: pendingStatus, Message: r.Request + " waits for a person; whoever runs iff decides: iff inbox", Remedy: "ask exactly the same again to hear the answer"}}
	case r.Status == gate.Refused: // there is no record of it
		return nil, &serve.Fault{Reason: string(r.Reason), Message: textOf(serve.Told(r, 0))}
	case r.Status != gate.Done || len(r.Result) == 0:
		return nil, &aboutCall{r.Request, &serve.Fault{Reason: string(r.Reason), Message: textOf(serve.Told(r, 0))}}
	}
	return r.Result, nil
}

// readerOf is the client of a request that reads.
func readerOf(ctx context.Context, req mcp.Request) *listener {
	switch r := req.(type) {
	case *mcp.ServerRequest[*mcp.ReadResourceParams]:
		return listenerOf(ctx, r)
	case *mcp.ServerRequest[*mcp.GetPromptParams]:
		return listenerOf(ctx, r)
	}
	return nil
}

// paramsOf is what a request asks for, without what the client says of itself and of this one request.
func paramsOf(req mcp.Request) ([]byte, error) {
	meta := req.GetParams().GetMeta()
	req.GetParams().SetMeta(nil)
	defer req.GetParams().SetMeta(meta)
	data, err := json.Marshal(req.GetParams())
	if err != nil {
		return nil, err
	}
	return canonical.Transform(data, canonical.Limits{Bytes: maxFrame, Depth: maxDepth})
}

// complete has an upstream complete an argument, which carries what the agent has written so far and comes back with what the upstream
// likes: a call.
func (g *Gateway) complete(ctx context.Context, req mcp.Request) ([]byte, error) {
	if !g.offers("completions") {
		return []byte(`{"completion":{"values":[]}}`), nil
	}
	return g.readUpstream(ctx, "completion/complete", req)
}

// setLevel passes on how talkative upstreams are to be.
func (g *Gateway) setLevel(ctx context.Context, req mcp.Request) error {
	surface := g.surface()
	if surface == nil {
		return nil
	}
	if _, _, err := g.sessionOf(ctx, req); err != nil {
		return err
	}
	params, err := paramsOf(req)
	if err != nil {
		return err
	}
	_, err = surface.Ask(ctx, "logging/setLevel", params)
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) { // what it says beside that is not for ours
		return &serve.Fault{Reason: string(gate.HostFailed), Message: "an upstream server refuses: " + visible.Truncate(visible.Escape(theirs.Message), 256)}
	}
	return err
}
