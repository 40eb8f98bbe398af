package connect

import "path/filepath"

// Level is how strong a closure is: where its files lie, and who may change them.
type Level string

// The levels, weakest first. Project and user together are what holds without
// root, since with opencode and codex the project's files win.
const (
	Project Level = "project" // files in the directory that is worked in
	User    Level = "user"    // files below the user's home directory
	Managed Level = "managed" // files of the machine's administrator, in /etc
)

// Place says where an agent is connected. All paths are absolute.
type Place struct {
	Home    string // the user's home directory
	Dir     string // the project: the directory that the agent works in
	Etc     string // the machine's configuration; empty means /etc
	Iff     string // the program iff, as agents start it
	IffHome string // iff's home, if it is not .iff in the user's home directory; else empty
}

// Command is how an agent starts iff.
func (p Place) Command() []string { return append([]string{p.Iff}, p.Args()...) }

// Args are the arguments of that command.
func (p Place) Args() []string {
	if p.IffHome == "" {
		return []string{"mcp"}
	}
	return []string{"mcp", "--home", p.IffHome}
}

func (p Place) home(path string) string { return filepath.Join(p.Home, path) }
func (p Place) dir(path string) string  { return filepath.Join(p.Dir, path) }

func (p Place) etc(path string) string {
	if p.Etc == "" {
		return filepath.Join("/etc", path)
	}
	return filepath.Join(p.Etc, path)
}
