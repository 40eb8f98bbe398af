package connect

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Over is what a proof was made over: the configuration files that the agent went
// by. What is proved holds for no others.
type Over struct {
	Files []Seen   `json:"files"`           // in the order of their paths
	Moved []string `json:"moved,omitempty"` // variables that name another place for what the agent has below the home directory: NAME=/dir
}

// Seen is a file as it was.
type Seen struct {
	Path   string `json:"path"`
	Digest string `json:"digest"` // of its bytes, or of the members that count where the agent itself rewrites the file
}

// Look is what a proof of an agent made now would be made over: the files of
// the project, of the user and of the machine that configure it, but for skills and
// what the agent is only told. env is the user's, as os.Environ has it, or Moved. The
// error names what cannot be read, or is too much.
func Look(a Agent, p Place, env []string) (*Over, error) {
	out, w := &Over{Files: []Seen{}}, &watcher{seen: map[string]string{}, states: liveAgents()[a.Name].state}
	files := slices.DeleteFunc(ControlFiles(a.Name, p), func(f ControlFile) bool {
		return slices.Contains(told, filepath.Base(f.Path)) || below(f.Path, p.home(".codex/skills")) && !below(f.Path, p.Dir)
	})
	values := variables(env)
	for _, s := range w.states {
		dir := values[s.named]
		if !filepath.IsAbs(dir) {
			continue
		}
		if v := s.named + "=" + dir; !slices.Contains(out.Moved, v) {
			out.Moved = append(out.Moved, v)
		}
		files = append(files, s.moved(p, dir, files)...)
	}
	for _, f := range append(files, besides(a, p)...) {
		if err := w.control(f); err != nil {
			return nil, err
		}
	}
	for path, digest := range w.seen {
		if digest != "" {
			out.Files = append(out.Files, Seen{path, digest})
		}
	}
	slices.SortFunc(out.Files, func(a, b Seen) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// told is what an agent is only told, which changes no tool.
var told = strings.Fields(".agents skill skills AGENTS.md CLAUDE.md QWEN.md GEMINI.md prompts")

// besides are the files that no list of control files has: those of the directories
// above the project, and the machine's.
func besides(a Agent, p Place) []ControlFile {
	out := whole(a.ManagedDir(p))
	switch a.Name {
	case "opencode":
		out = append(out, whole(append(opencodeReads(p), under(above(p.Dir), ".opencode")...)...)...)
	case "codex":
		out = append(out, whole(codexAbove(p)...)...)
	}
	return out
}

// moved are the control files that lie where a variable has put them.
func (s liveState) moved(p Place, dir string, files []ControlFile) []ControlFile {
	var out []ControlFile
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Path, p.home(s.from)+"/")
		first, _, _ := strings.Cut(rest, "/")
		if ok && named(s.names, first) {
			out = append(out, ControlFile{Path: filepath.Join(dir, s.under, rest), Keys: f.Keys})
		}
	}
	return out
}

// watcher reads files within bounds.
type watcher struct {
	seen         map[string]string // digests, by path; empty where nothing counts
	states       []liveState
	bytes, files int
}

// control takes in a control file. Of a directory of the agent's own, where it keeps
// more than configuration, it is what the agent is known to read.
func (w *watcher) control(f ControlFile) error {
	entries, err := os.ReadDir(f.Path)
	if err != nil || !slices.Contains([]string{".opencode", ".claude", ".codex", ".qwen", ".gemini"}, filepath.Base(f.Path)) {
		return w.take(f.Path, f.Keys, 0)
	}
	for _, e := range entries {
		name := e.Name()
		reads := slices.ContainsFunc(w.states, func(s liveState) bool { return named(s.names, name) })
		if !reads || slices.Contains(told, name) || name == "package.json" || name == "package-lock.json" {
			continue
		}
		if err := w.take(filepath.Join(f.Path, name), nil, 0); err != nil {
			return err
		}
	}
	return nil
}

// take takes in a file, or all that a directory holds. Links are followed, as the
// agent does.
func (w *watcher) take(path string, keys []string, depth int) error {
	if _, again := w.seen[path]; again {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case absent(err):
		return nil
	case err != nil:
		return err
	case !info.IsDir() && !info.Mode().IsRegular():
		w.seen[path] = info.Mode().Type().String()
		return nil
	}
	w.files++ // directories too
	if w.bytes += int(min(info.Size(), copyBytes)); w.files > copyFiles || w.bytes > copyBytes {
		return fmt.Errorf("%s: the agent's configuration has more than %d files or %d MiB", path, copyFiles, copyBytes>>20)
	}
	if info.IsDir() {
		return w.below(path, depth)
	}
	data, err := readFile(path)
	if err == nil {
		w.seen[path] = digestOf(path, data, keys)
	}
	return err
}

func (w *watcher) below(dir string, depth int) error {
	if depth == copyDepth {
		return fmt.Errorf("%s: deeper than %d directories", dir, copyDepth)
	}
	entries, err := os.ReadDir(dir)
	for i := 0; i < len(entries) && err == nil; i++ {
		err = w.take(filepath.Join(dir, entries[i].Name()), nil, depth+1)
	}
	return err
}

// digestOf is the digest of a file, or of its members that count; empty if it has
// none. One that cannot be read as what it is counts whole.
func digestOf(path string, data []byte, keys []string) string {
	f := map[string]format{".json": everything, ".jsonc": everything, ".toml": tomlFormat{}}[filepath.Ext(path)]
	if f == nil {
		return digest(data)
	}
	text, _ := cutMark(string(data))
	t, err := f.parse(text)
	switch {
	case err == nil && len(t) == 0: // agents make such files, which say nothing
		return ""
	case err != nil, len(keys) == 0:
		return digest(data)
	}
	counted := tree{}
	for _, key := range keys {
		names := []string{key}
		if rest, ok := strings.CutPrefix(key, "/"); ok {
			names = strings.Split(rest, "/")
			for i, name := range names {
				names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
			}
		}
		if v, ok := at(t, names...); ok {
			counted[key] = v
		}
	}
	if len(counted) == 0 {
		return ""
	}
	return digest(fmt.Appendf(nil, "%#v", counted)) // maps are printed in the order of their keys
}

// Since says what is another now than it was: each a path, and what became of it.
func (o *Over) Since(now *Over) []string {
	then, out := map[string]string{}, []string{}
	for _, f := range o.Files {
		then[f.Path] = f.Digest
	}
	for _, f := range now.Files {
		was, known := then[f.Path]
		switch delete(then, f.Path); {
		case !known:
			out = append(out, f.Path+" is new")
		case was != f.Digest:
			out = append(out, f.Path+" has changed")
		}
	}
	for path := range then {
		out = append(out, path+" is gone, or says nothing any more")
	}
	slices.Sort(out)
	return out
}

// Stale says why what running the agent has proved no longer holds, and nothing
// while it does: the files that it was proved over have to be as they were.
func (r Record) Stale() []string {
	if r.Over == nil {
		return []string{"it is not known over which files it was made"}
	}
	a, ok := Find(r.Agent)
	if !ok {
		return []string{"this version does not know the agent"}
	}
	now, err := Look(a, r.Place(), r.Over.Moved)
	if err != nil {
		return []string{err.Error()}
	}
	return r.Over.Since(now)
}
