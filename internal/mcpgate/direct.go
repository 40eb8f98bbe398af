package mcpgate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

const methodCall = "tools/call"

// protocolMembers begin the members of _meta that only the SDK may act on.
const protocolMembers = "io.modelcontextprotocol/"

type callForm struct {
	Name      string                   `json:"name"`
	Arguments canonical.Raw            `json:"arguments,omitzero"`
	Meta      map[string]canonical.Raw `json:"_meta,omitempty"`
}

// spoken is what a client has said of the protocol beside a call that the SDK has let pass.
type spoken struct {
	ctx       context.Context // of that call, for what the SDK keeps in it
	transport *mcp.ServerSession
	said      map[string]canonical.Raw // the members of its _meta that are the protocol's
	meta      mcp.Meta                 // the same as the SDK read them
}

// heard notes what a call said that came through the SDK.
func (s *session) heard(ctx context.Context, r *mcp.ServerRequest[*mcp.CallToolParamsRaw]) {
	now := &spoken{ctx: context.WithoutCancel(ctx), transport: r.Session, said: map[string]canonical.Raw{}, meta: mcp.Meta{}}
	for name, value := range r.Params.GetMeta() {
		if !strings.HasPrefix(name, protocolMembers) {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return
		}
		if now.said[name], err = canonical.NewRaw(data, canonical.Limits{Bytes: maxFrame}); err != nil {
			return
		}
		now.meta[name] = value
	}
	if before := s.spoken.Load(); before == nil || !maps.Equal(before.said, now.said) {
		s.spoken.Store(now)
	}
}

// directed is a call that need not pass through the SDK.
type directed struct {
	like *spoken
	req  *mcp.ServerRequest[*mcp.CallToolParamsRaw]
}

// direct is a call of a tool that need not pass through the SDK, nil if it has to: the SDK would read it three times more and hand it from
// goroutine to goroutine, which takes longer than all that iff does with it. It says of the protocol what a call of its connection has
// said that the SDK let pass, so there is nothing to check any more. What the call means is the gateway's matter either way.
func (w *wire) direct(f frame) *directed {
	like := w.of.spoken.Load()
	if like == nil || f.method != methodCall || f.id == "" {
		return nil
	}
	var form callForm
	if canonical.Parse([]byte(f.params), &form, canonical.Limits{Bytes: maxFrame, Depth: maxDepth}) != nil {
		return nil // the SDK says what is wrong, or looks over it
	}
	params, same := &mcp.CallToolParamsRaw{Name: form.Name, Meta: maps.Clone(like.meta)}, 0
	if !form.Arguments.IsZero() {
		params.Arguments = []byte(form.Arguments.String())
	}
	for name, value := range form.Meta {
		switch {
		case strings.HasPrefix(name, protocolMembers):
			if like.said[name] != value {
				return nil
			}
			same++
		case name == "progressToken":
			token, ok := tokenOf(value.String())
			if !ok {
				return nil
			}
			params.Meta[name] = token
		}
	}
	if same != len(like.said) {
		return nil
	}
	return &directed{like, &mcp.ServerRequest[*mcp.CallToolParamsRaw]{Session: like.transport, Params: params}}
}

// tokenOf is a token of progress as the SDK reads it.
func tokenOf(raw string) (any, bool) {
	if strings.HasPrefix(raw, `"`) {
		var text string
		err := canonical.Parse([]byte(raw), &text, canonical.Limits{Bytes: maxFrame})
		return text, err == nil
	}
	n, err := strconv.ParseFloat(raw, 64)
	return n, err == nil
}

// errOver is why calls end that are under way when their connection does.
var errOver = errors.New("the connection has ended")

// begin has a call done that was admitted, and answers it. What was taken back before is let go of first, for an identical call attaches
// to it.
func (w *wire) begin(id string, call *directed) {
	ctx, cancel := context.WithCancelCause(call.like.ctx)
	var before []<-chan struct{}
	w.mu.Lock()
	w.flight[id].cancel = cancel
	for _, it := range w.flight {
		if it.cancelled {
			before = append(before, it.over)
		}
	}
	w.mu.Unlock()
	w.calls.Go(func() {
		defer cancel(nil)
		for _, over := range before {
			select {
			case <-over:
			case <-ctx.Done():
			}
		}
		out, err := w.gate.perform(ctx, methodCall, call.req)
		if errors.Is(context.Cause(ctx), errOver) {
			w.leave(id) // nobody hears it
			return
		}
		w.answer(id, out, err)
	})
}

// answer answers a call like the SDK.
func (w *wire) answer(id string, out mcp.Result, err error) {
	var body []byte
	if r, ok := out.(*result); ok && err == nil {
		if r.modern {
			r.Meta = mcp.Meta{mcp.MetaKeyServerInfo: asIs(w.gate.self)}
		}
		body, err = r.MarshalJSON()
	}
	var data []byte
	if err != nil {
		w.noteError(err)
		data = errorJSON(id, err)
	} else {
		data = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, body)
	}
	w.leave(id)                     // the client may use the id again as soon as it hears of it
	_ = w.line(w.bounded(id, data)) // if it fails the reader ends
}

// errorJSON is an error as the SDK sends it.
func errorJSON(id string, err error) []byte {
	var said *jsonrpc.Error
	if !errors.As(wireError(err), &said) {
		return faultJSON(id, serve.FaultOf(err))
	}
	sdk, wrong := frame{id: id}.sdkID()
	data, bad := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: sdk, Error: said})
	if wrong != nil || bad != nil {
		return faultJSON(id, serve.FaultOf(err))
	}
	return data
}

// bounded is an answer, or that it is too large.
func (w *wire) bounded(id string, data []byte) []byte {
	most := w.gate.limits.result + 1<<20
	if len(data) <= most {
		return data
	}
	return faultJSON(id, &serve.Fault{Code: serve.CodeRefused, Reason: string(serve.ResultTooLarge), Message: fmt.Sprintf("the result has %d bytes; at most %d are sent", len(data), most), Remedy: "ask for less"})
}

// finish ends the calls that are under way, and waits for them: nobody hears their answers.
func (w *wire) finish() {
	w.mu.Lock()
	for _, it := range w.flight {
		if it.cancel != nil {
			it.cancel(errOver)
		}
	}
	w.mu.Unlock()
	w.calls.Wait()
}
