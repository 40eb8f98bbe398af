package gate

import (
	"errors"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// prepare finds out what can be known of a call from its words alone.
func (s *Session) prepare(c Call) *live {
	l := &live{g: s.g, session: s, call: c}
	l.facts.Session = s.id
	if !isKey(c.Key) {
		l.void(CallMalformed, "key: up to 128 of A-Z a-z 0-9 . _ : -")
		return l
	}
	class, err := capability.Parse(c.Capability)
	if err != nil {
		l.void(CallMalformed, err.Error())
		return l
	}
	target, err := capability.ParseTarget(class, c.Target)
	if err != nil {
		l.void(CallMalformed, err.Error())
		l.quietly(func() { l.misspelled(class) })
		return l
	}
	l.env, err = capability.NewEnvelope(capability.Call{Target: target, Arguments: c.Arguments, Reasoning: c.Reasoning})
	if err != nil {
		l.void(CallMalformed, err.Error())
		return l
	}
	l.facts.Target, l.facts.Envelope, l.facts.Key = target, l.env.Hash(), c.Key
	l.quietly(func() { l.look(class) })
	return l
}

// ownKey is the agent's key, for the record; empty if it is none.
func (l *live) ownKey() string {
	if !isKey(l.call.Key) {
		return ""
	}
	return l.call.Key
}

func isKey(key string) bool {
	return len(key) <= record.MaxID && strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") == ""
}

func (l *live) void(why Reason, message string) {
	l.facts.Void, l.detail = why, message
}

// quietly looks at a call. Where a part breaks over it, it is refused.
func (l *live) quietly(look func()) {
	if _, err := calm(func() (struct{}, error) { look(); return struct{}{}, nil }); err != nil {
		l.void(HostFailed, err.Error())
	}
}

// spelling finds what is guarded behind a target that nothing else can be found
// out about.
func (l *live) spelling(class capability.Capability, named string) {
	if class == capability.FSWriteRev || class == capability.FSWriteIrrev {
		l.guarded, l.facts.Guarded = l.g.parts.Guard.FindSpelling(class, l.call.Target)
		if !l.facts.Guarded && named != "" {
			l.guarded, l.facts.Guarded = l.g.parts.Guard.FindSpelling(class, named)
		}
	}
}

// misspelled is a call whose target is refused for its spelling. If it names
// something guarded all the same, that is asked about and recorded.
func (l *live) misspelled(class capability.Capability) {
	if l.spelling(class, ""); !l.facts.Guarded {
		return
	}
	target, err := capability.Path(class, l.guarded.Object.Corpus(), l.guarded.Object.Path())
	if err != nil {
		return
	}
	env, err := capability.NewEnvelope(capability.Call{Target: target, Arguments: l.call.Arguments, Reasoning: l.call.Reasoning})
	if err != nil {
		return
	}
	l.env, l.facts.Spelled = env, true
	l.facts.Target, l.facts.Envelope, l.facts.Key = target, env.Hash(), l.call.Key
}

// look asks the host what the call reaches for, and finds the labels.
func (l *live) look(class capability.Capability) {
	l.host = l.g.parts.Hosts[class]
	if l.host == nil {
		l.void(NoHost, "nothing here does calls of class "+class.String()+"; iff.toml says what is configured")
		return
	}
	touches, err := l.host.Touches(l.env)
	if err != nil {
		var r *Refusal
		named := ""
		if errors.As(err, &r) {
			l.void(r.Reason, r.Error())
			named = r.Named
		} else {
			l.void(HostFailed, err.Error())
		}
		l.spelling(class, named)
		return
	}
	l.touches = touches
	l.facts.Changes, l.facts.Reversible = touches.Changes, touches.Reversible
	for _, o := range touches.Reads {
		l.facts.Reads = append(l.facts.Reads, l.g.parts.Label(o))
	}
	if len(touches.Reads) > 0 && !touches.Outline {
		l.facts.Tells = l.g.parts.Guard.Tells(touches.Reads)
	}
	for _, o := range touches.Changes {
		l.facts.Sinks = append(l.facts.Sinks, l.g.parts.Label(o))
	}
	l.outside(class)
	l.also(class)
	l.sink = sinkText(l.facts.Sinks)
	if len(touches.Changes) > 0 {
		l.guarded, l.facts.Guarded = l.g.parts.Guard.Find(touches.Changes)
	}
}

// outside adds the labels of what the call reaches beyond every corpus: those
// that its host gives, which hold for what goes there and for what comes back, or
// where it reaches no object at all, that which its class was given.
func (l *live) outside(class capability.Capability) {
	labels, reads := l.touches.Outside, true
	if len(labels)+len(l.touches.Reads)+len(l.touches.Changes) == 0 {
		labels, reads = []label.Label{l.g.parts.Outside[class]}, class.Effect() == capability.None
	}
	if reads {
		l.facts.Reads = append(l.facts.Reads, labels...)
	}
	if class.Effect() != capability.None {
		l.facts.Sinks = append(l.facts.Sinks, labels...)
	}
}

// also notes what the call changes or tells of beside its target, such as where a
// rename leads: a grant has to cover that too.
func (l *live) also(class capability.Capability) {
	name, path, ok := l.facts.Target.Path()
	if !ok {
		return
	}
	reads := l.touches.Reads
	if class.Effect() != capability.None {
		reads = nil
	}
	for _, objects := range [...][]corpus.Object{l.facts.Changes, reads} {
		for _, o := range objects {
			if isAt(o, name, path) {
				continue
			}
			t, err := capability.Path(class, o.Corpus(), o.Path())
			if err != nil {
				l.void(CallMalformed, err.Error())
				return
			}
			l.facts.Also = append(l.facts.Also, t)
		}
	}
}

// isAt says whether an object is the one at a path of a corpus.
func isAt(o corpus.Object, name, path string) bool { return o.Corpus() == name && o.Path() == path }

// sinkText is the labels of what is written to, for the record.
func sinkText(sinks []label.Label) string {
	var out []string
	for _, l := range sinks {
		if t := l.String(); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, "; ")
}
