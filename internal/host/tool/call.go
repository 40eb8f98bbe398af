package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
)

// via is the arguments of a call of an upstream.
type via struct {
	Arguments canonical.Raw `json:"arguments"`
	Schema    string        `json:"schema"`
	Via       string        `json:"via"`
}

// call is a call that was read, with all that its mapping says of it.
type call struct {
	up      *upstream
	method  string // that of MCP
	name    string // of the tool
	text    string // its arguments, or the parameters of another method
	mapping *mapping
	derived
}

// Call is the call of the gate that the use of a tool by its offered name is. Paths
// in the arguments become absolute. The error is *gate.Refusal.
func (h *Host) Call(tool string, arguments []byte) (gate.Call, error) {
	o, u := h.offered(tool)
	if o == nil {
		return gate.Call{}, refuse(ToolUnknown, "no upstream offers a tool %q; list the tools again", tool)
	}
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	raw, err := canonical.NewRaw(arguments, canonical.Limits{Bytes: capability.MaxEnvelope})
	if err != nil || !strings.HasPrefix(raw.String(), "{") {
		return gate.Call{}, bad("arguments: not one JSON object: %v", err)
	}
	given := members(raw.String())
	list, err := o.mapping.absolute(u.Dir, given)
	if err != nil {
		return gate.Call{}, err
	}
	d, err := o.mapping.derive(u.Name, h.places, list)
	if err != nil {
		return gate.Call{}, err
	}
	if !slices.Equal(list, given) {
		text, err := join(list)
		if err == nil {
			raw, err = canonical.NewRaw([]byte(text), canonical.Limits{Bytes: capability.MaxEnvelope})
		}
		if err != nil {
			return gate.Call{}, bad("arguments: %v", err)
		}
	}
	return sealed(d.target, via{Arguments: raw, Schema: o.hash, Via: u.Name + "/" + o.Upstream})
}

func sealed(t capability.Target, v via) (gate.Call, error) {
	data, err := canonical.Marshal(v)
	if err != nil {
		return gate.Call{}, bad("arguments: %v", err)
	}
	return gate.Call{Capability: t.Capability().String(), Target: t.String(), Arguments: data}, nil
}

// offered finds a tool by the name under which it is offered.
func (h *Host) offered(name string) (*offer, *upstream) {
	for _, u := range h.ordered {
		short, ok := strings.CutPrefix(name, u.Prefix)
		if !ok {
			continue
		}
		if o := u.find(short); o != nil && o.Standing == Offered {
			return o, u
		}
	}
	return nil, nil
}

func (u *upstream) find(name string) *offer {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tools[name]
}

// absolute makes the paths that a mapping reads absolute, in the arguments as they
// will be sent.
func (m *mapping) absolute(dir string, args []member) ([]member, error) {
	words := m.pathWords()
	out := slices.Clone(args)
	for i, a := range out {
		if !slices.Contains(words, a.name) {
			continue
		}
		values, err := arguments(args, a.name)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if v, err = absolute(dir, v); err != nil {
				return nil, err
			}
			quoted, ok := quote(v)
			if !ok {
				return nil, bad("argument %s is not UTF-8", a.name)
			}
			values[i] = quoted
		}
		if out[i].value = values[0]; strings.HasPrefix(a.value, "[") {
			out[i].value = "[" + strings.Join(values, ",") + "]"
		}
	}
	return out, nil
}

// pathWords are the arguments that are whole paths.
func (m *mapping) pathWords() []string {
	list := m.texts()
	if to, ok := m.plan["to"]; ok {
		list = append(list, to)
	}
	var out []string
	for _, t := range list {
		if word, ok := t.alone(); ok {
			out = append(out, word)
		}
	}
	return out
}

// join writes an object. The values are in canonical form; the names are sorted by
// who makes it canonical.
func join(list []member) (string, error) {
	out := make([]string, len(list))
	for i, m := range list {
		name, ok := quote(m.name)
		if !ok {
			return "", errors.New("a name is not UTF-8")
		}
		out[i] = name + ":" + m.value
	}
	return "{" + strings.Join(out, ",") + "}", nil
}

// read finds what a call is from its envelope, and refuses one that says of itself
// that it is something else.
func (h *Host) read(env capability.Envelope) (call, error) {
	if !isVia(env.Arguments()) {
		return call{}, refuse(gate.NoHost, "nothing here does calls of class %s; a tool of an upstream is called by its name", env.Target().Capability())
	}
	v, err := readVia(env.Arguments())
	if err != nil {
		return call{}, err
	}
	server, name, _ := strings.Cut(v.via, "/")
	u := h.upstreams[server]
	if u == nil {
		return call{}, refuse(ToolUnknown, "there is no upstream %q", server)
	}
	if slices.Contains(readMethods, name) {
		return u.readMethod(env, name, v)
	}
	return u.readTool(env, name, v, h.places)
}

// sent is the arguments of a call of an upstream as they are read: every call is
// read several times, and they are in canonical form already.
type sent struct{ arguments, schema, via string }

func readVia(arguments string) (sent, error) {
	list := members(arguments)
	schema, hashed := text(find(list, "schema"))
	name, named := text(find(list, "via"))
	v := sent{find(list, "arguments"), schema, name}
	if len(list) != 3 || v.arguments == "" || !hashed || !named {
		return sent{}, bad("arguments: they are not those of a call of an upstream: arguments, schema and via")
	}
	return v, nil
}

func (u *upstream) readTool(env capability.Envelope, name string, v sent, p places) (call, error) {
	o := u.find(name)
	switch {
	case o == nil:
		return call{}, refuse(ToolUnknown, "upstream %s offers no tool %q; list the tools again", u.Name, name)
	case o.Standing == Changed || v.schema != o.hash:
		return call{}, refuse(ToolChanged, "tool %s of upstream %s does not take what it took; list the tools again, and if it is not there an operator has to accept it", name, u.Name)
	case o.Standing != Offered:
		return call{}, refuse(ToolUnknown, "tool %s of upstream %s is not offered, for another server's has its name; give one of them a prefix", name, u.Name)
	}
	args := v.arguments
	if !strings.HasPrefix(args, "{") {
		return call{}, bad("arguments: not an object")
	}
	d, err := o.mapping.derive(u.Name, p, members(args))
	if err != nil {
		return call{}, err
	}
	if !u.host.same(d, env) {
		return call{}, bad("a call of %s/%s with these arguments is %s(%s), not %s(%s)", u.Name, name,
			d.target.Capability(), d.target, env.Target().Capability(), env.Target())
	}
	return call{up: u, method: callTool, name: name, text: args, mapping: o.mapping, derived: d}, nil
}

// same says whether a call is what its mapping makes of it.
func same(d derived, env capability.Envelope) bool { return d.target == env.Target() }

const callTool = "tools/call"

// Touches implements [gate.Host].
func (h *Host) Touches(env capability.Envelope) (gate.Touches, error) {
	c, err := h.read(env)
	if err != nil {
		return gate.Touches{}, err
	}
	t := gate.Touches{Op: "call", Outside: c.outside()}
	if c.mapping.onPaths() {
		t.Op = c.mapping.op
	}
	if err := h.touched(&t, c.natives, c.mapping.class == capability.FSRead); err != nil {
		return gate.Touches{}, err
	}
	if err := h.touched(&t, c.reads, false); err != nil {
		return gate.Touches{}, err
	}
	return t, nil
}

// touched adds what native calls touch.
func (h *Host) touched(t *gate.Touches, natives []capability.Envelope, outline bool) error {
	for _, env := range natives {
		if h.options.Files == nil {
			return refuse(gate.NoHost, "there is no host for files, and this tool works on them")
		}
		n, err := h.options.Files.Touches(env)
		if err != nil {
			return err
		}
		t.Reads, t.Changes = union(t.Reads, n.Reads), union(t.Changes, n.Changes)
		t.Outline = outline && n.Outline
	}
	return nil
}

func union(list, more []corpus.Object) []corpus.Object {
	for _, o := range more {
		if !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}

// outside is the label of what a call reaches outside of every corpus: that of the
// rule; of a tool on paths, which reaches nothing else, only if the rule has one.
func (c call) outside() []label.Label {
	switch {
	case !c.mapping.label.IsAbsent():
		return []label.Label{c.mapping.label}
	case c.mapping.onPaths() || c.up.Label.IsAbsent():
		return nil
	}
	return []label.Label{c.up.Label}
}

// Plan implements [gate.Host]. What the session has staged is not laid over the
// world: the upstream would not see it, so a call that meets it is refused.
func (h *Host) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	c, err := h.read(env)
	if err == nil {
		err = unstaged(c, staged)
	}
	if err != nil {
		return gate.Plan{}, err
	}
	if c.mapping.class == capability.FSRead {
		return gate.Plan{Reach: gate.Exact}, nil
	}
	p := gate.Plan{Reach: c.mapping.reach}
	for _, native := range c.natives {
		if h.options.Files == nil {
			return gate.Plan{}, refuse(gate.NoHost, "there is no host for files, and this tool works on them")
		}
		n, err := h.options.Files.Plan(ctx, native, nil)
		if err != nil {
			return gate.Plan{}, err
		}
		if p.Reach == gate.Bounded {
			n = bounded(n)
		}
		p.Changes, p.Before, p.After = append(p.Changes, n.Changes...), append(p.Before, n.Before...), append(p.After, n.After...)
		p.Appends = p.Appends || n.Appends && p.Reach == gate.Exact
	}
	return p, nil
}

// bounded is a plan of which only the objects and their states before count.
func bounded(p gate.Plan) gate.Plan {
	for i := range p.Changes {
		p.Changes[i].After, p.After[i] = corpus.Any, corpus.Copy{Cut: true}
	}
	return p
}

// unstaged refuses a call that meets what the session has staged.
func unstaged(c call, staged gate.Staged) error {
	if staged == nil {
		return nil
	}
	for _, env := range slices.Concat(c.natives, c.reads) {
		name, at, ok := env.Target().Path()
		if !ok {
			continue
		}
		o := corpus.Name(name, at)
		for _, s := range staged.Objects() {
			if s == o || s.Below(o) || o.Below(s) {
				return &gate.Refusal{Reason: gate.Busy, Object: s, Detail: "the session has staged this, and an upstream would not see it; commit it first"}
			}
		}
	}
	return nil
}

// Do implements [gate.Host].
func (h *Host) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	order, err := p.Take()
	if err != nil {
		return gate.Result{}, err
	}
	return h.do(ctx, order)
}

func (h *Host) do(ctx context.Context, order gate.Order) (gate.Result, error) {
	c, err := h.read(order.Envelope)
	if err == nil {
		err = unstaged(c, order.Staged)
	}
	if err == nil {
		err = h.plain(c)
	}
	if err != nil {
		return gate.Result{}, err
	}
	if reads := c.mapping.class == capability.FSRead; reads != (order.Phase == gate.Read) || !reads && order.Phase != gate.Execute {
		return gate.Result{}, refuse(gate.HostFailed, "an upstream has no phase %q; nothing was done", order.Phase)
	}
	t := c.talk(Caller{order.Session, order.Request})
	r, err := c.send(withTalk(ctx, t))
	if t != nil && t.asked.Load() > 0 {
		r.Detail = strings.TrimPrefix(fmt.Sprintf("%s; questions put to the client: %d", r.Detail, t.asked.Load()), "; ")
	}
	return r, err
}

// send has the server do the call.
func (c call) send(ctx context.Context) (gate.Result, error) {
	if c.method != callTool {
		return c.ask(ctx)
	}
	raw, err := c.up.call(ctx, c.name, c.text)
	if err != nil {
		return gate.Result{}, err
	}
	return c.result(raw)
}

// plain refuses to have something read by a name that leads elsewhere. The host
// for files sees to that when it plans; reads are not planned.
func (h *Host) plain(c call) error {
	if c.mapping.class != capability.FSRead && len(c.reads) == 0 {
		return nil
	}
	for _, env := range slices.Concat(c.natives, c.reads) {
		name, at, ok := env.Target().Path()
		if !ok || env.Target().Capability() != capability.FSRead {
			continue
		}
		if err := h.places.plain(name, at); err != nil {
			return &gate.Refusal{Reason: reasonOf(err), Object: corpus.Name(name, at), Detail: fmt.Sprintf("%v; name what it is", err), Err: err}
		}
	}
	return nil
}
