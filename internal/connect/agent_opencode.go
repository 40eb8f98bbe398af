package connect

import (
	"slices"
	"strings"
)

// opencodeTools are named one by one, since what a project names wins over "*".
var opencodeTools = strings.Fields(`bash edit write read glob grep list patch task skill webfetch websearch codesearch lsp todowrite todoread external_directory question`)

// opencodeBlocks describe agents, with those that a managed file pins. What mode, the
// older one, says wins over agent, and makes it an agent that a person talks to.
var opencodeBlocks = []struct {
	name   string
	pinned []string
}{
	{"agent", []string{"build", "plan", "general", "explore"}},
	{"mode", []string{"build", "plan"}},
}

func opencode() Agent {
	return Agent{
		Name: "opencode", Title: "opencode", Program: "opencode",
		targets: func(p Place, l Level) []target {
			var out []target
			for _, path := range allThere(opencodeFiles(p, l)...) {
				out = append(out, target{path: path, format: everything, ops: func(t tree) []op { return opencodeOps(p, l, t) }})
			}
			return out
		},
		skills: func(p Place) []string {
			roots := under([]string{p.Dir, p.Home}, ".agents/skills", ".claude/skills", ".opencode/skills")
			return append(roots, p.dir(".opencode/skill"), p.home(".config/opencode/skills"), p.home(".config/opencode/skill"))
		},
		control: opencodeControl,
		open:    opencodeOpen,
	}
}

// opencodeFiles are the files of a level, of which all that are there are merged.
func opencodeFiles(p Place, l Level) []string {
	switch l {
	case User:
		return under([]string{p.home(".config/opencode")}, "opencode.json", "opencode.jsonc", "config.json")
	case Project:
		return under([]string{p.Dir}, "opencode.json", "opencode.jsonc")
	}
	return under([]string{p.etc("opencode")}, "opencode.json", "opencode.jsonc")
}

func opencodeServer(p Place) Object {
	return Object{{"type", "local"}, {"command", p.Command()}, {"enabled", true}, {"timeout", hour * 1000}}
}

func opencodeOps(p Place, l Level, t tree) []op {
	var out []op
	if len(t) == 0 {
		out = append(out, set("https://opencode.ai/config.json", "$schema"))
	}
	out = append(out, set(opencodeServer(p), "mcp", "iff"))
	for _, name := range rivals(members(t, "mcp"), "iff_") { // iff_* would allow its tools
		out = append(out, set(false, "mcp", name, "enabled"))
	}
	var named []string
	if l == Managed {
		named = opencodeTools
		out = append(out, set("build", "default_agent"))
	}
	out = append(out, toolsOff(t, "tools")...)
	out = append(out, denyAll(t, named, "permission")...)
	for _, block := range opencodeBlocks {
		names := members(t, block.name)
		if l == Managed {
			names = append(slices.Clone(block.pinned), names...)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			_, permission := at(t, block.name, name, "permission")
			_, tools := at(t, block.name, name, "tools")
			if permission || tools || l == Managed && slices.Contains(block.pinned, name) {
				out = append(out, toolsOff(t, block.name, name, "tools")...)
				out = append(out, denyAll(t, opencodeTools, block.name, name, "permission")...)
			}
		}
	}
	return out
}

// toolsOff turns off what an object of tools turns on: an older way to write
// permissions, whose order counts too.
func toolsOff(t tree, path ...string) []op {
	var out []op
	for _, name := range members(t, path...) {
		if v, _ := at(t, append(slices.Clone(path), name)...); v != false && name != "iff_*" {
			out = append(out, set(false, append(slices.Clone(path), name)...))
		}
	}
	return out
}

// denyAll closes an object of permissions: all that it names, "*", and named. The
// last rule that fits decides, so that of iff stands behind "*".
func denyAll(t tree, named []string, path ...string) []op {
	if _, object := at(t, append(slices.Clone(path), "*")...); !object && len(members(t, path...)) == 0 {
		pin := Object{{"*", "deny"}}
		for _, name := range named {
			pin = append(pin, Member{name, "deny"})
		}
		return []op{set(append(pin, Member{"iff_*", "allow"}), path...)}
	}
	below := func(name string) []string { return append(slices.Clone(path), name) }
	out := []op{set("deny", below("*")...)}
	for _, name := range append(slices.Clone(named), members(t, path...)...) {
		if name != "iff_*" && name != "*" {
			out = append(out, set("deny", below(name)...))
		}
	}
	return append(out, last("allow", below("iff_*")...))
}
