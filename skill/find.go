package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/iff-run/iff/internal/beneath"
	"github.com/iff-run/iff/manifest"
)

const (
	findDepth       = 6
	findDirectories = 20_000
)

// Find returns the skill directories at or below a path, sorted: the path
// itself if it holds a SKILL.md, else every directory below it that does,
// within six levels. It does not descend into skills, .git and node_modules,
// and follows a link only where the path itself or a direct child of it is
// one, because that is how people install skills. A path that is neither a
// skill nor contains one is returned as it is, so that reading it says why.
func Find(root string) ([]string, error) {
	real, err := resolve(root)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &ReadError{Reason: Reason(beneath.NotFound), File: root, Detail: "there is no such directory", Err: err}
		}
		return nil, &ReadError{Reason: Unreadable, File: root, Detail: err.Error(), Err: err}
	}
	f := &finder{seen: make(map[string]bool)}
	if err := f.visit(real, 0); err != nil {
		return nil, err
	}
	if len(f.found) == 0 {
		return []string{real}, nil
	}
	slices.Sort(f.found)
	return f.found, nil
}

func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

type finder struct {
	found []string
	seen  map[string]bool
	dirs  int
}

func (f *finder) visit(dir string, depth int) error {
	if f.seen[dir] {
		return nil
	}
	f.seen[dir] = true
	if f.dirs++; f.dirs > findDirectories {
		return &ReadError{Reason: TooManyFiles, File: dir, Detail: fmt.Sprintf("more than %d directories to search; name a smaller folder", findDirectories)}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			return &ReadError{Reason: Reason(beneath.NotADirectory), File: dir, Detail: "it is a file", Err: err}
		}
		return &ReadError{Reason: Unreadable, File: dir, Detail: err.Error(), Err: err}
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isSkillFile(e, depth) }) {
		f.found = append(f.found, dir)
		return nil
	}
	if depth == findDepth {
		return nil
	}
	for _, e := range entries {
		if err := f.child(dir, e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) child(dir string, e fs.DirEntry, depth int) error {
	if e.Name() == ".git" || e.Name() == "node_modules" {
		return nil
	}
	path := filepath.Join(dir, e.Name())
	if depth == 0 && e.Type()&fs.ModeSymlink != 0 {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil // a dangling link holds no skill
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			return nil
		}
		return f.visit(real, depth+1)
	}
	if !e.IsDir() {
		return nil
	}
	return f.visit(path, depth+1)
}

// isSkillFile: a manifest alone makes a skill only of the path that was named,
// so that a folder which contains a home does not take its base manifest in.
func isSkillFile(e fs.DirEntry, depth int) bool {
	return strings.EqualFold(e.Name(), "SKILL.md") || depth == 0 && e.Name() == manifest.FileName
}
