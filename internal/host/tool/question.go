package tool

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What an upstream may be allowed to ask the client of a call, see [Server].
const (
	RelaySampling    = "sampling"
	RelayElicitation = "elicitation"
)

const (
	createMessage = "sampling/createMessage"
	elicit        = "elicitation/create"

	maxQuestion  = 1 << 20 // bytes of a question
	maxText      = 8 << 10 // bytes of what is shown of one that asks for words
	codeDeclined = -1      // of the error that says that a person did not want to
)

// capabilities are those that an upstream is told that its client has.
func (u *upstream) capabilities() *mcp.ClientCapabilities {
	out := &mcp.ClientCapabilities{}
	if slices.Contains(u.Relay, RelaySampling) {
		out.Sampling = &mcp.SamplingCapabilities{}
	}
	if slices.Contains(u.Relay, RelayElicitation) {
		out.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	}
	return out
}

// answering answers what a server asks of its client: ping, and what it may ask the
// client of the call that is under way.
func (u *upstream) answering(l *link) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch {
			case method == "ping" || strings.HasPrefix(method, "notifications/"):
				return next(ctx, method, req)
			case method == createMessage && slices.Contains(u.Relay, RelaySampling):
				return u.relay(ctx, l, req.GetParams(), &jsonrpc.Error{Code: codeDeclined, Message: "the request was declined"})
			case method == elicit && slices.Contains(u.Relay, RelayElicitation):
				out, err := u.relay(ctx, l, req.GetParams(), nil)
				if out == nil && err == nil {
					out = &mcp.ElicitResult{Action: "decline"}
				}
				return out, err
			}
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "iff has no roots and answers no questions of servers"}
		}
	}
}

// relay puts a question to the client of the only session that has calls under way
// here. Where there is no answer it is declined.
func (u *upstream) relay(ctx context.Context, l *link, params mcp.Params, declined error) (mcp.Result, error) {
	f := l.screen.sole()
	if f == nil {
		return nil, declined
	}
	shown, err := u.shown(params)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	if f.talk.asked.Add(1) > mostAsked {
		f.talk.asked.Add(-1)
		return nil, declined
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.notes.ctx, cancel)() // the call is over
	out, err := f.talk.client.Ask(ctx, f.talk.caller, Question{Server: u.Name, Params: shown, Labels: f.talk.labels})
	var said *jsonrpc.Error
	switch {
	case errors.As(err, &said):
		return nil, &jsonrpc.Error{Code: said.Code, Message: plain(said.Message, maxMessage)}
	case err != nil:
		return nil, declined
	}
	return out, nil
}

// shown is a question as a client gets it: only what is known of it, bounded, and
// with who asks before what a person reads.
func (u *upstream) shown(params mcp.Params) (mcp.Params, error) {
	if data, err := json.Marshal(params); err != nil || len(data) > maxQuestion {
		return nil, fmt.Errorf("the question has more than %d bytes", maxQuestion)
	}
	switch p := params.(type) {
	case *mcp.ElicitParams:
		if p != nil {
			return u.form(p)
		}
	case *mcp.CreateMessageWithToolsParams:
		if p != nil && len(p.Messages) > 0 {
			return u.prompt(p)
		}
	}
	return nil, errors.New("the question asks nothing")
}

// asks is a text with who asks before it, so that nobody else seems to.
func (u *upstream) asks(text string) string {
	return "upstream " + u.Name + " asks: " + plain(text, maxText)
}

func (u *upstream) form(p *mcp.ElicitParams) (mcp.Params, error) {
	out := &mcp.ElicitParams{Mode: p.Mode, Message: u.asks(p.Message), URL: p.URL, ElicitationID: p.ElicitationID}
	switch {
	case p.Mode == "" || p.Mode == "form":
		if out.Mode = "form"; p.URL != "" || p.ElicitationID != "" {
			return nil, errors.New("a form has no url")
		}
		out.RequestedSchema = plainValue(p.RequestedSchema)
	case p.Mode != "url":
		return nil, errors.New("the mode is form or url")
	case p.RequestedSchema != nil || p.URL == "" || plain(p.URL+p.ElicitationID, maxText) != p.URL+p.ElicitationID:
		return nil, errors.New("a url is one line of text, and has no schema")
	}
	return out, nil
}

// prompt leaves out what would have a client add what other servers have said, or
// use tools: an upstream is told that there is none of that.
func (u *upstream) prompt(p *mcp.CreateMessageWithToolsParams) (mcp.Params, error) {
	if len(p.Tools) > 0 || p.ToolChoice != nil {
		return nil, errors.New("there are no tools for sampling")
	}
	out := &mcp.CreateMessageWithToolsParams{
		MaxTokens: p.MaxTokens, ModelPreferences: p.ModelPreferences, StopSequences: p.StopSequences,
		SystemPrompt: plain(p.SystemPrompt, maxQuestion), Temperature: p.Temperature,
	}
	named := false
	for _, m := range p.Messages {
		if m == nil || len(m.Content) != 1 {
			return nil, errors.New("a message has one content")
		}
		content := m.Content[0]
		switch c := content.(type) {
		case *mcp.TextContent:
			said := plain(c.Text, maxQuestion)
			if !named {
				said = u.asks("") + said
			}
			content = &mcp.TextContent{Text: said}
		case *mcp.ImageContent, *mcp.AudioContent:
			if !named {
				out.Messages = append(out.Messages, &mcp.SamplingMessageV2{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: u.asks("")}}})
			}
		default:
			return nil, errors.New("the content of a message is text, an image or audio")
		}
		named = true
		out.Messages = append(out.Messages, &mcp.SamplingMessageV2{Role: m.Role, Content: []mcp.Content{content}})
	}
	return out, nil
}

// plainValue is a JSON value with texts without controls.
func plainValue(v any) any {
	switch v := v.(type) {
	case string:
		return plain(v, maxText)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainValue(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[plain(name, maxText)] = plainValue(value)
		}
		return out
	}
	return v
}
