package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

const invoke = capability.ToolInvoke

// Bounds of what a server offers.
const (
	maxTools   = 256
	maxPages   = 64
	maxSchema  = 64 << 10 // bytes of an input or output schema
	maxSaid    = 16 << 10 // bytes of a description or title
	maxListing = 4 << 20  // bytes of all definitions
	maxFaults  = 16
	maxDetails = 8 << 10 // bytes of annotations and the like
	maxPins    = 1024    // different tools of one server, while the runtime lasts
)

// Standing says whether a tool may be called.
type Standing string

// The standings.
const (
	Offered Standing = "offered" // as it is pinned
	Changed Standing = "changed" // its schema is not the one that is pinned
	Taken   Standing = "taken"   // another server's tool has its name
)

// Tool is one tool of an upstream.
type Tool struct {
	Server     string
	Name       string // as it is offered, with the prefix
	Upstream   string // as the server calls it
	Definition []byte // the JSON object that MCP calls Tool, its name as offered
	Schema     record.Hash
	Standing   Standing
	Capability string // what a call of it is
	Reach      gate.Reach
	Mapped     bool // a rule says so
}

// offer is a tool with what calls of it need.
type offer struct {
	Tool
	mapping *mapping
	hash    string // of the schema, in hexadecimal
}

// listing is a list of tools in the making.
type listing struct {
	tools  map[string]*offer
	names  []string
	twice  map[string]bool
	faults []string
	size   int
}

// list asks for the tools and holds them against the pins. The turn is held.
func (u *upstream) list(ctx context.Context, l *link) error {
	u.stale.Store(false)
	ctx, cancel := context.WithTimeout(ctx, u.Timeout)
	defer cancel()
	all := listing{tools: map[string]*offer{}, twice: map[string]bool{}}
	if c := l.session.InitializeResult().Capabilities; c == nil || c.Tools == nil {
		return u.adopt(all)
	}
	cursor := ""
	for range maxPages {
		page, err := l.ask(ctx, u.Name, &flight{own: true}, func(ctx context.Context) error {
			_, err := l.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
			return err
		})
		if err != nil {
			return err
		}
		raw, err := canonical.NewRaw(page, limits)
		if err != nil {
			return err
		}
		body := members(raw.String())
		for _, definition := range elements(find(body, "tools")) {
			all.add(u.read(definition))
		}
		if cursor, _ = text(find(body, "nextCursor")); cursor == "" {
			break
		}
	}
	all.settle()
	return u.adopt(all)
}

// add takes one tool, or says why not.
func (a *listing) add(o *offer, err error) {
	switch {
	case err != nil:
		a.faults = append(a.faults, short(err.Error()))
	case a.tools[o.Upstream] != nil:
		a.twice[o.Upstream] = true
	case len(a.names) >= maxTools || a.size+len(o.Definition) > maxListing:
		a.faults = append(a.faults, fmt.Sprintf("tool %s: more than %d tools, or %d bytes of them", o.Upstream, maxTools, maxListing))
	default:
		a.tools[o.Upstream], a.names, a.size = o, append(a.names, o.Upstream), a.size+len(o.Definition)
	}
}

// keep leaves out what there is no room for.
func (a *listing) keep(room func(name string) bool) {
	before := len(a.names)
	a.names = slices.DeleteFunc(a.names, func(name string) bool {
		if room(name) {
			return false
		}
		delete(a.tools, name)
		return true
	})
	if n := before - len(a.names); n > 0 {
		a.faults = append(a.faults, fmt.Sprintf("%d tools: it has offered %d different ones since iff started, and no more are taken", n, maxPins))
	}
}

// settle takes neither of two tools with one name.
func (a *listing) settle() {
	for name := range a.twice {
		a.faults = append(a.faults, "tool "+name+" is there twice, so neither is taken")
		delete(a.tools, name)
	}
	a.names = slices.DeleteFunc(a.names, func(n string) bool { return a.twice[n] })
	a.faults = a.faults[:min(len(a.faults), maxFaults)]
}

// read takes one definition of a tool.
func (u *upstream) read(definition string) (*offer, error) {
	list := members(definition)
	name, _ := text(find(list, "name"))
	offered := u.Prefix + name
	schema := find(list, "inputSchema")
	switch {
	case !isToolName(name) || !isToolName(offered):
		return nil, fmt.Errorf("a tool is called %q; a name has 1 to %d of A-Z a-z 0-9 _ . and -", short(name), maxName)
	case !strings.HasPrefix(schema, "{") || len(schema) > maxSchema:
		return nil, fmt.Errorf("tool %s: its input schema is no object, or has more than %d bytes", name, maxSchema)
	}
	m := u.mapping(name)
	sum := sha256.Sum256([]byte(`{"inputSchema":` + schema + `,"name":` + find(list, "name") + `}`))
	return &offer{
		Tool: Tool{
			Server: u.Name, Name: offered, Upstream: name, Definition: define(offered, list), Schema: sum,
			Capability: m.class.String(), Reach: m.reach, Mapped: u.mappings[name] != nil,
		},
		mapping: m, hash: hex.EncodeToString(sum[:]),
	}, nil
}

// define writes a definition as it is offered: what is known of tools, without
// controls in what is said to the model, each part bounded.
func define(offered string, list []member) []byte {
	var out []string
	put := func(name, value string) { out = append(out, `"`+name+`":`+value) }
	for _, name := range []string{"_meta", "annotations", "description", "icons", "inputSchema", "name", "outputSchema", "title"} {
		value := find(list, name)
		switch name {
		case "name":
			quoted, _ := quote(offered)
			put(name, quoted)
			continue
		case "description", "title":
			if said, ok := text(value); ok {
				value, _ = quote(printable(said))
				put(name, value)
			}
			continue
		}
		limit := maxDetails
		if strings.HasSuffix(name, "Schema") {
			limit = maxSchema
		}
		if value != "" && (value[0] == '{' || value[0] == '[') && len(value) <= limit {
			put(name, value)
		}
	}
	return []byte("{" + strings.Join(out, ",") + "}")
}

// printable is text without controls but for line ends and tabs, and bounded.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if len(s) > maxSaid {
		s = strings.ToValidUTF8(s[:maxSaid], "") + "…"
	}
	return s
}

// adopt puts a list of tools in force, each as far as its pin allows.
func (u *upstream) adopt(all listing) error {
	h := u.host
	h.pinning.Lock()
	defer h.pinning.Unlock()
	all.keep(func(name string) bool {
		_, known := h.pin(u.Name, name)
		return known || h.pinned[u.Name] < maxPins
	})
	for _, name := range all.names {
		if err := h.hold(u, all.tools[name]); err != nil {
			return err
		}
	}
	u.mu.Lock()
	old, names, now := u.tools, u.names, h.now()
	if u.pace = min(max(2*u.pace, time.Second), fresh); now.Sub(u.listed) > fresh {
		u.pace = 0
	}
	u.tools, u.names, u.faults, u.listed = all.tools, all.names, all.faults, now
	u.mu.Unlock()
	if err := h.left(u, names, all.tools); err != nil {
		return err
	}
	if !slices.Equal(names, all.names) || !maps.EqualFunc(old, all.tools, alike) {
		h.tell()
	}
	return nil
}

// alike says whether a tool is offered as before.
func alike(a, b *offer) bool {
	return a.Standing == b.Standing && bytes.Equal(a.Definition, b.Definition)
}

// left records tools that are not there any more, each once. pinning is held.
func (h *Host) left(u *upstream, names []string, tools map[string]*offer) error {
	for _, name := range names {
		key := u.Name + "/" + name
		pin, known := h.pin(u.Name, name)
		if tools[name] != nil || !known {
			continue
		}
		if h.away[key] = true; h.gone[key] {
			continue
		}
		h.gone[key] = true
		if err := h.note(u.Name, name, pin.Schema, record.ToolGone); err != nil {
			return err
		}
	}
	return nil
}

// hold says how a tool stands, and records what is new. pinning is held.
func (h *Host) hold(u *upstream, o *offer) error {
	delete(h.away, u.Name+"/"+o.Upstream)
	pin, known := h.pin(u.Name, o.Upstream)
	switch {
	case !known && h.taken(u, o.Name):
		o.Standing = Taken
		return nil
	case !known:
		pin = record.ToolPin{Server: u.Name, Tool: o.Upstream, Schema: o.Schema}
		h.pinned[u.Name]++
		if err := h.note(u.Name, o.Upstream, o.Schema, record.ToolPinned); err != nil {
			return err
		}
	case pin.Schema != o.Schema && !pin.Evicted:
		pin.Evicted = true
		if err := h.note(u.Name, o.Upstream, o.Schema, record.ToolChanged); err != nil {
			return err
		}
	}
	h.pins[u.Name+"/"+o.Upstream] = pin
	switch {
	case pin.Evicted:
		o.Standing = Changed
	case h.taken(u, o.Name):
		o.Standing = Taken
	default:
		o.Standing = Offered
	}
	return nil
}

// taken says whether another server's tool has a name: one that is pinned, or of
// two that are, that of the server that comes first. pinning is held.
func (h *Host) taken(u *upstream, offered string) bool {
	_, mine := h.pin(u.Name, strings.TrimPrefix(offered, u.Prefix))
	for _, other := range h.upstreams {
		name, ok := strings.CutPrefix(offered, other.Prefix)
		if other == u || !ok {
			continue
		}
		if _, theirs := h.pin(other.Name, name); theirs && !h.away[other.Name+"/"+name] && (!mine || other.place < u.place) {
			return true
		}
	}
	return false
}

// pin is what a tool is held to. pinning is held.
func (h *Host) pin(server, tool string) (record.ToolPin, bool) {
	if p, ok := h.pins[server+"/"+tool]; ok {
		return p, true
	}
	if h.options.Pin == nil {
		return record.ToolPin{}, false
	}
	return h.options.Pin(server, tool)
}

func (h *Host) note(server, tool string, schema record.Hash, event record.ToolEvent) error {
	if h.options.Note == nil {
		return nil
	}
	return h.options.Note(record.Tool{Event: event, Schema: schema, Server: server, Tool: tool})
}

// Accept takes the schema that a tool has now for the one that it is held to; of
// an empty tool, those of all tools of the server.
func (h *Host) Accept(server, tool string) error {
	u := h.upstreams[server]
	if u == nil {
		return refuse(ToolUnknown, "there is no upstream %q", server)
	}
	h.pinning.Lock()
	defer h.pinning.Unlock()
	defer h.tell()
	u.mu.Lock()
	defer u.mu.Unlock()
	if tool != "" && u.tools[tool] == nil {
		return refuse(ToolUnknown, "upstream %s offers no tool %q now; connect to it first", server, tool)
	}
	for _, name := range u.names {
		o := u.tools[name]
		if tool != "" && tool != name || o.Standing != Changed {
			continue
		}
		if err := h.note(server, name, o.Schema, record.ToolAccepted); err != nil {
			return err
		}
		h.pins[server+"/"+name] = record.ToolPin{Server: server, Tool: name, Schema: o.Schema}
		accepted := *o // calls under way have the other one
		accepted.Standing = Offered
		if h.taken(u, o.Name) {
			accepted.Standing = Taken
		}
		u.tools[name] = &accepted
	}
	return nil
}
