package connect

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iff-run/iff/internal/durable"
)

func opencodeOpen(p Place, levels []Level) []Finding {
	out := []Finding{always("opencode")}
	if !managed(levels) {
		out = append(out, lifts(p, "opencode.json"))
	}
	out = append(out, opencodeElsewhere(p, levels)...)
	out = append(out, opencodeDescribed(p)...)
	for _, path := range there(under(opencodeDirs(p), "plugin", "plugins", "tool", "tools")...) {
		out = append(out, Finding{"open", path + " holds code that opencode runs at its start", "remove what you do not know, or start with OPENCODE_PURE=1"})
	}
	out = append(out, opencodeLibrary(p)...)
	for _, path := range opencodeReads(p) {
		t, _ := glance(everything, path)
		for _, name := range members(t, "mcp") {
			if name != "iff" && starts(t, name) {
				out = append(out, otherServer(path, name, "its tools are denied"))
			}
		}
		if list := items(t, "plugin"); len(list) > 0 {
			out = append(out, Finding{"open", path + " names plugins, which opencode runs at its start: " + strings.Join(list, ", "), "remove what you do not know"})
		}
	}
	return out
}

// opencodeLibrary says where opencode will install a library: below each .opencode
// that has none, some seconds after its start, and it does not wait for that.
func opencodeLibrary(p Place) []Finding {
	var out []Finding
	for _, dir := range under(above(p.Dir), ".opencode") {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || len(there(filepath.Join(dir, "node_modules", "@opencode-ai"))) > 0 {
			continue
		}
		out = append(out, Finding{
			"open", dir + " has not got the library that opencode installs there at its first start, where it reaches npm",
			"start it once before you give it work: the verdict of that session names each of its files, some thousands, as tampering; so it is again after an update of opencode",
		})
	}
	return out
}

func starts(t tree, server string) bool {
	enabled, ok := at(t, "mcp", server, "enabled")
	return !ok || enabled == true
}

// above are a directory and those that hold it, up to that of the repository.
func above(dir string) []string {
	for out := []string{}; ; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return out
		}
	}
}

// opencodeDirs are the directories in which it looks for agents, plugins and more.
func opencodeDirs(p Place) []string {
	out := append(under(above(p.Dir), ".opencode"), p.home(".opencode"), p.home(".config/opencode"))
	slices.Sort(out)
	return slices.Compact(out)
}

// opencodeReads are the files that it reads, but for managed ones.
func opencodeReads(p Place) []string {
	out := append(opencodeFiles(p, User), under(above(p.Dir), "opencode.json", "opencode.jsonc")...)
	for _, dir := range opencodeDirs(p) {
		if filepath.Base(dir) == ".opencode" {
			out = append(out, under([]string{dir}, "opencode.json", "opencode.jsonc")...)
		}
	}
	return there(out...)
}

// opencodeElsewhere says what the files allow that connecting does not edit.
func opencodeElsewhere(p Place, levels []Level) []Finding {
	var edited []string
	for _, l := range levels {
		edited = append(edited, opencodeFiles(p, l)...)
	}
	var out []Finding
	for _, path := range opencodeReads(p) {
		if slices.Contains(edited, path) {
			continue
		}
		t, err := glance(everything, path)
		if err != nil {
			out = append(out, Finding{"no", path + " cannot be read: " + err.Error(), "mend it"})
		}
		other := opencodeOther(p, path, t, levels)
		out = append(out, reopened(path, other, "which starts something else in iff's place, or runs another agent than was closed", "take that out of it")...)
		if allowed := opencodeAllows(t, managed(levels)); len(allowed) > 0 {
			out = append(out, Finding{"no", path + " allows " + strings.Join(allowed, ", ") + ", which opens tools again", "take that out of it, or run iff connect opencode in the directory where it counts"})
		} else if len(other) == 0 && strings.Contains(path, "/.opencode/") {
			out = append(out, Finding{"open", path + " is read last and wins over the closure", "move what you need of it to " + p.dir("opencode.json") + ", then remove it"})
		}
		for _, name := range rivals(members(t, "mcp"), "iff_") {
			if starts(t, name) {
				out = append(out, Finding{"no", path + " has the tool server " + quote(name) + ", whose tools are named as if they were iff's", "give it another name"})
			}
		}
	}
	return out
}

// opencodeAllows are the places where a file allows what is not iff's. What a managed
// file pins does not count.
func opencodeAllows(t tree, pinned bool) []string {
	out := allows(t, pinned)
	for _, block := range opencodeBlocks {
		for _, name := range members(t, block.name) {
			agent, _ := at(t, block.name, name)
			object, _ := agent.(tree)
			for _, path := range allows(object, pinned && slices.Contains(block.pinned, name)) {
				out = append(out, block.name+"."+name+"."+path)
			}
		}
	}
	return out
}

// allows are the permissions of the file, or of an agent in it, that are not denied.
func allows(t tree, pinned bool) []string {
	var out []string
	for _, block := range []string{"permission", "tools"} {
		v, _ := at(t, block)
		if s, ok := v.(string); ok && s != "deny" && !pinned {
			out = append(out, block)
		}
		for _, name := range members(t, block) {
			v, _ := at(t, block, name)
			holds := pinned && (name == "*" || slices.Contains(opencodeTools, name))
			if !holds && !strings.HasPrefix(name, "iff_") && permits(v) {
				out = append(out, block+"."+name)
			}
		}
	}
	return out
}

// permits says whether a permission is anything but a denial.
func permits(v any) bool {
	object, ok := v.(tree)
	if !ok {
		return v != "deny" && v != false
	}
	for _, item := range object {
		if permits(item) {
			return true
		}
	}
	return false
}

const maxDescribed = 1000 // files below one directory

// opencodeDescribed says which files describe agents, and which of them permit
// something: that opens tools again, with a managed closure too.
func opencodeDescribed(p Place) []Finding {
	var out []Finding
	for _, dir := range there(under(opencodeDirs(p), "agent", "agents", "mode", "modes")...) {
		out = append(out, Finding{"open", dir + " describes agents, and what such a file permits opens tools again, under a managed file too", "read them, or start with OPENCODE_DISABLE_PROJECT_CONFIG=1"})
		n := 0
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if n++; err != nil || n > maxDescribed {
				out = append(out, Finding{"no", dir + " cannot be looked through", "look at it, and keep fewer files in it"})
				return fs.SkipAll
			}
			if !d.IsDir() && filepath.Ext(path) == ".md" && opens(path) {
				out = append(out, Finding{"no", path + " permits tools in its head, and so opens them again", "take permission and tools out of its head, or remove it"})
			}
			return nil
		})
	}
	return out
}

var (
	grants = regexp.MustCompile(`(?m)^["']?(permission|tools)["']?[ \t]*:`)
	yields = regexp.MustCompile(`(?i)\b(allow|ask|true|yes|on)\b`)
)

// opens says whether the head of a file that describes an agent may permit a tool.
// It is not read as YAML: what only looks so counts too.
func opens(path string) bool {
	data, _, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return true // nobody knows
	}
	_, text, _ := strings.Cut(string(data), "---")
	head, _, _ := strings.Cut(text, "\n---")
	return grants.MatchString(head) && yields.MatchString(head)
}
