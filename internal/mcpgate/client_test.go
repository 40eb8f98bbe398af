package mcpgate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func textOfResult(r *mcp.CallToolResult) string {
	if len(r.Content) == 0 {
		return ""
	}
	t, _ := r.Content[0].(*mcp.TextContent)
	if t == nil {
		return ""
	}
	return t.Text
}

func callTool(t testing.TB, s *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	must(t, err)
	return r
}

func TestClientOfTheSDK(t *testing.T) {
	r := newRig(t, nil)
	s := r.client(t, nil)
	if got := s.InitializeResult(); got != nil && !strings.Contains(got.Instructions, "list_skills") {
		t.Errorf("instructions %q", got.Instructions)
	}
	var names []string
	for _, tool := range unwrap(s.ListTools(t.Context(), nil))(t).Tools {
		names = append(names, tool.Name)
	}
	want := strings.Fields("list_skills use_skill read_skill_file fs_read fs_list fs_stat fs_write fs_append fs_mkdir fs_delete fs_rename fs_chmod net_fetch end_round ping")
	if !slices.Equal(names, want) {
		t.Errorf("tools %v", names)
	}
	if got := callTool(t, s, "fs_read", map[string]any{"path": "/home/me/project/docs/a*b", "reasoning": "look"}); textOfResult(got) != "hello\n" || got.IsError {
		t.Errorf("fs_read gives %q", textOfResult(got))
	}
	if c := r.player(t, 0).calls[0]; c.Target != `docs:a\*b` || c.Capability != "fs.read" || string(c.Arguments) != `{"op":"read"}` || c.Reasoning != "look" {
		t.Errorf("the call is %+v", c)
	}
	if got := callTool(t, s, "fs_list", map[string]any{"path": "."}); textOfResult(got) != "file  a.txt\ndirectory  b\n" {
		t.Errorf("fs_list gives %q", textOfResult(got))
	}
	if got := callTool(t, s, "fs_read", map[string]any{"path": "deny"}); !got.IsError || !strings.Contains(textOfResult(got), "undeclared") {
		t.Errorf("a denial gives %q", textOfResult(got))
	}
	if got := callTool(t, s, "fs_read", map[string]any{"paht": "a"}); !got.IsError || !strings.Contains(textOfResult(got), "arguments-invalid") {
		t.Errorf("a wrong argument gives %q", textOfResult(got))
	}
	if got := callTool(t, s, "fs_write", map[string]any{"path": "a", "content": "b"}); got.IsError || !strings.HasPrefix(textOfResult(got), "staged") {
		t.Errorf("fs_write gives %q", textOfResult(got))
	}
	if got := callTool(t, s, "end_round", nil); got.IsError || !strings.Contains(textOfResult(got), "absent") {
		t.Errorf("end_round gives %q", textOfResult(got))
	}
	if got := callTool(t, s, "ping", map[string]any{"n": 1.5}); textOfResult(got) != "pong" {
		t.Errorf("ping gives %q", textOfResult(got))
	}
	if got := callTool(t, s, "gone", nil); !got.IsError || !strings.Contains(textOfResult(got), "tool-changed") {
		t.Errorf("gone gives %q", textOfResult(got))
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "nothing"}); err == nil || !strings.Contains(err.Error(), "no tool nothing") {
		t.Errorf("an unknown tool gives %v", err)
	}
	if p := r.player(t, 0); p.name != "tester 1" || p.principal != "uid-1000" {
		t.Errorf("opened as %s by %s", p.name, p.principal)
	}
}

func TestSkills(t *testing.T) {
	r := newRig(t, nil)
	s := r.client(t, nil)
	got := textOfResult(callTool(t, s, "list_skills", nil))
	if !strings.Contains(got, "Writes invoices.") || !strings.Contains(got, "notes  unverified, version 1, vouched for by adopter\n") {
		t.Errorf("list_skills gives %q", got)
	}
	if got := textOfResult(callTool(t, s, "use_skill", map[string]any{"name": "invoices"})); !strings.HasPrefix(got, "Begin.") || !strings.Contains(got, "logo.png") {
		t.Errorf("use_skill gives %q", got)
	}
	if got := callTool(t, s, "use_skill", map[string]any{"name": "other"}); !got.IsError || !strings.Contains(textOfResult(got), "skill-unknown") {
		t.Errorf("use_skill gives %q", textOfResult(got))
	}
	if got := textOfResult(callTool(t, s, "read_skill_file", map[string]any{"name": "invoices", "path": "logo.png"})); got != "iVBORw==" {
		t.Errorf("read_skill_file gives %q", got)
	}
	list := unwrap(s.ListResources(t.Context(), nil))(t)
	if len(list.Resources) != 2 || list.Resources[0].URI != "iff-skill://invoices/SKILL.md" || list.Resources[1].Description != "" {
		t.Errorf("resources %+v", list.Resources)
	}
	if list := unwrap(s.ListResourceTemplates(t.Context(), nil))(t); len(list.ResourceTemplates) != 1 {
		t.Errorf("templates %+v", list.ResourceTemplates)
	}
	read := unwrap(s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "iff-skill://invoices/logo.png"}))(t)
	if string(read.Contents[0].Blob) != "\x89PNG" {
		t.Errorf("read %+v", read.Contents[0])
	}
	for _, uri := range []string{"iff-skill://invoices/none", "iff-skill://invoices", "file:///etc/passwd"} {
		if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is read", uri)
		}
	}
	p := r.player(t, 0)
	if got := see(p, func() []string { return p.read }); !slices.Equal(got, []string{"invoices/logo.png", "invoices/logo.png"}) {
		t.Errorf("delivered %v", got)
	}
}

func TestListsThatChange(t *testing.T) {
	r := newRig(t, nil)
	told := make(chan struct{}, 1)
	s := r.client(t, &mcp.ClientOptions{ToolListChangedHandler: func(_ context.Context, _ *mcp.ToolListChangedRequest) {
		select {
		case told <- struct{}{}:
		default:
		}
	}})
	callTool(t, s, "list_skills", nil)
	r.tool.changed()
	<-told
}
