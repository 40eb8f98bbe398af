package connect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileFiles: what cannot be read, or not be edited without harm, is refused
// with its line, and nothing is written anywhere.
func TestHostileFiles(t *testing.T) {
	big := `{"x":"` + strings.Repeat("y", maxFile) + `"}`
	for _, c := range []struct {
		agent, path, text string
		reason            Reason
		line              int
		words             string
	}{
		{"opencode", "project/opencode.json", "{\n \"a\": 1,\n \"b\" 2\n}", FileBroken, 3, "colon"},
		{"opencode", "project/opencode.json", "[1]", FileBroken, 1, "no object"},
		{"opencode", "project/opencode.json", "{\"a\": 1}\n{}", FileBroken, 2, "more behind"},
		{"opencode", "project/opencode.json", "{\"a\": 1,\n\"a\": 2}", FileBroken, 2, "twice"},
		{"opencode", "project/opencode.json", "{\"a\": \"\xff\"}", FileBroken, 1, "UTF-8"},
		{"opencode", "project/opencode.json", "{/* never ends", FileBroken, 1, ""},
		{"opencode", "project/opencode.json", "{\"a\": \"x\ny\"}", FileBroken, 1, "does not end on its line"},
		{"opencode", "project/opencode.json", "{\"a\": Infinity}", FileBroken, 1, "none"},
		{"opencode", "project/opencode.json", "{\"a\": \"\\ud800\"}", FileBroken, 1, ""},
		{"opencode", "project/opencode.json", strings.Repeat("[", 100000), FileBroken, 1, "deep"},
		{"opencode", "project/opencode.json", `{"a":` + strings.Repeat(`{"a":`, 100000), FileBroken, 1, "deep"},
		{"opencode", "project/opencode.json", big, FileBroken, 0, "large"},
		{"claude-code", "home/.claude/settings.json", "{\"permissions\":", FileBroken, 1, "value"},
		{"claude-code", "home/.claude/settings.json", "{\n // mine\n}", FileBroken, 2, "comment"},
		{"claude-code", "home/.claude/settings.json", "{\"a\": 1 /* x */}", FileBroken, 1, "comment"},
		{"claude-code", "project/.mcp.json", "{}\n// x\n", FileBroken, 2, "comment"},
		{"claude-code", "project/.mcp.json", "{\"a\":\n1,\n}", FileBroken, 3, "comma"},
		{"qwen", "project/.qwen/settings.json", "{\"a\": [1,]}", FileBroken, 1, "comma"},
		{"qwen", "home/.qwen/settings.json", "{,}", FileBroken, 1, "name"},
		{"gemini", "home/.gemini/trustedFolders.json", "null", FileBroken, 1, "no object"},
		{"codex", "home/.codex/config.toml", "model = \"x\"\n[features\n", FileBroken, 2, ""},
		{"codex", "home/.codex/config.toml", "a = 1\na = 2\n", FileBroken, 2, "a"},
		{"codex", "home/.codex/config.toml", "features = { shell_tool = true }\n", FileUneasy, 0, "a line [features] with a line below it"},
		{"codex", "home/.codex/config.toml", "mcp_servers = { docs = { command = \"x\" } }\n", FileUneasy, 0, "a line [mcp_servers] with"},
		{"codex", "home/.codex/config.toml", "[skills]\nbundled = {}\n", FileUneasy, 0, "a line [skills.bundled] with"},
		{"codex", "home/.codex/config.toml", "x = " + strings.Repeat("{a=", 20000), FileBroken, 1, "line"},
		{"claude-code", "project/.claude/settings.json", `{"permissions": {"deny": "Bash"}}`, FileUneasy, 0, "permissions.deny"},
		{"qwen", "project/.qwen/settings.json", `{"mcp": true}`, FileUneasy, 0, "mcp.allowed"},
		{"qwen", "project/.qwen/settings.json", `{"mcp": null}`, FileUneasy, 0, "mcp is no object"},
		{"opencode", "project/opencode.json", `{"mcp": 3}`, FileUneasy, 0, "mcp is no object"},
		{"opencode", "project/opencode.json", `{"mcp": {"iff_x": 3}}`, FileUneasy, 0, "mcp.iff_x is no object"},
		{"opencode", "project/opencode.json", `{"agent": {"x": {"permission": "ask", "tools": []}}, "mcp": []}`, FileUneasy, 0, "mcp is no object"},
		{"claude-code", "home/.claude.json", `{"mcpServers": "none"}`, FileUneasy, 0, "mcpServers is no object"},
		{"claude-code", "project/.claude/settings.json", `{"permissions": []}`, FileUneasy, 0, "permissions is no object"},
		{"gemini", "home/.gemini/settings.json", `{"tools": "all"}`, FileUneasy, 0, "tools is no object"},
		{"codex", "home/.codex/config.toml", "features = 3\n", FileUneasy, 0, "features is no object"},
		{"codex", "iffhome/iff.toml", "[guard]\nhome = 3\n", FileUneasy, 0, "guard.home"},
	} {
		t.Run(c.agent+" "+c.text[:min(len(c.text), 20)], func(t *testing.T) {
			w := newWorld(t)
			w.put(c.path, c.text)
			before := w.files()
			a, _ := Find(c.agent)
			err := w.connect(a, nil, User, Project)
			var e *Error
			if !errors.As(err, &e) || e.Reason != c.reason || e.Line != c.line || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v", err)
			}
			if e != nil && filepath.Clean(w.root+"/"+c.path) != e.Path {
				t.Errorf("it names %s", e.Path)
			}
			w.same("refusing", before)
		})
	}
}

// TestLinks: a link is followed once, and stays one; a link to a link, a directory
// and a FIFO are refused.
func TestLinks(t *testing.T) {
	w := newWorld(t)
	w.put("dotfiles/opencode.json", "{\"theme\": \"x\"}\n")
	link := w.Dir + "/opencode.json"
	w.must(os.Symlink("../dotfiles/opencode.json", link))
	before := w.files()
	w.must(w.connect(opencode(), nil, Project))
	if to, err := os.Readlink(link); err != nil || to != "../dotfiles/opencode.json" {
		t.Errorf("the link: %s, %v", to, err)
	}
	if !strings.Contains(w.get("dotfiles/opencode.json"), `"iff_*": "allow"`) {
		t.Error("what the link leads to was not written")
	}
	w.undo(opencode())
	w.same("undoing", before)

	w.must(os.Rename(link, w.Dir+"/one"))
	w.must(os.Symlink("one", link))
	if err := w.connect(opencode(), nil, Project); reasonIn(err) != FileUneasy {
		t.Errorf("a link to a link: %v", err)
	}
	w.must(os.Remove(link))
	w.must(os.Mkdir(link, 0o755))
	if err := w.connect(opencode(), nil, Project); reasonIn(err) != FileBroken {
		t.Errorf("a directory: %v", err)
	}
}

func reasonIn(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// TestChangedBetween: a file that changes between the plan and the writing is not
// overwritten, and the files written before it are put back.
func TestChangedBetween(t *testing.T) {
	w := newWorld(t)
	plan, err := Prepare(opencode(), w.Place, []Level{User, Project})
	w.must(err)
	w.put("project/opencode.json", "{\"theme\": \"just now\"}")
	before := w.files()
	if err := NewStore(w.iff(), nil).Apply(plan); reasonIn(err) != FileChanging {
		t.Errorf("%v", err)
	}
	w.same("refusing", before)
}

// TestTwoConnections: what two connections need goes with the second undo, whichever
// that is, and nothing of either is left then, nor a directory.
func TestTwoConnections(t *testing.T) {
	for _, a := range Agents() {
		for _, name := range []string{"nothing", "comments", "iff already"} {
			for _, first := range []int{0, 1} {
				t.Run(fmt.Sprintf("%s/%s/%d", a.Name, name, first), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					w.put("other/x", "")
					for path, text := range given[name] {
						w.put(path, text)
					}
					before, meant := w.files(), w.meanings()
					dirs := []string{w.Dir, w.root + "/other"}
					for _, w.Dir = range dirs {
						w.must(w.connect(a, nil, User, Project))
					}
					w.Dir = dirs[first]
					w.undo(a)
					w.Dir = dirs[1-first]
					for _, f := range Check(a, w.Place, []Level{User, Project}) {
						if f.Status == "no" {
							t.Errorf("after undoing the other: %s", f.What)
						}
					}
					w.undo(a)
					after := w.meanings()
					for path := range w.files() {
						if _, was := before[path]; !was || after[path] != meant[path] {
							t.Errorf("left: %s, which means %s, and meant %s", path, after[path], meant[path])
						}
					}
				})
			}
		}
	}
}

// TestRecords: a damaged record or backup is refused and named.
func TestRecords(t *testing.T) {
	w := newWorld(t)
	w.put("project/opencode.json", "{}")
	w.must(w.connect(opencode(), nil, Project))
	store := NewStore(w.iff(), nil)
	path := w.iff() + "/connect/" + recordName("opencode", w.Place)
	good, err := os.ReadFile(path)
	w.must(err)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, text := range []string{"", "{}", strings.Replace(string(good), recordSchema, "iff/connect/v9", 1), strings.Replace(string(good), `"agent"`, `"Agent"`, 1)} {
		w.must(os.WriteFile(path, []byte(text), 0o600))
		if _, err := store.Undo("opencode", w.Place, nil); reasonIn(err) != RecordBroken {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	w.must(os.WriteFile(path, good, 0o600))
	backup := w.iff() + "/connect/backups/" + digest([]byte("{}"))
	w.must(os.WriteFile(backup, []byte("{ }"), 0o600))
	if _, err := store.Undo("opencode", w.Place, nil); reasonIn(err) != RecordBroken {
		t.Errorf("a damaged backup: %v", err)
	}
}
