package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// inspect runs the MCP inspector against iff mcp, one request for each run.
func (w *world) inspect(method string, args ...string) document {
	w.t.Helper()
	words := append([]string{"mcp-inspector", "--cli", built.iff, "mcp", "--method", method}, args...)
	r := w.run(30*time.Second, words...)
	if r.err != nil {
		w.t.Fatalf("%v: %v\n%s", words, r.err, r.tail())
	}
	return parse(w.t, r.stdout)
}

// call is the result of a tool: its text, and whether it is an error.
func (w *world) inspectCall(tool string, args ...string) (text string, isError bool) {
	w.t.Helper()
	words := []string{"--tool-name", tool}
	for _, a := range args {
		words = append(words, "--tool-arg", a)
	}
	out := w.inspect("tools/call", words...)
	return strings.Join(out.at("content").texts("text"), "\n"), out.at("isError").raw.String() == "true"
}

func TestInspector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("project/notes.txt", "the notes\n")
	w.put("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets.\n---\nSay hello in hello.txt.\n")
	w.init()
	w.iff("skill", "adopt", w.dir+"/skills/greet")

	names := w.inspect("tools/list").at("tools").texts("name")
	for _, want := range []string{"list_skills", "use_skill", "read_skill_file", "fs_read", "fs_write", "fs_delete", "end_round"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among the tools: %v", want, names)
		}
	}
	if text, bad := w.inspectCall("fs_read", "path=notes.txt"); bad || text != "the notes\n" {
		t.Errorf("fs_read gives %q, error %v", text, bad)
	}
	if text, bad := w.inspectCall("fs_write", "path=new.txt", "content=new"); bad {
		t.Errorf("fs_write: %s", text)
	}
	if got, _ := w.get("project/new.txt"); got != "new" {
		t.Errorf("new.txt holds %q", got)
	}
	if text, bad := w.inspectCall("fs_read", "path=/etc/passwd"); !bad || strings.Contains(text, "root:") {
		t.Errorf("a file in no corpus is read: %s", text)
	}
	if text, bad := w.inspectCall("list_skills"); bad || !strings.Contains(text, "greet") {
		t.Errorf("list_skills gives %q", text)
	}
	uris := w.inspect("resources/list").at("resources").texts("uri")
	if !slices.Contains(uris, "iff-skill://greet/SKILL.md") {
		t.Errorf("resources are %v", uris)
	}
	if templates := w.inspect("resources/templates/list").at("resourceTemplates").list(); len(templates) == 0 {
		t.Error("there is no template for files of skills")
	}
	w.denied(t)
	if out := w.iff("verdict"); !strings.HasPrefix(out, "PASS") {
		t.Error(out)
	}
}

// denied has a person deny one call and approve another.
func (w *world) denied(t *testing.T) {
	a := w.answering(func(q question) bool { return q.target == "new.txt" })
	text, bad := w.inspectCall("fs_delete", "path=notes.txt")
	if !bad || !strings.Contains(text, "denied") {
		t.Errorf("what a person denied gives %q", text)
	}
	if text, bad := w.inspectCall("fs_delete", "path=new.txt"); bad {
		t.Errorf("what a person approved gives %q", text)
	}
	if asked := a.close(); len(asked) != 2 {
		t.Errorf("asked were %v", asked)
	}
	if _, there := w.get("project/notes.txt"); !there {
		t.Error("notes.txt is gone although it was denied")
	}
	if _, there := w.get("project/new.txt"); there {
		t.Error("new.txt is there although it was deleted")
	}
}
