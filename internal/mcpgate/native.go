package mcpgate

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

// native is a tool of the runtime itself.
type native struct {
	order       int
	description string
	readOnly    bool
	properties  string // of its input schema, as JSON members
	required    string // names, comma separated
	run         func(ctx context.Context, u use) ([]byte, error)
}

// use is one use of a tool.
type use struct {
	g         *Gateway
	s         *session
	agent     serve.AgentSession
	arguments []byte
	who       *listener
}

const (
	pathProperty      = `"path":{"type":"string","description":"a/b in the corpus work, other:a/b in the corpus other; an absolute path below a corpus is taken too"}`
	reasonProperty    = `,"reasoning":{"type":"string","description":"why, in a sentence; shown to the person who is asked"}`
	irrevProperty     = `,"irreversible":{"type":"boolean","description":"ask for it as something that cannot be put back (fs.write.irrev): it is done as soon as it is allowed, and never staged"}`
	expectProperty    = `,"expect":{"type":"string","description":"the state that the file must have, as a call before told it"}`
	contentProperties = `,"content":{"type":"string"},"base64":{"type":"string","description":"in place of content, for what is not text"},"mode":{"type":"string","description":"four octal digits, for a new file"}`
	modeProperty      = `,"mode":{"type":"string","description":"four octal digits, such as 0755"}`
)

// nativeTools are all that are offered, by name.
func nativeTools(net bool) map[string]native {
	write := pathProperty + contentProperties + expectProperty + irrevProperty + reasonProperty
	list := []struct {
		name string
		native
	}{
		{"list_skills", native{description: "Lists the skills that can be used here. Begin with this.", readOnly: true, run: listSkills}},
		{"use_skill", native{description: "Makes a skill the active one and gives its instructions. Its manifest then says what is allowed. An empty name goes back to no skill.", properties: `"name":{"type":"string"}`, required: "name", run: useSkill}},
		{"read_skill_file", native{description: "Reads a file of a skill.", readOnly: true, properties: `"name":{"type":"string"},"path":{"type":"string"}`, required: "name,path", run: readSkillFile}},
		{"fs_read", fileTool("Reads a file.", capability.FSRead, "read", pathProperty+`,"offset":{"type":"integer","minimum":0,"description":"bytes"},"limit":{"type":"integer","minimum":0,"description":"bytes"}`+reasonProperty, "path")},
		{"fs_list", fileTool("Lists a directory; . is the root of the corpus.", capability.FSRead, "list", pathProperty+reasonProperty, "path")},
		{"fs_stat", fileTool("Tells kind, mode, size and state of a file or directory.", capability.FSRead, "stat", pathProperty+reasonProperty, "path")},
		{"fs_write", fileTool("Writes a whole file: at once where the skill may, else staged until end_round. The directory must be there.", capability.FSWriteRev, "write", write, "path")},
		{"fs_append", fileTool("Appends to a file: at once where the skill may, else staged until end_round.", capability.FSWriteRev, "append", write, "path")},
		{"fs_mkdir", fileTool("Makes a directory: at once where the skill may, else staged until end_round. Its parent must be there.", capability.FSWriteRev, "mkdir", pathProperty+modeProperty+irrevProperty+reasonProperty, "path")},
		{"fs_delete", fileTool("Deletes a file or directory, for good.", capability.FSWriteIrrev, "delete", pathProperty+`,"recursive":{"type":"boolean"}`+expectProperty+irrevProperty+reasonProperty, "path")},
		{"fs_rename", fileTool("Renames a file or directory within its corpus.", capability.FSWriteIrrev, "rename", pathProperty+`,"to":{"type":"string","description":"the new path"}`+expectProperty+irrevProperty+reasonProperty, "path,to")},
		{"fs_chmod", fileTool("Sets the permissions of a file or directory.", capability.FSWriteIrrev, "chmod", pathProperty+modeProperty+expectProperty+irrevProperty+reasonProperty, "path,mode")},
		{"net_fetch", native{description: "Makes an HTTP request.", properties: `"url":{"type":"string"},"method":{"type":"string","description":"GET if absent"},"headers":{"type":"object","additionalProperties":{"type":"string"}},"body":{"type":"string"},"bodyBase64":{"type":"string"}` + reasonProperty, required: "url", run: forCall(fetchCall)}},
		{"end_round", native{description: "Ends a round of work: asks for what is staged, commits what is approved, and tells how each staged call ended. Call it when a piece of work is complete.", run: endRound}},
	}
	out := map[string]native{}
	for i, t := range list {
		if t.name == "net_fetch" && !net {
			continue
		}
		t.order = i
		out[t.name] = t.native
	}
	return out
}

// forCall is a tool whose use is a call.
func forCall(make func(g *Gateway, arguments []byte) (gate.Call, error)) func(context.Context, use) ([]byte, error) {
	return func(ctx context.Context, u use) ([]byte, error) {
		c, err := make(u.g, u.arguments)
		if err != nil {
			return u.refuse(err)
		}
		return u.do(ctx, c, replyResult)
	}
}

// do has a call done and renders its reply.
func (u use) do(ctx context.Context, c gate.Call, render func(gate.Reply) ([]byte, error)) ([]byte, error) {
	out := u.s.call(ctx, u.agent, c, u.who)
	if out.pending {
		return pendingResult(out.reply.Request, "make exactly the same call again")
	}
	if out.reply.Status == gate.Refused {
		u.s.note(string(out.reply.Reason)) // the gate took no notice of it
	}
	return render(out.reply)
}

func fileTool(description string, class capability.Capability, op, properties, required string) native {
	return native{description: description, readOnly: class == capability.FSRead, properties: properties, required: required, run: forCall(func(g *Gateway, arguments []byte) (gate.Call, error) {
		return g.fileCall(class, op, arguments)
	})}
}

// fileForm are the arguments of all file tools; which of them an operation takes the host says.
type fileForm struct {
	Path         string  `json:"path"`
	To           *string `json:"to,omitempty"`
	Content      *string `json:"content,omitempty"`
	Base64       *string `json:"base64,omitempty"`
	Mode         *string `json:"mode,omitempty"`
	Expect       *string `json:"expect,omitempty"`
	Offset       *int64  `json:"offset,omitempty"`
	Limit        *int64  `json:"limit,omitempty"`
	Recursive    *bool   `json:"recursive,omitempty"`
	Irreversible bool    `json:"irreversible,omitempty"`
	Reasoning    string  `json:"reasoning,omitempty"`
}

// hostForm are the arguments as the host takes them.
type hostForm struct {
	Op        string  `json:"op"`
	To        *string `json:"to,omitempty"`
	Content   *string `json:"content,omitempty"`
	Base64    *string `json:"base64,omitempty"`
	Mode      *string `json:"mode,omitempty"`
	Expect    *string `json:"expect,omitempty"`
	Offset    *int64  `json:"offset,omitempty"`
	Limit     *int64  `json:"limit,omitempty"`
	Recursive *bool   `json:"recursive,omitempty"`
}

func (g *Gateway) fileCall(class capability.Capability, op string, arguments []byte) (gate.Call, error) {
	f, err := read[fileForm](arguments)
	if err != nil {
		return gate.Call{}, err
	}
	if f.To != nil {
		to := g.place(*f.To)
		f.To = &to
	}
	if f.Irreversible && class == capability.FSWriteRev {
		class = capability.FSWriteIrrev
	}
	target := g.place(f.Path)
	if op == "read" && (target == "." || strings.HasSuffix(target, ":.")) { // whatever anybody answers, it cannot be read
		return gate.Call{}, &gate.Refusal{Reason: gate.NotAFile, Detail: fmt.Sprintf("%q is a directory, the root of a corpus; fs_list lists it", f.Path)}
	}
	data, err := canonical.Marshal(hostForm{op, f.To, f.Content, f.Base64, f.Mode, f.Expect, f.Offset, f.Limit, f.Recursive})
	return gate.Call{Capability: class.String(), Target: target, Arguments: data, Reasoning: f.Reasoning}, err
}

// read reads the arguments of a native tool.
func read[T any](arguments []byte) (T, error) {
	var out T
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if err := canonical.Parse(arguments, &out, canonical.Limits{Bytes: maxFrame}); err != nil {
		return out, &gate.Refusal{Reason: gate.ArgumentsBad, Detail: err.Error() + "; see the tool's schema", Err: err}
	}
	return out, nil
}

var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`)

// place is the target that a path means: agents give absolute paths, and a dot before a relative one.
func (g *Gateway) place(path string) string {
	given, corpus, best := path, "", -1
	for _, r := range g.opts.Roots {
		if below, ok := strings.CutPrefix(path, r.Dir); ok && len(r.Dir) > best && (below == "" || below[0] == '/' || r.Dir == "/") {
			corpus, best = r.Corpus, len(r.Dir)
		}
	}
	if best >= 0 {
		path = strings.TrimLeft(path[best:], "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(strings.TrimPrefix(path, "./"), "/")
	}
	if path == "" && given != "" {
		path = "."
	}
	path = literal.Replace(path)
	first, _, _ := strings.Cut(path, "/")
	switch {
	case best < 0:
		return path
	case corpus == capability.DefaultCorpus && !strings.Contains(first, ":"):
		return path
	}
	return corpus + ":" + path
}

type fetchForm struct {
	URL        string            `json:"url"`
	Method     *string           `json:"method,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Body       *string           `json:"body,omitempty"`
	BodyBase64 *string           `json:"bodyBase64,omitempty"`
	Reasoning  string            `json:"reasoning,omitempty"`
}

func fetchCall(_ *Gateway, arguments []byte) (gate.Call, error) {
	f, err := read[fetchForm](arguments)
	if err != nil {
		return gate.Call{}, err
	}
	target, err := hostOf(f.URL)
	if err != nil {
		return gate.Call{}, err
	}
	c := gate.Call{Capability: capability.NetEgress.String(), Target: target, Reasoning: f.Reasoning}
	f.Reasoning = ""
	c.Arguments, err = canonical.Marshal(f)
	return c, err
}

// hostOf is the target of a request. The host for net.egress looks at the URL itself and refuses another target.
func hostOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", &gate.Refusal{Reason: gate.ArgumentsBad, Detail: "url is not an absolute http or https address; write it in full"}
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port == "" && u.Scheme == "http" {
		port = "80"
	}
	if port == "" || port == "443" {
		return host, nil
	}
	return fmt.Sprintf("%s:%s", host, port), nil
}
