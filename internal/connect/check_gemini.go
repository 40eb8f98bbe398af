package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func geminiOpen(p Place, levels []Level) []Finding {
	out := []Finding{always("Gemini CLI"), {"open", "a policy file that is no TOML is ignored: it is open then", "iff guards the file; iff doctor reads it again"}}
	out = append(out, geminiPolicies(p, levels)...)
	out = append(out, overruled(gemini(), p, levels, "mcpServers.iff", "tools.core")...)
	out = append(out, settingsBeside(p, levels, ".gemini/settings.json")...)
	if !managed(levels) {
		out = append(out, Finding{"open", "who may write " + p.dir(".gemini/settings.json") + " can start tool servers and hooks, and a discovery command, and name other policies", "iff guards the file; as root, iff connect --level managed keeps it closed whatever it says"})
		out = append(out, geminiElsewhere(p)...)
	}
	for _, path := range there(p.dir(".gemini/extensions"), p.home(".gemini/extensions")) {
		out = append(out, Finding{"open", path + " holds extensions, which may bring tool servers", "remove what you do not know"})
	}
	return out
}

// geminiElsewhere says what settings hold that connecting does not edit.
func geminiElsewhere(p Place) []Finding {
	var out []Finding
	for _, path := range []string{p.home(".gemini/settings.json"), p.dir(".gemini/settings.json")} {
		t, _ := glance(commented, path)
		if have := items(t, "policyPaths"); len(have) > 0 && !slices.Contains(have, p.home(".gemini/policies")) {
			out = append(out, Finding{"no", path + " names policies (policyPaths), which are read in place of iff's", "take policyPaths out of it, or add " + p.home(".gemini/policies")})
		}
		for _, name := range rivals(members(t, "mcpServers"), "iff_") {
			if !slices.Contains(items(t, "mcp", "excluded"), name) {
				out = append(out, Finding{"no", path + " has the tool server " + quote(name) + ", whose tools are named as if they were iff's", "give it another name"})
			}
		}
	}
	return out
}

// geminiPolicies says which other policies allow a tool with more weight than iff's
// policy denies it. A managed one outweighs all of the user's.
func geminiPolicies(p Place, levels []Level) []Finding {
	paths := []string{p.home(".gemini/policies")}
	for _, file := range []string{p.home(".gemini/settings.json"), p.dir(".gemini/settings.json")} {
		t, _ := glance(commented, file)
		paths = append(paths, items(t, "policyPaths")...)
	}
	switch {
	case managed(levels):
		paths = []string{p.etc("gemini-cli/policies")}
	case !slices.Contains(levels, User): // tools.core of the project holds whatever they say
		return nil
	}
	seen := map[string]bool{}
	var out []Finding
	for _, path := range paths {
		files, _ := filepath.Glob(filepath.Join(path, "*.toml"))
		if info, err := os.Stat(path); err == nil && !info.IsDir() { // policyPaths may name one
			files = []string{path}
		}
		for _, file := range files {
			if seen[file] {
				continue
			}
			seen[file] = true
			tools, err := geminiAllows(file)
			if err != nil {
				out = append(out, Finding{"open", file + " cannot be read here: " + err.Error(), "mend it, or remove it"})
			}
			if len(tools) > 0 {
				out = append(out, Finding{"no", fmt.Sprintf("%s allows %s with a priority of %d or more, which opens it wherever settings of the project do not close it", file, strings.Join(tools, ", "), geminiDeny), fmt.Sprintf("take the rule out, or give it a priority below %d", geminiDeny)})
			}
		}
	}
	return out
}

// geminiAllows are the tools that the rules of a policy do not deny, and that outweigh
// iff's denial.
func geminiAllows(file string) ([]string, error) {
	t, err := glance(tomlFormat{}, file)
	rules, _ := t["rule"].([]any)
	var out []string
	for _, r := range rules {
		rule, _ := r.(tree)
		text, _ := rule["priority"].(number)
		priority, err := strconv.ParseFloat(string(text), 64)
		if rule["decision"] == "deny" || rule["mcpName"] == "iff" || err == nil && priority < geminiDeny || text == "" {
			continue
		}
		out = append(out, strings.Trim(fmt.Sprint(rule["toolName"]), "[]"))
	}
	return out, err
}
