package broker

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/level"
)

// entities are what a request speaks of: its resource, the actions, and the places
// that rules name. All of them are in every such place above them, so that Cedar
// has no steps to go. It implements types.EntityGetter.
type entities struct {
	resource types.Entity
	places   map[types.EntityUID]types.EntityUIDSet
	actions  map[types.EntityUID]types.Entity
}

// Get finds one.
func (e *entities) Get(uid types.EntityUID) (types.Entity, bool) {
	if uid == e.resource.UID {
		return e.resource, true
	}
	if uid.Type == typeAction {
		a, ok := e.actions[uid]
		return a, ok
	}
	above, ok := e.places[uid]
	return types.Entity{UID: uid, Parents: above}, ok
}

// parentPath is the directory that a path, in the spelling of a target, lies in;
// nothing for the root of a corpus.
func parentPath(text string) types.EntityUID {
	first, _, _ := strings.Cut(text, "/")
	prefix := ""
	if i := strings.IndexByte(first, ':'); i >= 0 {
		prefix = text[:i+1]
	}
	switch i := strings.LastIndexByte(text, '/'); {
	case text[len(prefix):] == ".":
		return types.EntityUID{}
	case i >= 0:
		return types.NewEntityUID(typePath, types.String(text[:i]))
	case prefix == capability.DefaultCorpus+":":
		return types.NewEntityUID(typePath, ".") // work: stands only before a name with a colon
	}
	return types.NewEntityUID(typePath, types.String(prefix+"."))
}

// parentDomain is a domain without its first label.
func parentDomain(name string) types.EntityUID {
	_, rest, found := strings.Cut(name, ".")
	if !found {
		return types.EntityUID{}
	}
	return types.NewEntityUID(typeDomain, types.String(rest))
}

// actionEntities are the tokens and the groups that they are in.
func actionEntities() map[types.EntityUID]types.Entity {
	out := map[types.EntityUID]types.Entity{}
	for _, r := range capability.Vocabulary() {
		group := types.NewEntityUID(typeAction, types.String(r.Effect.String()))
		uid := types.NewEntityUID(typeAction, types.String(r.Token))
		out[group] = types.Entity{UID: group}
		out[uid] = types.Entity{UID: uid, Parents: types.NewEntityUIDSet(group)}
	}
	return out
}

// resourceOf is a target as Cedar sees it, with the attributes that rules ask for,
// in those of the places above it that rules name. Its id is the target's text.
func (u *uses) resourceOf(t capability.Target) (types.Entity, error) {
	e := types.Entity{UID: types.NewEntityUID(resourceType(t.Capability()), types.String(t.String()))}
	e.Parents = u.within(placeOf(t))
	names := u.resource[e.UID.Type]
	if len(names) == 0 {
		return e, nil
	}
	attributes := make(types.RecordMap, len(names))
	for _, name := range names {
		v, err := attribute(t, name)
		if err != nil {
			return e, err
		}
		if v != nil {
			attributes[name] = v
		}
	}
	e.Attributes = types.NewRecord(attributes)
	return e, nil
}

// placeOf is the directory or the domain that a target is in; zero if none.
func placeOf(t capability.Target) types.EntityUID {
	switch resourceType(t.Capability()) {
	case typePath:
		return parentPath(t.String())
	case typeHost:
		if host, _, _ := t.Host(); !isAddress(host) {
			return types.NewEntityUID(typeDomain, types.String(host))
		}
	}
	return types.EntityUID{}
}

func placeAbove(uid types.EntityUID) types.EntityUID {
	if uid.Type == typePath {
		return parentPath(string(uid.ID))
	}
	return parentDomain(string(uid.ID))
}

func isAddress(host string) bool {
	if last := host[len(host)-1]; !strings.Contains(host, ":") && (last < '0' || last > '9') {
		return false // no top-level domain ends an IPv4 address
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// attribute is one of a target; nil if it has none of this name.
func attribute(t capability.Target, name types.String) (types.Value, error) {
	switch resourceType(t.Capability()) {
	case typePath:
		corpus, path, _ := t.Path()
		switch name {
		case "corpus":
			return types.String(corpus), nil
		case "path":
			return types.String(path), nil
		case "name":
			return types.String(path[strings.LastIndexByte(path, '/')+1:]), nil
		}
	case typeHost:
		return hostAttribute(t, name)
	case typeTool:
		whole, _ := t.Name()
		server, tool, found := strings.Cut(whole, "/")
		if !found {
			server, tool = "", whole
		}
		if name == "server" {
			return types.String(server), nil
		}
		return types.String(tool), nil
	case typeName:
		whole, _ := t.Name()
		return types.String(whole), nil
	case typeArgv:
		return argvAttribute(t, name)
	case typeAmount:
		unit, amount, _ := t.Amount()
		if name == "unit" {
			return types.String(unit), nil
		}
		return decimalOf(amount)
	}
	return nil, nil
}

func hostAttribute(t capability.Target, name types.String) (types.Value, error) {
	host, port, _ := t.Host()
	switch {
	case name == "name":
		return types.String(host), nil
	case name == "port":
		return types.Long(port), nil
	case !isAddress(host):
		return nil, nil
	}
	return types.ParseIPAddr(host)
}

func argvAttribute(t capability.Target, name types.String) (types.Value, error) {
	argv, _ := t.Argv()
	switch name {
	case "program":
		return types.String(argv[0]), nil
	case "line":
		return types.String(t.String()), nil
	case "count":
		return types.Long(len(argv) - 1), nil
	}
	args := make([]types.Value, len(argv)-1)
	for i := range args {
		args[i] = types.String(argv[i+1])
	}
	return types.NewSet(args...), nil
}

// decimalOf is exact or an error: Cedar has four digits behind the point, and 15
// before it.
func decimalOf(amount string) (types.Decimal, error) {
	if !strings.Contains(amount, ".") {
		amount += ".0"
	}
	d, err := types.ParseDecimal(amount)
	if err != nil {
		return d, fmt.Errorf("the amount %s is none that a policy can compare: it has more than four digits behind the point, or is beyond 922337203685477", amount)
	}
	return d, nil
}

func levelOf(text string) (types.EntityUID, error) {
	if _, err := level.Parse(text); err != nil {
		return types.EntityUID{}, err
	}
	return types.NewEntityUID(typeLevel, types.String(text)), nil
}

// contextOf is what rules ask for of a question, beside its target.
func (u *uses) contextOf(q *approval.Question) (contextKey, error) {
	class := q.Envelope.Target().Capability()
	key := contextKey{class: class}
	if _, err := levelOf(q.Level); err != nil {
		return key, err
	}
	if q.Profile != "strict" && q.Profile != "dev" {
		return key, fmt.Errorf("the profile %q is neither strict nor dev", q.Profile)
	}
	f := &facts{Question: q}
	if u.hints[class] {
		f.hints = hintsOf(q.Envelope.Arguments())
	}
	for i, name := range u.context[class] {
		v, err := f.fact(name)
		if err != nil {
			return key, err
		}
		key.values[i] = v
	}
	return key, nil
}

// facts is a question, with what its arguments say.
type facts struct {
	*approval.Question
	hints
}

// fact is one attribute of the context.
func (f *facts) fact(name types.String) (types.Value, error) {
	switch name {
	case "level":
		return levelOf(f.Level)
	case "profile":
		return types.NewEntityUID(typeProfile, types.String(f.Profile)), nil
	case "skill":
		return types.String(f.Skill.Name), nil
	case "signer":
		return types.String(f.Skill.Signer), nil
	case "skillVersion":
		return types.Long(f.Skill.Version), nil
	case "skillLevel":
		return levelOf(cmp.Or(f.Skill.Level, level.Unverified.String()))
	case "guarded":
		return types.Boolean(f.Guarded != ""), nil
	case "mark":
		return types.String(f.Mark), nil
	case "sink":
		return types.String(f.Sink), nil
	case "op":
		return types.String(f.op), nil
	case "method":
		return types.String(f.method), nil
	case "via":
		return types.String(f.via), nil
	}
	return f.number(name)
}

// number is one of those that are counted.
func (f *facts) number(name types.String) (types.Value, error) {
	creates, deletes, unknown := count(f.Plan)
	switch name {
	case "size":
		return types.Long(len(f.Envelope.Arguments())), nil
	case "changes":
		return types.Long(len(f.Plan)), nil
	case "creates":
		return types.Long(creates), nil
	case "deletes":
		return types.Long(deletes), nil
	case "unknown":
		return types.Long(unknown), nil
	}
	return nil, fmt.Errorf("bug: no attribute %s", name)
}

// count says how many objects of a plan come to be, cease to be, and become
// something that nobody knows beforehand.
func count(plan []corpus.Change) (creates, deletes, unknown int) {
	for _, c := range plan {
		switch {
		case !c.After.Known():
			unknown++
		case c.After == corpus.Absent:
			deletes++
		case c.Before == corpus.Absent:
			creates++
		}
	}
	return creates, deletes, unknown
}

var errNoTarget = errors.New("the question has no call")

// targetsOf are what a call acts on: its target, and for files every other object
// of its plan.
func targetsOf(q *approval.Question) ([]capability.Target, error) {
	t := q.Envelope.Target()
	if t.IsZero() {
		return nil, errNoTarget
	}
	out := []capability.Target{t}
	if t.Capability().Shape() != capability.PathShape {
		return out, nil
	}
	name, path, _ := t.Path()
	own := corpus.Name(name, path)
	for _, c := range q.Plan {
		if c.Object == own {
			continue
		}
		other, err := capability.Path(t.Capability(), c.Object.Corpus(), c.Object.Path())
		if err != nil {
			return nil, fmt.Errorf("the plan has an object that is no target: %w", err)
		}
		out = append(out, other)
	}
	return out, nil
}
