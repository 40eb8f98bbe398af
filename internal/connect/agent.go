package connect

import (
	"os"
	"slices"
	"strings"
)

// Agent is a coding agent that can be connected: what it is called, which files
// it goes by, and what of it stays open when it is closed.
type Agent struct {
	Name    string // as in iff connect NAME
	Title   string // for people
	Program string // as it is found on PATH

	targets func(Place, Level) []target
	skills  func(Place) []string
	control func(Place) []ControlFile
	open    func(Place, []Level) []Finding
}

// target is a file of an agent, and what it has to say.
type target struct {
	path   string
	format format
	ops    func(tree) []op // for what the file says now
	whole  string          // of a file that is iff's alone; then there are no ops
}

// Agents are all agents, in the order of the help text.
func Agents() []Agent {
	return []Agent{opencode(), claude(), codex(), qwen(), gemini()}
}

// Find is the agent of a name.
func Find(name string) (Agent, bool) {
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// SkillDirs are the directories in which the agent looks for skills, those of the
// project first. They need not be there.
func (a Agent) SkillDirs(p Place) []string { return a.skills(p) }

// under joins every name to every directory.
func under(dirs []string, names ...string) []string {
	var out []string
	for _, d := range dirs {
		for _, n := range names {
			out = append(out, d+"/"+n)
		}
	}
	return out
}

// allThere are those of some paths at which there is something, or else the first.
func allThere(paths ...string) []string {
	var out []string
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return paths[:1]
	}
	return out
}

// rivals are the servers other than iff whose tools have names, as the agent writes
// them, that begin like those of iff's tools.
func rivals(servers []string, prefix string) []string {
	var out []string
	for _, name := range servers {
		if strings.HasPrefix(plainName(name), prefix) {
			out = append(out, name)
		}
	}
	return out
}

const hour = 3600 // seconds: how long a call may wait for a person
