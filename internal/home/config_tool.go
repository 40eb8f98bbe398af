package home

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/label"
)

const (
	maxTools    = 256 // of one upstream
	maxToolName = 128
	maxAlso     = 16
)

// How much of what a tool changes iff knows before it is called.
const (
	ReachExact   = "exact"   // every object, with its state afterwards
	ReachBounded = "bounded" // every object
	ReachOpaque  = "opaque"  // nothing
)

// ToolConfig is [[upstream.NAME.tool]] of iff.toml: what a call of a tool is.
type ToolConfig struct {
	Name       string
	Capability string            // a token of the vocabulary; default tool.invoke
	Target     string            // a template, in which {word} is an argument of the call; empty for tool.invoke
	Also       []string          // what else it changes; templates
	Reads      []string          // what else it tells of; templates
	Takes      []string          // the only arguments that it may be given beside those in templates; none: any
	Op         string            // the native operation that it is like; empty: read or write
	Reach      string            // exact, bounded or opaque; default by what its capability and also say
	Plan       map[string]string // with exact: the native call that it equals; templates
	Label      label.Label       // the upstream's where the entry has none

	text located
}

// toolTable is [[upstream.NAME.tool]] as it is written.
type toolTable struct {
	Name       string            `toml:"name" form:"tool" need:"yes" doc:"as the server calls it"`
	Capability string            `toml:"capability" form:"capability" doc:"what a call of it is; tool.invoke if nothing is said"`
	Target     string            `toml:"target" form:"template" doc:"what it is done to; {word} is an argument of the call"`
	Also       []string          `toml:"also" form:"template" most:"16" doc:"what else it changes"`
	Reads      []string          `toml:"reads" form:"template" most:"16" doc:"what else it tells of"`
	Takes      []string          `toml:"takes" form:"word" most:"64" doc:"the only arguments that it may be given beside those in templates; any if nothing is said"`
	Op         string            `toml:"op" form:"op" doc:"the native operation that it is like; read or write if nothing is said"`
	Reach      string            `toml:"reach" form:"reach" doc:"how much of what it changes is known before"`
	Plan       map[string]string `toml:"plan" form:"template" most:"16" doc:"with exact: the native call that it equals"`
	Label      string            `toml:"label" form:"label" doc:"the upstream's if nothing is said"`
}

func (s settings) tools(table string, entries []toolTable) ([]ToolConfig, error) {
	if n := len(entries); n > maxTools {
		return nil, s.wrong(table, 0, "tool", fmt.Sprintf("%d entries, at most %d", n, maxTools))
	}
	var out []ToolConfig
	for i, t := range entries {
		tool := ToolConfig{Name: t.Name, Capability: t.Capability, Target: t.Target, Also: t.Also, Reads: t.Reads, Takes: t.Takes, Op: t.Op, Reach: t.Reach, Plan: t.Plan}
		if t.Label != "" {
			tool.text = s.at(table+".tool", i, "label", t.Label)
		}
		if key, err := tool.complete(); err != nil {
			return nil, s.wrong(table+".tool", i, key, err.Error())
		}
		if slices.ContainsFunc(out, func(o ToolConfig) bool { return o.Name == t.Name }) {
			return nil, s.wrong(table+".tool", i, "name", quoted(t.Name)+" stands there twice; leave one out")
		}
		out = append(out, tool)
	}
	return out, nil
}

// complete sets the defaults and says which key is wrong.
func (t *ToolConfig) complete() (key string, err error) {
	if t.Name == "" || len(t.Name) > maxToolName || strings.Trim(t.Name, letters+digits+"_.-") != "" {
		return "name", fmt.Errorf("%s is no name of a tool; use 1 to %d of letters, digits, _ . and -", quoted(t.Name), maxToolName)
	}
	if t.Capability == "" {
		t.Capability = capability.ToolInvoke.String()
	}
	class, err := capability.Parse(t.Capability)
	switch {
	case err != nil:
		return "capability", err
	case class == capability.FSWriteRev:
		return "capability", errors.New("fs.write.rev is taken back when a session ends, which iff cannot do for another server; write \"fs.write.irrev\"")
	case class == capability.ToolInvoke && t.Target != "":
		return "target", errors.New("that of tool.invoke is always the server and the tool; leave it out, or write the capability that it is")
	case class != capability.ToolInvoke && t.Target == "":
		return "target", errors.New("it is missing; write what the tool does something to, such as \"{path}\"")
	}
	for _, check := range []struct {
		key string
		err error
	}{
		{"target", checkTemplate(t.Target)}, {"also", checkTemplates(t.Also)}, {"reads", checkTemplates(t.Reads)}, {"op", checkOp(t.Op, class)}, {"takes", checkTakes(t.Takes)},
	} {
		if check.err != nil {
			return check.key, check.err
		}
	}
	return t.reach(class)
}

func checkTemplates(texts []string) error {
	if len(texts) > maxAlso {
		return fmt.Errorf("%d entries, at most %d", len(texts), maxAlso)
	}
	for _, text := range texts {
		if text == "" {
			return errors.New("an entry is empty; leave it out")
		}
		if err := checkTemplate(text); err != nil {
			return err
		}
	}
	return nil
}

func checkTakes(names []string) error {
	if n := len(names); n > maxWords {
		return fmt.Errorf("%d names, at most %d", n, maxWords)
	}
	return nil
}

// readings and changes are the native operations on files.
func readings() []string { return []string{"list", "read", "stat"} }
func changes() []string  { return []string{"append", "chmod", "delete", "mkdir", "rename", "write"} }

func checkOp(op string, class capability.Capability) error {
	known := changes()
	if class == capability.FSRead {
		known = readings()
	}
	if op == "" || slices.Contains(known, op) {
		return nil
	}
	return fmt.Errorf("%s is no operation of %s%s; there are %s", quoted(op), class, meant(op, known), strings.Join(known, ", "))
}

// reach checks how much is known, and by what.
func (t *ToolConfig) reach(class capability.Capability) (key string, err error) {
	onPaths := class.Shape() == capability.PathShape
	t.Reach = t.atLeast(class)
	switch {
	case !slices.Contains([]string{ReachExact, ReachBounded, ReachOpaque}, t.Reach):
		return "reach", fmt.Errorf(`%s; write "exact", "bounded" or "opaque"`, quoted(t.Reach))
	case class == capability.FSRead && len(t.Also) > 0:
		return "also", errors.New("fs.read changes nothing; write reads")
	case t.Reach == ReachOpaque && len(t.Also) > 0:
		return "also", errors.New("of what is opaque nothing is observed; leave it out, or write reach = \"bounded\"")
	case t.Reach == ReachExact && !onPaths:
		return "reach", fmt.Errorf("exact is for fs.read and fs.write.irrev; what %s changes is not known before", t.Capability)
	case t.Reach == ReachExact && class != capability.FSRead && len(t.Plan) == 0:
		return "plan", errors.New("it is missing; write the native call that the tool equals, such as { op = \"write\", content = \"{content}\" }")
	case t.Reach == ReachBounded && !onPaths && len(t.Also) == 0:
		return "reach", errors.New("bounded needs paths; name them by also, or write \"opaque\"")
	case t.Reach != ReachExact && len(t.Plan) > 0:
		return "plan", errors.New("only what is exact has one; leave it out, or write reach = \"exact\"")
	case len(t.Plan) > maxAlso:
		return "plan", fmt.Errorf("%d members, at most %d", len(t.Plan), maxAlso)
	}
	for name, text := range t.Plan {
		if err := checkTemplate(text); err != nil {
			return "plan", fmt.Errorf("%s: %w", visible.Escape(name), err)
		}
	}
	return "", nil
}

// atLeast is what is known before at the least: what is read changes nothing, and
// the target of a write says what it changes.
func (t *ToolConfig) atLeast(class capability.Capability) string {
	unsaid := t.Reach == "" || t.Reach == ReachOpaque
	switch {
	case class == capability.FSRead && (unsaid || t.Reach == ReachBounded):
		return ReachExact
	case unsaid && class == capability.FSWriteIrrev, t.Reach == "" && len(t.Also) > 0:
		return ReachBounded
	case t.Reach == "":
		return ReachOpaque
	}
	return t.Reach
}

// checkTemplate takes text with {word} in it. A brace stands for nothing else.
func checkTemplate(text string) error {
	for rest := text; ; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			return nil
		}
		word, after, ok := strings.Cut(rest[at+1:], "}")
		if rest[at] == '}' || !ok || word == "" || strings.Trim(word, letters+digits+"_-") != "" {
			return fmt.Errorf("%s: write {word} for the argument that is called word, of letters, digits, _ and -; braces are for nothing else", quoted(text))
		}
		rest = after
	}
}
