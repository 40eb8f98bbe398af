package mcpgate

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

const instructions = `iff stands between you and the files, the network and the tools of this project: use its tools for all of them.
- Call list_skills first. If a skill fits the task call use_skill, and follow what it says; read its other files with read_skill_file.
- "staged" means that it waits, and only you see it, until end_round. Call end_round whenever a piece of work is complete.
- "denied" and "refused" are answers: nothing happened. Read the reason, stay within what is allowed, and do not ask for the same again.
- "pending" means that a person is being asked: go on with something else, or make exactly the same call again to hear the answer.
- Say why in "reasoning" where a tool takes it: the person who is asked reads it.
- Paths are relative to the project; other:a/b is in the corpus other.
`

type skillsForm struct {
	Skills []serve.SkillListing `json:"skills"`
}

func listSkills(ctx context.Context, u use) ([]byte, error) {
	if _, err := read[struct{}](u.arguments); err != nil {
		return u.refuse(err)
	}
	skills, err := u.agent.Skills(ctx)
	if err != nil {
		return u.refuse(err)
	}
	var out strings.Builder
	for _, k := range skills {
		fmt.Fprintf(&out, "%s  %s, version %d, vouched for by %s", visible.Escape(k.Name), k.Level, k.Version, visible.Escape(k.Signer))
		if k.Summary != "" {
			fmt.Fprintf(&out, ": %s", visible.Escape(k.Summary))
		}
		out.WriteString("\n")
	}
	if len(skills) == 0 {
		out.WriteString("no skills are loaded; the base manifest says what is allowed\n")
	}
	return toolResult(out.String(), skillsForm{append([]serve.SkillListing{}, skills...)}, false)
}

func useSkill(ctx context.Context, u use) ([]byte, error) {
	p, err := read[struct {
		Name string `json:"name"`
	}](u.arguments)
	if err != nil {
		return u.refuse(err)
	}
	k, err := u.agent.Use(ctx, p.Name)
	if err != nil {
		return u.refuse(err)
	}
	if p.Name == "" {
		return toolResult("no skill is active; the base manifest says what is allowed, and the session's level stays what it was", k, false)
	}
	text := k.Content
	if len(k.Files) > 1 {
		text += "\n\nFiles of this skill, for read_skill_file:\n"
		for _, f := range k.Files {
			text += fmt.Sprintf("%s  %d bytes\n", visible.Escape(f.Path), f.Size)
		}
	}
	return toolResult(text, k, false)
}

type fileContent struct {
	Content *string `json:"content,omitempty"`
	Base64  *string `json:"base64,omitempty"`
}

func readSkillFile(ctx context.Context, u use) ([]byte, error) {
	p, err := read[struct {
		Name string `json:"name"`
		Path string `json:"path"`
	}](u.arguments)
	if err != nil {
		return u.refuse(err)
	}
	data, err := u.agent.ReadSkill(ctx, p.Name, p.Path)
	if err != nil {
		return u.refuse(err)
	}
	if len(data) > mostResult {
		return faultResult(&serve.Fault{Reason: string(serve.ResultTooLarge), Message: fmt.Sprintf("the file has %d bytes; at most %d are sent", len(data), mostResult)})
	}
	text := string(data)
	if utf8.Valid(data) {
		return toolResult(text, fileContent{Content: &text}, false)
	}
	text = base64.StdEncoding.EncodeToString(data)
	return toolResult(text, fileContent{Base64: &text}, false)
}

// skillScheme begins the address of a file of a skill: iff-skill://NAME/PATH, the path escaped as in RFC 3986.
const skillScheme = "iff-skill://"

type resourceForm struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

type templateForm struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// listResources lists the SKILL.md of each skill, and what upstream servers have.
func (g *Gateway) listResources(ctx context.Context, req mcp.Request) ([]byte, error) {
	_, agent, err := g.sessionOf(ctx, req)
	if err != nil {
		return nil, err
	}
	skills, err := agent.Skills(ctx)
	if err != nil {
		return nil, err
	}
	own := []any{}
	for _, k := range skills {
		own = append(own, resourceForm{URI: skillScheme + k.Name + "/SKILL.md", Name: k.Name, Description: k.Summary, MIMEType: "text/markdown"})
	}
	return g.listOf(ctx, "resources/list", "resources", own)
}

func (g *Gateway) listTemplates(ctx context.Context) ([]byte, error) {
	own := []any{templateForm{skillScheme + "{name}/{+path}", "skill files", "a file of a skill"}}
	return g.listOf(ctx, "resources/templates/list", "resourceTemplates", own)
}

type contentsForm struct {
	Contents   []resourceContent `json:"contents"`
	TTL        int               `json:"ttlMs"`
	CacheScope string            `json:"cacheScope"`
}

type resourceContent struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     *string `json:"blob,omitempty"`
}

// readResource reads a file of a skill, which counts as delivered, or has an upstream's resource read.
func (g *Gateway) readResource(ctx context.Context, req mcp.Request) ([]byte, error) {
	r, ok := req.(*mcp.ServerRequest[*mcp.ReadResourceParams])
	if !ok {
		return nil, noResource("")
	}
	rest, ours := strings.CutPrefix(r.Params.URI, skillScheme)
	if !ours {
		return g.readUpstream(ctx, "resources/read", req)
	}
	s, agent, err := g.sessionOf(ctx, req)
	if err != nil {
		return nil, err
	}
	s.enter()
	defer s.leave(false)
	name, path, found := strings.Cut(rest, "/")
	path, err = url.PathUnescape(path)
	if !found || err != nil {
		return nil, noResource(r.Params.URI)
	}
	data, err := agent.ReadSkill(ctx, name, path)
	if f := serve.FaultOf(err); err != nil && (f.Reason == string(gate.NotFound) || f.Reason == string(gate.SkillUnknown)) {
		return nil, noResource(r.Params.URI)
	} else if err != nil {
		return nil, err
	}
	content := resourceContent{URI: r.Params.URI}
	text := string(data)
	if utf8.Valid(data) {
		content.Text = &text
		if strings.HasSuffix(path, ".md") {
			content.MIMEType = "text/markdown"
		}
	} else {
		text = base64.StdEncoding.EncodeToString(data)
		content.Blob = &text
	}
	return canonical.Marshal(contentsForm{Contents: []resourceContent{content}, CacheScope: private})
}

// private says that what one agent was told is for nobody else.
const private = "private"

func noResource(uri string) error {
	e := &jsonrpc.Error{Code: mcp.CodeResourceNotFound, Message: "there is no resource " + visible.Truncate(visible.Escape(uri), 128)}
	if data, err := canonical.Marshal(faultData{Reason: string(ResourceUnknown), Remedy: "see resources/list"}); err == nil {
		e.Data = data
	}
	return e
}
