package connect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// Strongest are the levels that close an agent best of those that may be written
// here. Managed, where its files may be: with those of the user and of the project
// only where they would open the agent all the same. Else user and project.
func (a Agent) Strongest(p Place) []Level {
	if !a.manageable(p) {
		return []Level{User, Project}
	}
	if slices.ContainsFunc(a.open(p, []Level{Managed}), func(f Finding) bool { return f.Status == "no" }) {
		return []Level{Managed, User, Project}
	}
	return []Level{Managed}
}

// ManagedDir is where the agent looks for what the machine's administrator says.
func (a Agent) ManagedDir(p Place) string { return filepath.Dir(a.targets(p, Managed)[0].path) }

// manageable says whether the managed files may be written. Only on Linux is it
// known that the agents read them in /etc.
func (a Agent) manageable(p Place) bool {
	if p.Etc == "" && runtime.GOOS != "linux" {
		return false
	}
	return !slices.ContainsFunc(a.targets(p, Managed), func(t target) bool {
		return below(t.path, a.ManagedDir(p)) && !writable(filepath.Dir(t.path))
	})
}

// writable says whether files can be put into a directory, or it can be made.
func writable(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil:
			return info.IsDir() && mayWrite(dir)
		case !absent(err) || dir == filepath.Dir(dir):
			return false
		}
	}
}

// absent says that nothing is at a path, or that what is above it is no directory.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
