package tool

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// What servers offer beside tools, by the methods of MCP.
const (
	listResources = "resources/list"
	listTemplates = "resources/templates/list"
	listPrompts   = "prompts/list"
	readResource  = "resources/read"
	getPrompt     = "prompts/get"
	complete      = "completion/complete"
	setLevel      = "logging/setLevel"
)

// readMethods are those that tell a server something and tell of it, so they are
// calls of the gate: tool.invoke of SERVER/resources/URI, SERVER/prompts/NAME and
// SERVER/completions/NAME or URI.
var readMethods = []string{readResource, getPrompt, complete}

// told are the parameters that are passed on, and no others.
var told = []string{"uri", "name", "arguments", "ref", "argument", "context"}

// maxListed bounds how much of one kind one server lists.
const maxListed = 1000

// features are those of a connection.
func (l *link) features() map[string]bool {
	c := l.session.InitializeResult().Capabilities
	if c == nil {
		return nil
	}
	return map[string]bool{"resources": c.Resources != nil, "prompts": c.Prompts != nil, "completions": c.Completions != nil, "logging": c.Logging != nil}
}

// Offers says whether a server that is up has resources, prompts, completions or
// logging.
func (h *Host) Offers(feature string) bool {
	return len(h.with(feature)) > 0
}

func (h *Host) with(feature string) []*upstream {
	var out []*upstream
	for _, u := range h.ordered {
		if l := u.current(); l != nil && l.features()[feature] {
			out = append(out, u)
		}
	}
	return out
}

// List is what all servers list by a method, as one JSON array. One that does not
// answer lists nothing.
func (h *Host) List(ctx context.Context, method string) ([]byte, error) {
	feature, key, ok := listKind(method)
	if !ok {
		return nil, bad("%q is no method that lists", method)
	}
	var all []string
	for _, u := range h.with(feature) {
		items, err := u.items(ctx, method, key)
		if err != nil {
			continue
		}
		for _, item := range items {
			if method == listPrompts {
				item = u.prefixed(item)
			}
			all = append(all, item)
		}
	}
	return []byte("[" + strings.Join(all, ",") + "]"), nil
}

func listKind(method string) (feature, key string, ok bool) {
	switch method {
	case listResources:
		return "resources", "resources", true
	case listTemplates:
		return "resources", "resourceTemplates", true
	case listPrompts:
		return "prompts", "prompts", true
	}
	return "", "", false
}

// prefixed is an item with the server's prefix before its name.
func (u *upstream) prefixed(item string) string {
	list := members(item)
	for i, m := range list {
		if name, ok := text(m.value); ok && m.name == "name" {
			list[i].value, _ = quote(u.Prefix + name)
		}
	}
	out, err := join(list)
	if err != nil {
		return item
	}
	return out
}

// items are all pages of a list.
func (u *upstream) items(ctx context.Context, method, key string) ([]string, error) {
	var out []string
	cursor := ""
	for range maxPages {
		params := "{}"
		if cursor != "" {
			quoted, _ := quote(cursor)
			params = `{"cursor":` + quoted + `}`
		}
		page, err := u.request(ctx, method, params)
		if err != nil {
			return nil, err
		}
		raw, err := canonical.NewRaw(page, limits)
		if err != nil {
			return nil, err
		}
		body := members(raw.String())
		for _, item := range elements(find(body, key)) {
			if strings.HasPrefix(item, "{") && len(item) <= maxSchema && len(out) < maxListed {
				out = append(out, item)
			}
		}
		if cursor, _ = text(find(body, "nextCursor")); cursor == "" {
			break
		}
	}
	return out, nil
}

// request sends a request other than tools/call, once.
func (u *upstream) request(ctx context.Context, method, params string) ([]byte, error) {
	return u.ask(ctx, func(l *link) (func(context.Context) error, error) { return sender(l.session, method, members(params)) })
}

// sender is the SDK's way to send a request. Its answers are not looked at.
func sender(s *mcp.ClientSession, method string, list []member) (func(context.Context) error, error) {
	word := func(name string) string { v, _ := text(find(list, name)); return v }
	switch method {
	case listResources:
		return sending(s.ListResources, &mcp.ListResourcesParams{Cursor: word("cursor")}), nil
	case listTemplates:
		return sending(s.ListResourceTemplates, &mcp.ListResourceTemplatesParams{Cursor: word("cursor")}), nil
	case listPrompts:
		return sending(s.ListPrompts, &mcp.ListPromptsParams{Cursor: word("cursor")}), nil
	case readResource:
		return sending(s.ReadResource, &mcp.ReadResourceParams{URI: word("uri")}), nil
	case getPrompt:
		return sending(s.GetPrompt, &mcp.GetPromptParams{Name: word("name"), Arguments: words(find(list, "arguments"))}), nil
	case complete:
		return sending(s.Complete, completion(list)), nil
	case setLevel:
		return func(ctx context.Context) error {
			return s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(word("level"))})
		}, nil
	}
	return nil, bad("method %q is not passed on", method)
}

func sending[P, R any](send func(context.Context, P) (R, error), params P) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := send(ctx, params)
		return err
	}
}

// words are the members of an object that are strings.
func words(object string) map[string]string {
	out := map[string]string{}
	for _, m := range members(object) {
		if v, ok := text(m.value); ok {
			out[m.name] = v
		}
	}
	return out
}

func completion(list []member) *mcp.CompleteParams {
	ref, argument, context := words(find(list, "ref")), words(find(list, "argument")), members(find(list, "context"))
	p := &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: ref["type"], Name: ref["name"], URI: ref["uri"]},
		Argument: mcp.CompleteParamsArgument{Name: argument["name"], Value: argument["value"]},
	}
	if given := find(context, "arguments"); given != "" {
		p.Context = &mcp.CompleteContext{Arguments: words(given)}
	}
	return p
}

// Read is the call of the gate that resources/read, prompts/get or
// completion/complete is. The error is *gate.Refusal.
func (h *Host) Read(method string, params []byte) (gate.Call, error) {
	ctx, cancel := context.WithTimeout(h.base, defaultPause)
	defer cancel()
	if !slices.Contains(readMethods, method) {
		return gate.Call{}, bad("%q is no method that reads", method)
	}
	raw, err := canonical.NewRaw(params, canonical.Limits{Bytes: capability.MaxEnvelope})
	if err != nil {
		return gate.Call{}, bad("params: %v", err)
	}
	list := members(raw.String())
	u, list := h.owner(ctx, method, list)
	if u == nil {
		return gate.Call{}, refuse(ToolUnknown, "no upstream has that; list them again")
	}
	// Nothing but what says what to read is passed on.
	list = slices.DeleteFunc(list, func(m member) bool { return !slices.Contains(told, m.name) })
	text, err := join(list)
	if err == nil {
		raw, err = canonical.NewRaw([]byte(text), canonical.Limits{Bytes: capability.MaxEnvelope})
	}
	if err != nil {
		return gate.Call{}, bad("params: %v", err)
	}
	t, err := u.target(method, list)
	if err != nil {
		return gate.Call{}, err
	}
	return sealed(t, via{Arguments: raw, Schema: "", Via: u.Name + "/" + method})
}

// target is what a read is of.
func (u *upstream) target(method string, list []member) (capability.Target, error) {
	word, kind := "uri", "/resources/"
	switch method {
	case getPrompt:
		word, kind = "name", "/prompts/"
	case complete:
		kind, list = "/completions/", members(find(list, "ref"))
		if find(list, "name") != "" {
			word = "name"
		}
	}
	name, err := argument(list, word)
	if err != nil {
		return capability.Target{}, err
	}
	t, err := capability.Name(invoke, u.Name+kind+name)
	if err != nil {
		return capability.Target{}, bad("%v", err)
	}
	return t, nil
}

// readMethod reads a call that is no call of a tool.
func (u *upstream) readMethod(env capability.Envelope, method string, v sent) (call, error) {
	list := members(v.arguments)
	t, err := u.target(method, list)
	if err != nil {
		return call{}, err
	}
	if t != env.Target() || v.schema != "" {
		return call{}, bad("this reads %s(%s), and the call says %s(%s)", t.Capability(), t, env.Target().Capability(), env.Target())
	}
	return call{up: u, method: method, text: v.arguments, mapping: u.mapping(""), derived: derived{target: t}}, nil
}

// ask does a read, and gives the result as it was sent.
func (c call) ask(ctx context.Context) (gate.Result, error) {
	data, err := c.up.request(ctx, c.method, c.text)
	if err != nil {
		return gate.Result{}, err
	}
	raw, err := canonical.NewRaw(data, canonical.Limits{Bytes: MaxResult, Depth: maxDepth})
	if err != nil {
		return gate.Result{}, c.lost(UpstreamGarbage, "its answer: "+short(err.Error()))
	}
	return gate.Result{Data: []byte(raw.String())}, nil
}

// owner finds the server that a read or a completion is for, and gives the
// parameters as that server takes them.
func (h *Host) owner(ctx context.Context, method string, list []member) (*upstream, []member) {
	if method == complete {
		ref := members(find(list, "ref"))
		of := readResource
		if find(ref, "name") != "" {
			of = getPrompt
		}
		u, ref := h.owner(ctx, of, ref)
		joined, err := join(ref)
		if err != nil {
			return nil, list
		}
		return u, replaced(list, "ref", joined)
	}
	if name, ok := text(find(list, "name")); ok && method == getPrompt {
		u, short := h.prompter(ctx, name)
		return u, with(list, "name", short)
	}
	uri, _ := text(find(list, "uri"))
	all := h.with("resources")
	if len(all) == 1 {
		return all[0], list
	}
	for _, kind := range []struct{ method, key, word string }{{listResources, "resources", "uri"}, {listTemplates, "resourceTemplates", "uriTemplate"}} {
		for _, u := range all {
			items, _ := u.items(ctx, kind.method, kind.key)
			for _, item := range items {
				found, _ := text(find(members(item), kind.word))
				start, _, open := strings.Cut(found, "{")
				if found == uri || open && start != "" && strings.HasPrefix(uri, start) {
					return u, list
				}
			}
		}
	}
	return nil, list
}

// prompter finds the server of a prompt by the name under which it is listed.
func (h *Host) prompter(ctx context.Context, name string) (*upstream, string) {
	for _, u := range h.with("prompts") {
		short, ok := strings.CutPrefix(name, u.Prefix)
		if !ok {
			continue
		}
		items, _ := u.items(ctx, listPrompts, "prompts")
		for _, item := range items {
			if own, _ := text(find(members(item), "name")); own == short {
				return u, short
			}
		}
	}
	return nil, name
}

func with(list []member, name, value string) []member {
	quoted, _ := quote(value)
	return replaced(list, name, quoted)
}

// replaced has another JSON value for a member.
func replaced(list []member, name, value string) []member {
	out := slices.Clone(list)
	for i := range out {
		if out[i].name == name {
			out[i].value = value
		}
	}
	return out
}

// Ask passes on the one method that carries nothing of an agent's and tells
// nothing: the level of logging.
func (h *Host) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	raw, err := canonical.NewRaw(params, canonical.Limits{})
	if err != nil {
		return nil, bad("params: %v", err)
	}
	list := members(raw.String())
	if method != setLevel {
		return nil, bad("method %q is not passed on", method)
	}
	level, _ := text(find(list, "level"))
	if !slices.Contains(levels, level) {
		return nil, bad("level: it is one of %s", strings.Join(levels, ", "))
	}
	wanted := h.louder(level)
	var all error
	for _, u := range h.with("logging") {
		_, err := u.request(ctx, method, wanted)
		all = errors.Join(all, err)
	}
	return []byte("{}"), all
}

// louder notes a level that somebody wants, and gives the parameters that ask for
// the most talkative one: servers know one client, and each of ours is told what
// it wants of it.
func (h *Host) louder(level string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if level != "" && (h.verbose == "" || slices.Index(levels, level) < slices.Index(levels, h.verbose)) {
		h.verbose = level
	}
	if h.verbose == "" {
		return ""
	}
	return `{"level":"` + h.verbose + `"}`
}
