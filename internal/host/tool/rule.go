package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

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

// widening are words in the name of an argument that may name an object.
var widening = []string{
	"path", "file", "filename", "dir", "directory", "folder", "source", "src", "destination", "dest", "dst", "target", "url", "uri",
	"root", "cwd", "to", "from", "into", "output", "input",
}

// narrow refuses arguments that could make the call reach for more than the
// mapping sees.
func (m *mapping) narrow(args []member) error {
	for _, a := range args {
		if m.named(a.name) {
			continue
		}
		if len(m.takes) > 0 && !slices.Contains(m.takes, a.name) {
			return bad("argument %q is not among those of this tool's mapping; leave it out", a.name)
		}
		if len(m.takes) == 0 && m.onPaths() && mayName(a.name) {
			return bad("argument %q may name another object, and the mapping of this tool does not say so; leave it out, or name it in the mapping by also", a.name)
		}
	}
	return nil
}

// mayName looks at the words of a name such as outputPath, output_path, outputpath.
func mayName(argument string) bool {
	var spaced strings.Builder
	before := ' '
	for _, r := range argument {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		if before = r; !unicode.IsLetter(r) {
			r = ' '
		}
		spaced.WriteRune(unicode.ToLower(r))
	}
	for word := range strings.FieldsSeq(spaced.String()) {
		one := strings.TrimSuffix(word, "s")
		joined := slices.ContainsFunc([]string{"path", "file", "dir", "folder", "url", "uri"}, func(end string) bool { return strings.HasSuffix(one, end) })
		if slices.Contains(widening, word) || slices.Contains(widening, one) || word == "directories" || joined && one != "profile" {
			return true
		}
	}
	return false
}

// maxName bounds the name of a tool as it is offered, prefix included.
const maxName = 128

func isToolName(name string) bool {
	return name != "" && len(name) <= maxName && strings.Trim(name, wordBytes+".") == ""
}
