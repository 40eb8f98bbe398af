package connect

import (
	"slices"
	"strings"
	"testing"
)

// TestOpencodeCloses: whatever a user has written, in however many files, nothing but
// iff is allowed afterwards, iff's own rule is the last, and undoing gives it back.
func TestOpencodeCloses(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"mode":               {"project/opencode.json": `{"mode":{"build":{"permission":{"bash":"allow"}},"mine":{"tools":{"*":false,"write":true}}}}`},
		"tools":              {"project/opencode.json": `{"tools":{"*":false,"bash":true,"iff_*":true}}`},
		"two files":          {"project/opencode.json": `{"agent":{"build":{"permission":{"bash":"allow"}}}}`, "project/opencode.jsonc": "{\n  // mine\n  \"model\": \"x/y\",\n}\n"},
		"three files":        {"home/.config/opencode/opencode.json": `{}`, "home/.config/opencode/opencode.jsonc": "{\"permission\": \"ask\"}", "home/.config/opencode/config.json": `{"mode":{"plan":{"permission":"allow"}}}`},
		"managed files":      {"etc/opencode/opencode.json": `{"mode":{"x":{"permission":{"bash":"allow"}}}}`, "etc/opencode/opencode.jsonc": `{"permission":{"iff_*":"deny","bash":"ask"}}`},
		"order":              {"project/opencode.json": "{\n  \"permission\": {\n    // iff\n    \"iff_*\": \"allow\", // it\n    \"*\": \"deny\"\n  }\n}\n"},
		"order, other":       {"project/opencode.json": `{"permission":{"*":"deny","iff_*":"allow","i*":"deny"}}`},
		"order of an agent":  {"project/opencode.json": `{"agent":{"build":{"permission":{"iff_*":"allow","bash":"allow"}}}}`},
		"another server":     {"project/opencode.json": `{"mcp":{"iff_x":{"type":"local","command":["x"]},"iff y":{"type":"local","enabled":true},"docs":{"type":"local"}}}`},
		"as it is written":   {"project/opencode.json": `{"permission":{"*":"deny","iff_*":"allow"},"mcp":{"iff_off":{"enabled":false}}}`},
		"permission on text": {"project/opencode.json": `{"agent":{"x":{"permission":"allow","tools":{"bash":true}}},"permission":"allow"}`},
	} {
		for _, levels := range [][]Level{{User, Project}, {Managed, User, Project}} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				for path, text := range files {
					w.put(path, text)
				}
				before := w.files()
				w.must(w.connect(opencode(), nil, levels...))
				for path := range w.files() {
					ours := levels[0] == Managed || !strings.HasPrefix(path, "/etc/")
					if ours && (strings.Contains(path, "opencode.json") || strings.Contains(path, "config.json")) {
						closedOpencode(t, path, w.get(path))
					}
				}
				connected := w.files()
				w.must(w.connect(opencode(), nil, levels...))
				w.same("connecting twice", connected)
				w.undo(opencode())
				w.same("undoing", before)
			})
		}
	}
}

func closedOpencode(t *testing.T, path, text string) {
	t.Helper()
	v, err := everything.parse(text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if allowed := opencodeAllows(v, false); len(allowed) > 0 {
		t.Errorf("%s allows %v:\n%s", path, allowed, text)
	}
	for _, name := range rivals(members(v, "mcp"), "iff_") {
		if starts(v, name) {
			t.Errorf("%s starts %s", path, name)
		}
	}
	places := [][]string{{"permission"}}
	for _, block := range opencodeBlocks {
		for _, name := range members(v, block.name) {
			places = append(places, []string{block.name, name, "permission"})
		}
	}
	for _, at := range places {
		if everything.misplaced(text, append(slices.Clone(at), "iff_*")) {
			t.Errorf("%s: in %v the rule of iff is not the last:\n%s", path, at, text)
		}
	}
}

// TestClosedOpencodeSees: the test above sees what it is for.
func TestClosedOpencodeSees(t *testing.T) {
	for _, text := range []string{`{"mode":{"b":{"tools":{"x":true}}}}`, `{"permission":{"bash":{"*":"ask"}}}`} {
		v, err := everything.parse(text)
		if err != nil || len(opencodeAllows(v, false)) == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
	if !everything.misplaced(`{"permission":{"iff_*":"allow","*":"deny"}}`, []string{"permission", "iff_*"}) {
		t.Error("the order is not seen")
	}
}

// TestMovedSince: an order that connecting changed comes back by edits too, when
// somebody has changed the file elsewhere.
func TestMovedSince(t *testing.T) {
	w := newWorld(t)
	w.put("project/opencode.json", `{"permission":{"iff_*":"allow","bash":"allow"}}`)
	w.must(w.connect(opencode(), nil, Project))
	w.put("project/opencode.json", strings.Replace(w.get("project/opencode.json"), `{"permission"`, `{"theme":"dark","permission"`, 1))
	w.undo(opencode())
	if got := w.get("project/opencode.json"); got != `{"theme":"dark","permission":{"iff_*":"allow","bash":"allow"}}` {
		t.Errorf("it holds %s", got)
	}
}

// TestClaudeStartsNoOthers: the servers of every project start unasked nowhere but in
// the project that is connected.
func TestClaudeStartsNoOthers(t *testing.T) {
	for _, c := range []struct {
		level Level
		path  string
		says  bool
	}{
		{User, "home/.claude/settings.json", false},
		{Project, "project/.claude/settings.json", true},
		{Managed, "etc/claude-code/managed-settings.json", false},
	} {
		w := newWorld(t)
		w.must(w.connect(claude(), nil, c.level))
		text := w.get(c.path)
		if strings.Contains(text, "enableAllProjectMcpServers") != c.says || !strings.Contains(text, "ReadMcpResourceDirTool") {
			t.Errorf("%s: %s", c.level, text)
		}
	}
}

// TestGeminiNarrows: policies that would be read in place of iff's stand beside them,
// and a server with a name like iff's does not start.
func TestGeminiNarrows(t *testing.T) {
	w := newWorld(t)
	w.put("home/.gemini/settings.json", `{"policyPaths": ["/elsewhere"], "mcpServers": {"iff_x": {"command": "x"}, "docs": {"command": "y"}}}`)
	before := w.files()
	w.must(w.connect(gemini(), nil, User))
	v, err := commented.parse(w.get("home/.gemini/settings.json"))
	w.must(err)
	if got := items(v, "policyPaths"); !slices.Equal(got, []string{"/elsewhere", w.Home + "/.gemini/policies"}) {
		t.Errorf("policyPaths: %v", got)
	}
	if got := items(v, "mcp", "excluded"); !slices.Equal(got, []string{"iff_x"}) {
		t.Errorf("mcp.excluded: %v", got)
	}
	w.undo(gemini())
	w.same("undoing", before)
}
