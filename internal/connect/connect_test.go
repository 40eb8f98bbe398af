package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/durable"
)

// world is a user's home, a project, a machine's configuration and iff's home.
type world struct {
	t    *testing.T
	root string
	Place
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, root, Place{Home: root + "/home", Dir: root + "/project", Etc: root + "/etc", Iff: "/usr/bin/iff"}}
	for _, dir := range []string{w.Home, w.Dir, w.Etc, w.iff()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.put("iffhome/iff.toml", "profile = \"dev\"\n")
	return w
}

func (w *world) iff() string { return w.root + "/iffhome" }

func (w *world) put(path, text string) {
	w.t.Helper()
	path = filepath.Join(w.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(path string) string {
	data, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

// files is all that there is, but for the store of records: directories, links and
// files with their mode and content.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if path == w.iff()+"/connect" {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(path)
		out[strings.TrimPrefix(path, w.root)] = fmt.Sprintf("%v %s", info.Mode(), data)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) same(what string, before map[string]string) {
	w.t.Helper()
	after := w.files()
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			w.t.Errorf("%s: %s was %q, is %q", what, path, before[path], after[path])
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			w.t.Errorf("%s: %s is gone", what, path)
		}
	}
}

// connect connects with a store over a file system.
func (w *world) connect(a Agent, fsys durable.FS, levels ...Level) error {
	plan, err := Prepare(a, w.Place, levels)
	if err == nil {
		err = plan.Watch(w.iff())
	}
	if err == nil {
		err = NewStore(w.iff(), fsys).Apply(plan)
	}
	return err
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) undo(a Agent) []Undone {
	w.t.Helper()
	out, err := NewStore(w.iff(), nil).Undo(a.Name, w.Place, nil)
	w.must(err)
	return out
}

// given are files that are there before, in ways in which people write them.
var given = map[string]map[string]string{
	"nothing": {},
	"empty files": {
		"home/.config/opencode/opencode.json": "", "project/opencode.json": "  \n", "home/.claude.json": "", "project/.mcp.json": "\n",
		"project/.claude/settings.json": "", "home/.codex/config.toml": "", "project/.codex/config.toml": "\n\n", "project/.qwen/settings.json": "", "project/.gemini/settings.json": "",
	},
	"empty objects": {
		"project/opencode.json": "{}", "home/.claude.json": "{\n}\n", "project/.claude/settings.json": "{ }\n", "project/.qwen/settings.json": "{}", "home/.gemini/settings.json": "{\n\t\n}",
	},
	"comments": {
		"project/opencode.jsonc":     "// mine\n{\n  // who pays\n  \"model\": \"x/y\", // the good one\n  \"permission\": {\n    \"bash\": \"allow\", /* of course */\n    \"edit\": \"ask\",\n  },\n  \"mcp\": {\n    // \"old\": {}\n  },\n}\n// end\n",
		"home/.gemini/settings.json": "{ // one\n  \"ui\": {\"theme\": \"dark\"} // two\n  // three\n}\n",
		"home/.codex/config.toml":    "# mine\nmodel = \"x\" # good\n\n[features] # on\nshell_tool = true # yes\nother = true\n\n# about tools\n[tools]\n# none\n\n[[hooks]]\nname = \"x\"\n\n[mcp_servers.docs]\ncommand = \"docs\" # keep\n",
	},
	"CRLF": {
		"project/opencode.json":       "{\r\n    \"theme\": \"dark\",\r\n    \"mcp\": {\r\n        \"docs\": {\"type\": \"local\", \"command\": [\"docs\"]}\r\n    }\r\n}\r\n",
		"project/.qwen/settings.json": "{\r\n\t\"$version\": 4,\r\n\t\"permissions\": {\"deny\": [\"edit\"]}\r\n}",
		"home/.codex/config.toml":     "model = \"x\"\r\n\r\n[features]\r\nshell_tool = true\r\n",
	},
	"one line": {
		"home/.claude.json":             `{"numStartups":3,"projects":{"/x":{"allowedTools":[]}},"mcpServers":{"docs":{"command":"docs"}}}`,
		"home/.claude/settings.json":    `{"permissions":{"allow":["Bash(ls)"],"deny":["WebFetch","Read(.env)"]},"model":"opus"}`,
		"project/.claude/settings.json": "\ufeff{\"permissions\":{\"deny\":[]}}",
		"project/opencode.json":         `{"permission":"allow","agent":{"build":{"permission":{"bash":"allow"}},"mine":{"tools":{"write":true}}}}`,
	},
	"iff already": {
		"project/opencode.json":            "{\"mcp\": {\"iff\": {\"type\": \"local\", \"command\": [\"/old/iff\", \"mcp\"], \"environment\": {\"X\": \"y\"}}}, \"permission\": {\"*\": \"deny\", \"iff_*\": \"allow\"}}\n",
		"project/.mcp.json":                "{\n \"mcpServers\": {\n  \"iff\": {\"command\": \"iff\"},\n  \"docs\": {\"command\": \"d\"}\n }\n}\n",
		"home/.codex/config.toml":          "features.web = true\nfeatures.shell_tool = true\n\n[mcp_servers.iff]\ncommand = '/old/iff' # was\nargs = [\n  \"mcp\", # it\n]\n",
		"project/.qwen/settings.json":      "{\"mcpServers\": {\"iff\": {\"command\": \"iff\", \"args\": [\"mcp\"]}}, \"mcp\": {\"allowed\": [\"docs\"]}}",
		"home/.gemini/policies/iff.toml":   "# somebody's\n",
		"home/.gemini/trustedFolders.json": "{\n  \"/elsewhere\": \"DO_NOT_TRUST\"\n}",
	},
}

// TestBeforeAfterBefore: what connecting writes means what it has to, and undoing
// gives every byte, mode and directory back.
func TestBeforeAfterBefore(t *testing.T) {
	for _, a := range Agents() {
		for name, files := range given {
			for _, levels := range [][]Level{{User, Project}, {Project}, {Managed}, {Managed, User, Project}} {
				t.Run(fmt.Sprintf("%s/%s/%v", a.Name, name, levels), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					for path, text := range files {
						w.put(path, text)
					}
					before := w.files()
					w.must(w.connect(a, nil, levels...))
					for _, f := range Check(a, w.Place, levels) {
						// What connecting leaves alone, and no managed file reaches; of codex's user file a project writes no more than its trust.
						theirs := len(levels) == 1 && (!w.edited(a, f.What) || levels[0] == Project && strings.HasPrefix(f.What, w.Home+"/.codex/config.toml has "))
						if f.Status == "no" && !theirs {
							t.Errorf("after connecting: %s", f.What)
						}
					}
					connected := w.files()
					w.must(w.connect(a, nil, levels...))
					w.same("connecting twice", connected)
					if records, err := NewStore(w.iff(), nil).Records(); err != nil || len(records) != 1 {
						t.Errorf("records: %v, %v", records, err)
					}
					for _, f := range Gone(w.undo(a)) {
						if f.Status != "ok" {
							t.Errorf("after undoing: %+v", f)
						}
					}
					w.same("undoing", before)
					if again := w.undo(a); again != nil {
						t.Errorf("undoing twice: %v", again)
					}
				})
			}
		}
	}
}

// edited says whether a text begins with the path of a file that connecting has written.
func (w *world) edited(a Agent, text string) bool {
	r, err := NewStore(w.iff(), nil).Find(a.Name, w.Place)
	w.must(err)
	return slices.ContainsFunc(r.Needs, func(path string) bool { return strings.HasPrefix(text, path) })
}

// TestChangedSince: what somebody adds after connecting stays, what iff added goes.
func TestChangedSince(t *testing.T) {
	for _, a := range Agents() {
		for name, files := range given {
			t.Run(a.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				for path, text := range files {
					w.put(path, text)
				}
				meant := w.meanings()
				w.must(w.connect(a, nil, User, Project))
				r, err := NewStore(w.iff(), nil).Find(a.Name, w.Place)
				w.must(err)
				for _, f := range r.Files {
					w.extend(f)
				}
				w.undo(a)
				after := w.meanings()
				for path, was := range meant {
					got := strings.ReplaceAll(strings.ReplaceAll(after[path], " zz-since:true", ""), "map[zz-since:true]", "map[]")
					if got != was {
						t.Errorf("%s meant %s, means %s:\n%s", path, was, after[path], w.get(path))
					}
				}
			})
		}
	}
}

// extend adds a member to a file, as its owner would.
func (w *world) extend(f File) {
	w.t.Helper()
	if f.format() == nil {
		return
	}
	data, err := os.ReadFile(f.Real)
	w.must(err)
	text, mark := cutMark(string(data))
	text, _, err = perform(f.format(), text, set(true, "zz-since"))
	w.must(err)
	w.must(os.WriteFile(f.Real, []byte(mark+text), 0o640))
}

// meanings are what the configuration files mean, as text with sorted keys. An
// absent file and an empty one mean the same.
func (w *world) meanings() map[string]string {
	out := make(map[string]string)
	for path := range w.files() {
		f := map[string]format{".json": everything, ".jsonc": everything, ".toml": tomlFormat{}}[filepath.Ext(path)]
		if f == nil || strings.Contains(path, "policies") {
			continue
		}
		t, err := glance(f, w.root+path)
		w.must(err)
		out[path] = fmt.Sprint(t)
	}
	return out
}

// TestValueChangedSince: a value that somebody changed after connecting is left
// alone and named.
func TestValueChangedSince(t *testing.T) {
	w := newWorld(t)
	w.put("project/opencode.json", `{"permission": {"bash": "ask"}}`)
	w.must(w.connect(opencode(), nil, Project))
	text := strings.Replace(w.get("project/opencode.json"), `"bash": "deny"`, `"bash": "allow"`, 1)
	w.put("project/opencode.json", text)
	out := w.undo(opencode())
	if len(out) != 2 || !slices.Contains(slices.Concat(out[0].Kept, out[1].Kept), "permission.bash") {
		t.Errorf("kept: %+v", out)
	}
	got := w.get("project/opencode.json")
	if !strings.Contains(got, `"bash": "allow"`) || strings.Contains(got, "iff") || strings.Contains(got, `"*"`) {
		t.Errorf("it holds %s", got)
	}
}
