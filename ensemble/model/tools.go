package model

import (
	"slices"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
)

// arguments are those of all tools; which of them a tool takes, [tool] says.
type arguments struct {
	Path      *string `json:"path,omitempty"`
	To        *string `json:"to,omitempty"`
	Content   *string `json:"content,omitempty"`
	Recursive *bool   `json:"recursive,omitempty"`
}

// tool is one that is offered, and what a call of it is for the gate.
type tool struct {
	name, about string
	op          string
	write       bool
	required    []string
	optional    []string
}

var tools = []tool{
	{name: "read_file", about: "Read a file.", op: "read", required: []string{"path"}},
	{name: "list_files", about: "List what is in a folder; without a path, in the top folder.", op: "list", required: []string{}, optional: []string{"path"}},
	{name: "write_file", about: "Write a file, in place of what is there.", op: "write", write: true, required: []string{"path", "content"}},
	{name: "append_file", about: "Write at the end of a file.", op: "append", write: true, required: []string{"path", "content"}},
	{name: "delete_file", about: "Delete a file, or a folder; recursive: with all that is in it.", op: "delete", write: true, required: []string{"path"}, optional: []string{"recursive"}},
	{name: "rename_file", about: "Give a file or folder another name, or move it.", op: "rename", write: true, required: []string{"path", "to"}},
	{name: "make_directory", about: "Make a folder.", op: "mkdir", write: true, required: []string{"path"}},
}

var parameters = map[string]property{
	"path":      {"string", "Name of the file or folder, as in the list: relative to the top folder, / between folders"},
	"to":        {"string", "The new name, relative to the top folder"},
	"content":   {"string", "The text"},
	"recursive": {"boolean", "With all that is in the folder"},
}

// schema is what a tool takes, in JSON Schema.
type schema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
	Additional bool                `json:"additionalProperties"`
}

type property struct {
	Type        string `json:"type"`
	Description string `json:"description"`
}

func (t tool) schema() schema {
	s := schema{Type: "object", Properties: map[string]property{}, Required: t.required}
	for _, names := range [][]string{t.required, t.optional} {
		for _, name := range names {
			s.Properties[name] = parameters[name]
		}
	}
	return s
}

// asked is a call of a tool that was understood.
type asked struct {
	tool tool
	args arguments
}

// understand reads a call of a tool: its arguments are one JSON object, strict.
func understand(name string, args []byte) (asked, error) {
	for _, t := range tools {
		if t.name != name {
			continue
		}
		a := asked{tool: t}
		if err := canonical.Parse(args, &a.args, canonical.Limits{Bytes: maxAnswer}); err != nil {
			return asked{}, fault(ArgumentsBad, "the arguments of "+t.name, err)
		}
		return a, a.fits()
	}
	return asked{}, refuse(ToolUnknown, nil, "there is no tool of that name")
}

// fits refuses arguments that are missing, or another tool's.
func (a asked) fits() error {
	for _, one := range []struct {
		name  string
		given bool
	}{
		{"path", a.args.Path != nil}, {"to", a.args.To != nil}, {"content", a.args.Content != nil}, {"recursive", a.args.Recursive != nil},
	} {
		required := slices.Contains(a.tool.required, one.name)
		if required && !one.given {
			return refuse(ArgumentsBad, nil, "%s needs %s", a.tool.name, one.name)
		}
		if one.given && !required && !slices.Contains(a.tool.optional, one.name) {
			return refuse(ArgumentsBad, nil, "%s takes no %s", a.tool.name, one.name)
		}
	}
	return nil
}

// call is what the gate is asked for. The path is the target as it is: whether it
// is one, and whether it lies outside, is the gate's business.
func (a asked) call() (gate.Call, error) {
	form, err := canonical.Marshal(struct {
		Op        string  `json:"op"`
		To        *string `json:"to,omitempty"`
		Content   *string `json:"content,omitempty"`
		Recursive bool    `json:"recursive,omitzero"`
	}{a.tool.op, a.args.To, a.args.Content, a.args.Recursive != nil && *a.args.Recursive})
	if err != nil {
		return gate.Call{}, err
	}
	c := gate.Call{Capability: "fs.read", Target: ".", Arguments: form}
	if a.tool.write {
		c.Capability = "fs.write.irrev"
	}
	if a.args.Path != nil {
		c.Target = *a.args.Path
	}
	return c, nil
}
