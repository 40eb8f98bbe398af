package tool

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Path is where programs are looked for, and the PATH of those that are run.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// program is what to run.
type program struct {
	path string
	args []string
	env  []string
	dir  string
}

// newProgram looks a command up. Its variables are those given, and PATH, HOME and
// LANG where they are not.
func newProgram(command []string, dir string, given map[string]string) (program, error) {
	if len(command) == 0 || command[0] == "" {
		return program{}, fmt.Errorf("no command; name the program that is the server")
	}
	path, err := lookUp(command[0])
	if err != nil {
		return program{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	env := map[string]string{"PATH": Path, "HOME": home, "LANG": "C.UTF-8"}
	maps.Copy(env, given)
	p := program{path: path, args: command, dir: dir}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(env[name], "\x00") {
			return program{}, fmt.Errorf("variable %q: a name has no = and nothing holds a NUL", name)
		}
		p.env = append(p.env, name+"="+env[name])
	}
	return p, nil
}

// lookUp finds a program by its name in the fixed path.
func lookUp(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.Contains(name, "/") {
		return "", fmt.Errorf("the program %q is relative; write its path from the root", name)
	}
	for dir := range strings.SplitSeq(Path, ":") {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("the program %q is in none of %s; write its path from the root", name, Path)
}
