package connect

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Finding is what is in force, or is not.
type Finding struct {
	Status string // ok: in force; no: it should be and is not; open: nothing here closes it
	What   string
	Remedy string // empty with ok
}

// Check reads an agent's files again, by its own order of precedence, and says
// whether it is still closed at these levels, and what stays open.
func Check(a Agent, p Place, levels []Level) []Finding {
	again := fmt.Sprintf("iff connect %s %s", a.Name, p.Dir)
	plan, err := Prepare(a, p, levels)
	if err != nil {
		return []Finding{{"no", err.Error(), "mend the file, then: " + again}}
	}
	var out []Finding
	for _, c := range plan.Changed() {
		out = append(out, Finding{"no", c.Path + ": " + c.lost(), again})
	}
	if len(out) == 0 {
		var paths []string
		for _, c := range plan.Changes {
			paths = append(paths, c.Path)
		}
		out = append(out, Finding{Status: "ok", What: "closed, and has iff: " + strings.Join(paths, ", ")})
	}
	return append(out, a.open(p, levels)...)
}

// lost is what a file should say and does not.
func (c *Change) lost() string {
	if !c.Existed {
		return "it is gone"
	}
	var names []string
	for _, e := range c.edits {
		names = append(names, byHandName(e.Path))
	}
	if len(names) == 0 {
		return "it is not as iff wrote it"
	}
	return "not as it has to be: " + strings.Join(names, ", ")
}

// there are those of some paths at which there is something, directories only if
// they hold something.
func there(paths ...string) []string {
	var out []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if entries, err := os.ReadDir(path); info.IsDir() && err == nil && len(entries) == 0 {
			continue
		}
		out = append(out, path)
	}
	return out
}

func managed(levels []Level) bool { return slices.Contains(levels, Managed) }

// always stays open with every agent.
func always(a string) Finding {
	return Finding{"open", "a person at its prompt can run commands with ! and start " + a + " with other settings", "nothing closes that: what is run so shows as a bypass in iff verdict"}
}

// lifts says that a project's file may lift the closure.
func lifts(p Place, file string) Finding {
	return Finding{"open", fmt.Sprintf("who may write %s can lift the closure there", p.dir(file)), "iff guards the file; as root, iff connect --level managed keeps it closed whatever it says"}
}

// otherServer says that the agent starts a tool server that is not iff.
func otherServer(path, name, but string) Finding {
	return Finding{"open", fmt.Sprintf("%s has the tool server %s, which is started beside iff; %s", path, quote(name), but), "put it behind iff: [upstream." + name + "] in iff.toml; then remove it there"}
}

func claudeOpen(p Place, levels []Level) []Finding {
	out := []Finding{always("Claude Code"), {"open", "an edit of its settings counts within seconds, in a running session too, and a file that is no JSON is ignored: it is open then", "iff guards the files; iff doctor reads them again"}}
	if !managed(levels) {
		out = append(out, Finding{"open", "a file of the project can start hooks: " + p.dir(".claude/settings.json"), "as root, iff connect --level managed allows none but managed hooks"})
		out = append(out, claudeBeside(p, levels)...)
	}
	for _, path := range []string{p.home(".claude/settings.json"), p.dir(".claude/settings.json"), p.dir(".claude/settings.local.json")} {
		t, err := glance(plainJSON, path)
		if err != nil {
			out = append(out, Finding{"no", path + " cannot be read, so Claude Code ignores it: " + err.Error(), "mend it"})
		}
		for _, name := range members(t, "hooks") {
			if v, _ := at(t, "hooks", name); below(path, p.home(".claude")) && !managed(levels) && !onlyIff(v) {
				out = append(out, Finding{"open", fmt.Sprintf("%s starts programs at %s", path, name), "remove what you do not know"})
			}
		}
	}
	for _, server := range claudeServers(p) {
		out = append(out, Finding{"open", "another tool server is started beside iff; its tools are denied: " + strings.TrimPrefix(server, "mcp__"), "put it behind iff as an upstream in iff.toml"})
	}
	for _, path := range there(p.home(".claude/plugins/installed_plugins.json")) {
		out = append(out, Finding{"open", path + " names plugins, which may start hooks and tool servers", "remove what you do not know: claude plugin"})
	}
	return out
}

func codexOpen(p Place, levels []Level) []Finding {
	out := []Finding{
		always("Codex"),
		{"open", "view_image reads any image of the machine, and no setting takes it away", "keep what must not be seen out of image files that this user can read"},
	}
	out = append(out, codexBeside(p, levels)...)
	if managed(levels) {
		return out
	}
	out = append(out, lifts(p, ".codex/config.toml"))
	user, _ := glance(tomlFormat{}, p.home(".codex/config.toml"))
	if v, _ := at(user, "projects", p.Dir, "trust_level"); v != "trusted" {
		out = append(out, Finding{"no", "the project is not trusted, so " + p.dir(".codex/config.toml") + " is skipped in silence", "iff connect codex " + p.Dir})
	}
	for _, name := range members(user, "profiles") {
		out = append(out, Finding{"open", "the profile " + quote(name) + " of " + p.home(".codex/config.toml") + " may set other features", "look at it"})
	}
	return out
}

func qwenOpen(p Place, levels []Level) []Finding {
	out := []Finding{always("Qwen Code"), {"open", "a file that is no JSON is ignored: it is open then, unless another level closes it", "iff guards the files; iff doctor reads them again"}}
	if !managed(levels) {
		out = append(out, Finding{"open", "who may write " + p.dir(".qwen/settings.json") + " can start tool servers and hooks", "iff guards the file; as root, iff connect --level managed keeps it closed whatever it says"})
	}
	out = append(out, qwenBeside(p, levels)...)
	for _, path := range there(p.dir(".qwen/extensions"), p.home(".qwen/extensions")) {
		out = append(out, Finding{"open", path + " holds extensions, which may bring tool servers", "remove what you do not know"})
	}
	return out
}
