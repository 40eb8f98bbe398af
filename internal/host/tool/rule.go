package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/label"
)

// Rule says what one tool of a server is, as the configuration writes it. Target,
// Also, Reads and the values of Plan are templates.
type Rule struct {
	Name       string
	Capability string            // a token of the vocabulary; empty is tool.invoke
	Target     string            // of tool.invoke empty: it is always server/tool
	Also       []string          // what else it changes
	Reads      []string          // what else it tells of
	Reach      gate.Reach        // fs.read is exact, fs.write.irrev at least bounded; empty is bounded with Also, else opaque
	Op         string            // the native operation that it is like; empty is read or write
	Plan       map[string]string // of an exact tool that writes: the native call that it equals
	Takes      []string          // the only arguments that it may be given; none is any, see the package
	Label      label.Label       // of what it reaches outside; absent is that of the server
}

// mapping is a rule that was read.
type mapping struct {
	name   string
	class  capability.Capability
	target template
	also   []template
	reads  []template
	reach  gate.Reach
	op     string
	plan   map[string]template
	takes  []string
	label  label.Label
}

// The operations of the host for files that a mapping may name.
var (
	readOps  = []string{"read", "list", "stat"}
	writeOps = []string{"write", "append", "mkdir", "delete", "rename", "chmod"}
)

// compile reads a rule.
func (r Rule) compile() (*mapping, error) {
	m := &mapping{name: r.Name, reach: r.Reach, op: r.Op, takes: r.Takes, label: r.Label, plan: map[string]template{}}
	token := r.Capability
	if token == "" {
		token = capability.ToolInvoke.String()
	}
	var err error
	if m.class, err = capability.Parse(token); err != nil {
		return nil, fmt.Errorf("tool %s: capability: %w", r.Name, err)
	}
	if err := m.templates(r); err != nil {
		return nil, fmt.Errorf("tool %s: %w", r.Name, err)
	}
	m.defaults()
	if err := m.check(r); err != nil {
		return nil, fmt.Errorf("tool %s: %w", r.Name, err)
	}
	if err := m.checkText(); err != nil {
		return nil, fmt.Errorf("tool %s: %w", r.Name, err)
	}
	return m, nil
}

func (m *mapping) templates(r Rule) (err error) {
	if m.target, err = parseTemplate(r.Target); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for _, list := range []struct {
		from []string
		to   *[]template
	}{{r.Also, &m.also}, {r.Reads, &m.reads}} {
		for _, source := range list.from {
			t, err := parseTemplate(source)
			if err != nil {
				return fmt.Errorf("also: %w", err)
			}
			*list.to = append(*list.to, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Plan)) {
		if m.plan[name], err = parseTemplate(r.Plan[name]); err != nil {
			return fmt.Errorf("plan: %s: %w", name, err)
		}
	}
	return nil
}

// onPaths says whether the target is a file.
func (m *mapping) onPaths() bool { return m.class.Shape() == capability.PathShape }

func (m *mapping) defaults() {
	switch {
	case m.class == capability.FSRead:
		m.reach = gate.Exact
	case m.class == capability.FSWriteIrrev && (m.reach == "" || m.reach == gate.Opaque):
		m.reach = gate.Bounded // its target says what it changes
	case m.reach == "" && len(m.also) > 0:
		m.reach = gate.Bounded
	case m.reach == "":
		m.reach = gate.Opaque
	}
	if op, ok := m.plan["op"]; ok && len(op.words) == 0 {
		m.op = op.String()
	}
	switch {
	case m.op != "":
	case m.class == capability.FSRead:
		m.op = "read"
	default:
		m.op = "write"
	}
}

// check refuses what cannot be carried out as it says.
func (m *mapping) check(r Rule) error {
	ops := writeOps
	if m.class == capability.FSRead {
		ops = readOps
	}
	switch {
	case !isToolName(r.Name):
		return fmt.Errorf("%q is no name of a tool; use 1 to %d of A-Z a-z 0-9 _ . and -", r.Name, maxName)
	case m.class == capability.FSWriteRev:
		return errors.New("fs.write.rev is taken back when a session ends, which another server cannot; write fs.write.irrev")
	case m.class == capability.ToolInvoke && r.Target != "":
		return errors.New("the target of tool.invoke is always the server and the tool; leave it out")
	case m.class != capability.ToolInvoke && r.Target == "":
		return errors.New("target: it is missing; write what the tool does something to, such as {path}")
	case m.reach != gate.Exact && m.reach != gate.Bounded && m.reach != gate.Opaque:
		return fmt.Errorf("reach %q; write exact, bounded or opaque", m.reach)
	case m.reach == gate.Exact && m.class == capability.FSWriteIrrev && len(r.Plan) == 0:
		return errors.New("exact without a plan; write the native call that it equals, such as { op = \"write\", content = \"{content}\" }")
	case m.reach == gate.Exact && !m.onPaths():
		return errors.New("exact is for fs.read and fs.write.irrev; write bounded or opaque")
	case m.reach == gate.Bounded && !m.onPaths() && len(m.also) == 0:
		return errors.New("bounded names what it changes by also; name it, or write opaque")
	case m.reach == gate.Opaque && len(m.also) > 0:
		return errors.New("opaque changes nothing that is observed, and also names something; write bounded")
	case m.class == capability.FSRead && len(m.also) > 0:
		return errors.New("fs.read changes nothing, and also names something; leave it out")
	case m.reach != gate.Exact && len(r.Plan) > 0:
		return errors.New("only what is exact has a plan; leave it out, or write reach = \"exact\"")
	case !slices.Contains(ops, m.op):
		return fmt.Errorf("op %q is none of %s", m.op, strings.Join(ops, ", "))
	}
	return nil
}

// checkRoots refuses absolute paths, the same for every call, that are in no corpus.
func (m *mapping) checkRoots(p places) error {
	for _, t := range m.texts() {
		if source := t.String(); len(t.words) == 0 && strings.HasPrefix(source, "/") {
			if _, err := written(capability.FSRead, p, source); err != nil {
				return fmt.Errorf("tool %s: %w", m.name, err)
			}
		}
	}
	return nil
}

// texts are the templates that name objects.
func (m *mapping) texts() []template {
	list := slices.Concat(m.also, m.reads)
	if m.onPaths() {
		list = append(list, m.target)
	}
	return list
}

// checkText refuses templates that are the same for every call and that no call
// could have, and what a plan must not leave to the agent.
func (m *mapping) checkText() error {
	for _, name := range []string{"op", "recursive"} {
		if len(m.plan[name].words) > 0 {
			return fmt.Errorf("plan: %s: %q leaves it to the agent; write it in full", name, m.plan[name])
		}
	}
	if !m.onPaths() && m.class != capability.ToolInvoke && len(m.target.words) == 0 {
		if _, err := m.single("", nil); err != nil {
			return fmt.Errorf("target: %w", err)
		}
	}
	for _, t := range m.texts() {
		source := t.String()
		if strings.HasPrefix(source, "~") {
			return fmt.Errorf("%q begins with ~, which means nothing here; write the path from the root, or the object as grants name it", source)
		}
		if len(t.words) > 0 || strings.HasPrefix(source, "/") {
			continue
		}
		if _, err := written(capability.FSRead, nil, source); err != nil {
			return fmt.Errorf("%q: %w; write the object as grants name it, such as notes/todo.md, or an absolute path", source, err)
		}
	}
	return nil
}

// named says whether the mapping reads an argument.
func (m *mapping) named(argument string) bool {
	lists := [][]template{{m.target}, m.also, m.reads, slices.Collect(maps.Values(m.plan))}
	for _, list := range lists {
		for _, t := range list {
			if slices.Contains(t.words, argument) {
				return true
			}
		}
	}
	return false
}

// narrow refuses arguments that could make the call reach for more than the
// mapping sees: a tool with a target is given beside what is in its templates only
// what takes lists, numbers and booleans. A text may name an object whatever it and
// its argument are called, and so may a member of an object.
func (m *mapping) narrow(args []member) error {
	for _, a := range args {
		if m.named(a.name) || slices.Contains(m.takes, a.name) {
			continue
		}
		if len(m.takes) > 0 {
			return bad("argument %q is not among those of this tool's mapping; leave it out", a.name)
		}
		if m.class == capability.ToolInvoke {
			continue // its target is the tool, whatever it is given
		}
		if at := speaks(a.name, a.value); at != "" {
			return bad("argument %q may name another object, and the mapping of this tool does not say so; leave it out, or have the mapping list it by takes if it names none, by also if it does", at)
		}
	}
	return nil
}

// speaks is where in an argument a text or an object stands, at any depth; empty
// if there are only numbers, booleans and null, or nothing.
func speaks(at, value string) string {
	switch {
	case value == "":
		return at
	case value[0] == '[':
		for i, e := range elements(value) {
			if found := speaks(fmt.Sprintf("%s[%d]", at, i), e); found != "" {
				return found
			}
		}
		return ""
	case value[0] == '"', value[0] == '{' && value != "{}":
		return at
	}
	return ""
}

// maxName bounds the name of a tool as it is offered, prefix included.
const maxName = 128

func isToolName(name string) bool {
	return name != "" && len(name) <= maxName && strings.Trim(name, wordBytes+".") == ""
}
