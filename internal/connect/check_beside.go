package connect

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// reopened says that a file opens again, by these keys, what connecting closed.
func reopened(path string, keys []string, why, remedy string) []Finding {
	if len(keys) == 0 {
		return nil
	}
	return []Finding{{"no", path + " has " + strings.Join(keys, ", ") + ", " + why, remedy}}
}

// otherIff are the keys by which a file says otherwise what iff is: the agent would
// start that in its place. Where a stronger file names iff too, only what stands
// beside that counts, such as variables.
func otherIff(t tree, want Object, stronger bool, path ...string) []string {
	v, ok := at(t, path...)
	object, isObject := v.(tree)
	if ok && !isObject && !stronger {
		return []string{byHandName(path)}
	}
	var out []string
	for _, name := range members(object) {
		i := slices.IndexFunc(want, func(m Member) bool { return m.Name == name })
		if i < 0 || !stronger && !reflect.DeepEqual(object[name], meaning(want[i].Value)) {
			out = append(out, byHandName(append(slices.Clone(path), name)))
		}
	}
	return out
}

const anotherIff = "which starts something else in iff's place, or otherwise"

// overruled says which settings of the project, where connecting leaves that alone,
// replace those of the user; but for spared, which change nothing then.
func overruled(a Agent, p Place, levels []Level, spared ...string) []Finding {
	if slices.Contains(levels, Project) || managed(levels) {
		return nil
	}
	plan, err := Prepare(a, p, []Level{Project})
	if err != nil { // a file that the agent cannot read either
		return nil
	}
	var out []Finding
	for _, c := range plan.Changed() {
		var keys []string
		for _, e := range c.edits {
			if name := byHandName(e.Path); e.Made == 0 && len(e.Added) == 0 && !slices.Contains(spared, name) {
				keys = append(keys, name)
			}
		}
		if below(c.Path, p.Dir) {
			out = append(out, reopened(c.Path, keys, "which overrules what closes "+a.Title, fmt.Sprintf("take that out of it, or close it there too: iff connect %s %s --level user,project", a.Name, p.Dir))...)
		}
	}
	return out
}

// claudeStarts are settings that start programs, or bring tools, in the project's
// files, by the vendor's documentation.
var claudeStarts = strings.Fields("agent apiKeyHelper awsAuthRefresh awsCredentialExport enabledPlugins extraKnownMarketplaces fileSuggestion otelHeadersHelper statusLine")

// claudeBeside says what the project's settings, and servers of more weight than
// iff's, open again. Managed files hold against all of it.
func claudeBeside(p Place, levels []Level) []Finding {
	const remedy = "take that out of it; or, as root, iff connect claude-code closes it in /etc, whatever that file says"
	var out []Finding
	for _, path := range []string{p.dir(".claude/settings.json"), p.dir(".claude/settings.local.json")} {
		t, _ := glance(plainJSON, path)
		out = append(out, reopened(path, claudeStarters(t), "which starts programs or brings tools beside iff", remedy)...)
	}
	own, _ := glance(plainJSON, p.home(".claude.json"))
	out = append(out, reopened(p.home(".claude.json"), otherIff(own, claudeServer(p), false, "projects", p.Dir, "mcpServers", "iff"), anotherIff, remedy)...)
	if !slices.Contains(levels, Project) {
		t, _ := glance(plainJSON, p.dir(".mcp.json"))
		out = append(out, reopened(p.dir(".mcp.json"), otherIff(t, claudeServer(p), false, "mcpServers", "iff"), anotherIff, remedy)...)
	}
	return out
}

// claudeStarters are the keys of a file of settings that start something.
func claudeStarters(t tree) []string {
	var out []string
	for _, event := range members(t, "hooks") {
		if v, _ := at(t, "hooks", event); !onlyIff(v) {
			out = append(out, "hooks."+event)
		}
	}
	for _, name := range members(t) {
		if slices.Contains(claudeStarts, name) {
			out = append(out, name)
		}
	}
	for _, name := range members(t, "env") { // which iff is started with too
		if name == "HOME" || strings.HasPrefix(name, "LD_") {
			out = append(out, "env."+name)
		}
	}
	return out
}

var iffHook = regexp.MustCompile(`^("[^"$` + "`" + `\\]*/iff"|[-\w./]*/iff|iff) hook( --agent[ =][-a-z]+)?$`)

// onlyIff says whether hooks start nothing but iff hook.
func onlyIff(hooks any) bool {
	switch v := hooks.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(o any) bool { return !onlyIff(o) })
	case tree:
		if below, ok := v["hooks"]; ok {
			return onlyIff(below)
		}
		command, _ := v["command"].(string)
		return iffHook.MatchString(command)
	}
	return false
}

// codexBeside says what the configuration files turn on that connecting has not
// turned off: those that are left alone, and what no setting of iff's touches.
func codexBeside(p Place, levels []Level) []Finding {
	user, project := p.home(".codex/config.toml"), p.dir(".codex/config.toml")
	var out []Finding
	for _, path := range append([]string{user, project}, codexAbove(p)...) {
		t, err := glance(tomlFormat{}, path)
		if err != nil {
			continue // Prepare says it of those that count
		}
		edited := path == user && slices.Contains(levels, User) || path == project && slices.Contains(levels, Project)
		wins := path == project || !slices.Contains(levels, Project)
		keys := otherIff(without(t, "mcp_servers", "iff", "enabled", "startup_timeout_sec"), codexServer(p), edited || !wins, "mcp_servers", "iff")
		if _, ok := at(t, "profile"); ok {
			keys = append(keys, "profile")
		}
		if !edited {
			keys = append(keys, codexTurnsOn(t, wins, managed(levels))...)
		}
		out = append(out, reopened(path, keys, "which opens tools again, or starts something else in iff's place", "take that out of it, or close it there too: iff connect codex "+p.Dir+" --level user,project")...)
	}
	return out
}

// codexAbove are the files of directories that hold the project, up to that of the
// repository. They are read too, with less weight.
func codexAbove(p Place) []string {
	dirs := above(p.Dir)
	if top := dirs[len(dirs)-1]; len(there(top+"/.git")) == 0 {
		return nil
	}
	return under(dirs[1:], ".codex/config.toml")
}

// codexTurnsOn are the keys of a file that give tools. What a stronger file of iff's
// turns off does not count, nor what requirements.toml does.
func codexTurnsOn(t tree, wins, pinned bool) []string {
	var out []string
	for _, name := range members(t, "features") {
		v, _ := at(t, "features", name)
		off := pinned && slices.Contains(codexRequire, name) || !wins && slices.Contains(codexOff, name)
		if v == true && !off {
			out = append(out, "features."+name)
		}
	}
	for _, path := range [][]string{{"web_search"}, {"tools", "web_search"}} {
		if v, ok := at(t, path...); ok && wins && v != "disabled" && v != false {
			out = append(out, byHandName(path))
		}
	}
	for _, name := range members(t, "mcp_servers") {
		if v, ok := at(t, "mcp_servers", name, "enabled"); name != "iff" && !pinned && (!ok || v == true) {
			out = append(out, "mcp_servers."+name)
		}
	}
	return out
}

// without is a tree whose object at the first two names lacks the others.
func without(t tree, first, second string, less ...string) tree {
	for _, name := range members(t, first, second) {
		if slices.Contains(less, name) {
			object, _ := at(t, first, second)
			delete(object.(tree), name)
		}
	}
	return t
}

// qwenBeside says what settings that connecting leaves alone open again.
func qwenBeside(p Place, levels []Level) []Finding {
	out := overruled(qwen(), p, levels, "mcpServers.iff", "mcp.toolIdleTimeoutMs", "$version")
	out = append(out, settingsBeside(p, levels, ".qwen/settings.json")...)
	for _, path := range []string{p.home(".qwen/settings.json"), p.dir(".qwen/settings.json")} {
		t, _ := glance(commented, path)
		var keys []string
		for _, key := range [][]string{{"tools", "discoveryCommand"}, {"tools", "callCommand"}, {"mcp", "serverCommand"}} {
			if v, ok := at(t, key...); ok && v != "" {
				keys = append(keys, byHandName(key))
			}
		}
		out = append(out, reopened(path, keys, "which starts a program that brings tools", "take that out of it")...)
	}
	return out
}

// settingsBeside says what settings of Qwen Code or Gemini CLI put in iff's place:
// those of the project win over the user's, and managed ones over both.
func settingsBeside(p Place, levels []Level, name string) []Finding {
	var out []Finding
	for _, f := range []struct {
		path  string
		level Level
	}{{p.home(name), User}, {p.dir(name), Project}} {
		if slices.Contains(levels, f.level) {
			continue
		}
		t, _ := glance(commented, f.path)
		weaker := managed(levels) || f.level == User
		out = append(out, reopened(f.path, otherIff(t, trustedServer(p), weaker, "mcpServers", "iff"), anotherIff, "take that out of it")...)
	}
	return out
}

// opencodeOther are the keys of a file beside the closure that change what iff is, or
// which agent is run.
func opencodeOther(p Place, path string, t tree, levels []Level) []string {
	wins := !managed(levels) && (filepath.Base(filepath.Dir(path)) == ".opencode" || !slices.Contains(levels, Project))
	out := otherIff(t, opencodeServer(p), !wins, "mcp", "iff")
	if _, ok := at(t, "default_agent"); ok && wins {
		out = append(out, "default_agent")
	}
	return out
}
