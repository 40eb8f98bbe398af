package tool

import (
	"errors"
	"net/url"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// derived is what a mapping makes of a call.
type derived struct {
	target capability.Target
	// natives are the calls of the host for files that touch the same objects: of
	// an exact tool the one that it equals, of others one for each object.
	natives []capability.Envelope
	// reads are native reads of what the result would tell besides.
	reads []capability.Envelope
}

// derive finds target and objects from the arguments alone.
func (m *mapping) derive(server string, p places, args []member) (derived, error) {
	if err := m.narrow(args); err != nil {
		return derived{}, err
	}
	var d derived
	var changed []capability.Target
	if m.onPaths() {
		all, err := m.paths(m.class, p, m.target, args)
		if err != nil {
			return derived{}, err
		}
		d.target, changed = all[0], all
		if m.class == capability.FSRead && len(all) > 1 || m.reach == gate.Exact && len(all) > 1 {
			return derived{}, bad("the call names %d objects, and a call of this tool is of one; ask for one at a time", len(all))
		}
	} else {
		t, err := m.single(server, args)
		if err != nil {
			return derived{}, err
		}
		d.target = t
	}
	if err := m.objects(&d, p, changed, args); err != nil {
		return derived{}, err
	}
	return d, nil
}

// objects makes the native calls.
func (m *mapping) objects(d *derived, p places, changed []capability.Target, args []member) error {
	class := m.class
	if !m.onPaths() {
		class = capability.FSWriteIrrev
	}
	for _, t := range m.also {
		more, err := m.paths(class, p, t, args)
		if err != nil {
			return err
		}
		changed = append(changed, more...)
	}
	if len(changed) > 0 {
		native, err := m.native(p, args)
		if err != nil {
			return err
		}
		if d.natives, err = envelopes(changed, native); err != nil {
			return err
		}
	}
	for _, t := range m.reads {
		told, err := m.paths(capability.FSRead, p, t, args)
		if err != nil {
			return err
		}
		more, err := envelopes(told, []byte(`{"op":"read"}`))
		if err != nil {
			return err
		}
		d.reads = append(d.reads, more...)
	}
	return nil
}

func envelopes(targets []capability.Target, arguments []byte) ([]capability.Envelope, error) {
	var out []capability.Envelope
	for _, t := range targets {
		e, err := capability.NewEnvelope(capability.Call{Target: t, Arguments: arguments})
		if err != nil {
			return nil, bad("%v", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// native is the arguments of the native call.
func (m *mapping) native(p places, args []member) ([]byte, error) {
	out := map[string]canonical.Raw{}
	put := func(name string, v any) error {
		b, err := canonical.Marshal(v)
		if err == nil {
			out[name], err = canonical.NewRaw(b, canonical.Limits{})
		}
		if err != nil {
			return bad("%v", err)
		}
		return nil
	}
	if err := put("op", m.op); err != nil {
		return nil, err
	}
	if m.reach != gate.Exact && (m.op == "write" || m.op == "append") {
		if err := put("content", ""); err != nil {
			return nil, err
		}
	}
	for name, t := range m.plan {
		value, err := m.planned(p, name, t, args)
		if err != nil {
			return nil, err
		}
		if err := put(name, value); err != nil {
			return nil, err
		}
	}
	return canonical.Marshal(out)
}

// planned is one argument of a native call.
func (m *mapping) planned(p places, name string, t template, args []member) (any, error) {
	switch name {
	case "to":
		list, err := m.paths(m.class, p, t, args)
		if err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, bad("the call names %d places to go to; name one", len(list))
		}
		return list[0].String(), nil
	case "recursive":
		return t.String() == "true", nil
	}
	return t.expand(args, nil)
}

// paths are the objects that a template names.
func (m *mapping) paths(class capability.Capability, p places, t template, args []member) ([]capability.Target, error) {
	word, alone := t.alone()
	if !alone {
		source, err := t.expand(args, segment)
		if err != nil {
			return nil, err
		}
		one, err := written(class, p, source)
		return []capability.Target{one}, err
	}
	values, err := arguments(args, word)
	if err != nil {
		return nil, err
	}
	var out []capability.Target
	for _, v := range values {
		one, err := p.target(class, v)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// written is a target that a template spells, or the object at an absolute path.
func written(class capability.Capability, p places, source string) (capability.Target, error) {
	if strings.HasPrefix(source, "/") {
		return p.target(class, strings.NewReplacer(`\*`, "*", `\\`, `\`).Replace(source))
	}
	t, err := capability.ParseTarget(class, source)
	var e *capability.Error
	if errors.As(err, &e) && e.Canonical != "" { // work:a for a
		t, err = capability.ParseTarget(class, e.Canonical)
	}
	if err != nil {
		return capability.Target{}, bad("%v", err)
	}
	return t, nil
}

// segment is an argument that is one part of a longer path.
func segment(value string) (string, error) {
	if value == "" || value == "." || value == ".." || strings.ContainsAny(value, "/:\x00") {
		return "", bad("%q is not a single name; here it is one part of a path", value)
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(value), nil
}

// single is a target that is no path.
func (m *mapping) single(server string, args []member) (capability.Target, error) {
	var t capability.Target
	var err error
	switch m.class.Shape() {
	case capability.HostShape:
		t, err = m.host(args)
	case capability.ArgvShape:
		t, err = m.argv(args)
	case capability.AmountShape:
		var source string
		if source, err = m.target.expand(args, nil); err == nil {
			t, err = capability.ParseTarget(m.class, source)
		}
	default:
		source := server + "/" + m.name
		if m.class != capability.ToolInvoke {
			if source, err = m.target.expand(args, nil); err != nil {
				break
			}
		}
		t, err = capability.Name(m.class, source)
	}
	var refused *gate.Refusal
	if err == nil || errors.As(err, &refused) {
		return t, err
	}
	return t, bad("%v", err)
}

func (m *mapping) argv(args []member) (capability.Target, error) {
	var words []string
	for source := range strings.FieldsSeq(m.target.String()) {
		t, err := parseTemplate(source)
		if err != nil {
			return capability.Target{}, err
		}
		if word, ok := t.alone(); ok {
			values, err := arguments(args, word)
			if err != nil {
				return capability.Target{}, err
			}
			words = append(words, values...)
			continue
		}
		one, err := t.expand(args, nil)
		if err != nil {
			return capability.Target{}, err
		}
		words = append(words, one)
	}
	return capability.Argv(words...)
}

// host reads a host, or that of a URL. What two readers of URLs may take for
// different hosts is refused.
func (m *mapping) host(args []member) (capability.Target, error) {
	source, err := m.target.expand(args, nil)
	if err != nil {
		return capability.Target{}, err
	}
	if !strings.Contains(source, "://") {
		return capability.ParseTarget(m.class, source)
	}
	if strings.ContainsFunc(source, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return capability.Target{}, bad("the URL holds a space, a control character or a backslash; write it escaped")
	}
	u, err := url.Parse(source)
	if err != nil {
		return capability.Target{}, bad("the URL: %v", err)
	}
	rest, secure := strings.CutPrefix(source, "https://")
	if !secure {
		var ok bool
		if rest, ok = strings.CutPrefix(source, "http://"); !ok {
			return capability.Target{}, bad("the URL %q is neither https:// nor http://; write one of them", source)
		}
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	if u.User != nil || authority != u.Host || strings.Contains(authority, "%") {
		return capability.Target{}, bad("the URL has more than a host and a port before its path; write those alone")
	}
	return portOf(authority, secure)
}

// portOf spells a host as a target, with the port that the scheme means.
func portOf(authority string, secure bool) (capability.Target, error) {
	named := strings.LastIndexByte(authority, ':') > strings.LastIndexByte(authority, ']')
	switch {
	case named:
		authority = strings.TrimSuffix(authority, ":443")
	case !secure:
		authority += ":80"
	}
	return capability.ParseTarget(capability.NetEgress, authority)
}
