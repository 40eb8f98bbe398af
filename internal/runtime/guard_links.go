package runtime

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// links are where links of the corpora lead: a file that lies at the end of
// AGENTS.md, or below the end of .claude, controls agents as if it lay there. It
// does not change; a barrier that sees other links makes a new one.
type links struct {
	known  map[string]bool     // links, by path
	to     map[string][]string // links, by what they lead to or by way of, folded
	inodes map[inode][]string  // links that are control files, by what is there
}

// maxWalked bounds how many objects of a corpus are looked at for links.
const maxWalked = 4 << 20

// seeLinks looks for links that were made, changed or removed since before; nil
// has seen none. What a corpus leaves out is looked at the first time only. No
// call makes links.
func (g *guard) seeLinks(before, now map[string]*corpus.Snapshot) error {
	was := g.links.Load()
	next := &links{known: make(map[string]bool)}
	changed := was == nil
	if was != nil {
		for p := range was.known {
			next.known[p] = true
		}
	}
	for _, r := range g.roots {
		if before[r.corpus] == nil || now[r.corpus] == nil {
			changed = true
			left := maxWalked
			if err := next.walk(r.dir, &left); err != nil {
				return err
			}
			continue
		}
		for _, c := range corpus.Diff(before[r.corpus], now[r.corpus]) {
			path := filepath.Join(r.dir, c.Object.Path())
			is := look(path).link
			if changed = changed || is || next.known[path]; is {
				next.known[path] = true
			}
		}
	}
	if changed {
		g.resolve(next)
		g.links.Store(next)
	}
	return nil
}

// walk notes the links below a directory, in which there may be left more objects.
// What cannot be listed leads nobody anywhere.
func (l *links) walk(dir string, left *int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	if *left -= len(entries); *left < 0 {
		return errTooMany
	}
	for _, e := range entries {
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			l.known[filepath.Join(dir, e.Name())] = true
		case e.IsDir():
			if err := l.walk(filepath.Join(dir, e.Name()), left); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve follows the links.
func (g *guard) resolve(l *links) {
	l.to, l.inodes = make(map[string][]string), make(map[inode][]string)
	for path := range l.known {
		if !look(path).link {
			delete(l.known, path)
			continue
		}
		w := trail("/", path)
		for _, p := range append(w.links, w.end) {
			if key := fold(p); p != path && !slices.Contains(l.to[key], path) {
				l.to[key] = append(l.to[key], path)
			}
		}
		if _, ok := g.controls(path); !ok {
			continue
		}
		if s := w.lies(w.end); s.there {
			l.inodes[s.inode] = append(l.inodes[s.inode], path)
		}
	}
}

// led says whether a path is a control file by way of a link that leads to it,
// or to a directory above it.
func (g *guard) led(path string) (gate.Guarded, bool) {
	l := g.links.Load()
	if l == nil || len(l.known) == 0 {
		return gate.Guarded{}, false
	}
	for p := range above(path) {
		rest, _ := below(p, path)
		froms := l.to[fold(p)]
		if s := l.look(p); s.there {
			froms = slices.Concat(froms, l.inodes[s.inode])
		}
		for _, from := range froms {
			name, ok := g.controls(filepath.Join(from, rest))
			if o := g.object(path); ok && o != "" {
				return gate.Guarded{Name: name, Object: o, Route: "target"}, true
			}
		}
	}
	return gate.Guarded{}, false
}

// look is look where it can tell something.
func (l *links) look(path string) sight {
	if len(l.inodes) == 0 {
		return sight{}
	}
	return look(path)
}

// holds says whether a directory, folded, holds what a link of a control file
// leads to.
func (g *guard) holds(low string) (gate.Guarded, bool) {
	l := g.links.Load()
	if l == nil || len(l.to) == 0 {
		return gate.Guarded{}, false
	}
	for to, froms := range l.to {
		if !inside(low, to) {
			continue
		}
		for _, from := range froms {
			if name, ok := g.controls(from); ok {
				return gate.Guarded{Name: name}, true
			}
		}
	}
	return gate.Guarded{}, false
}

// controls says whether a path is one of a control file, by its text alone.
func (g *guard) controls(path string) (string, bool) {
	low := fold(path)
	for _, r := range g.roots {
		if rel, ok := below(r.folded, low); ok && g.folded.Match(rel) {
			if plain, exact := below(r.dir, path); exact {
				rel = plain
			}
			return plainly(rel), true
		}
	}
	return "", false
}

// object is the object at a path; empty in no corpus.
func (g *guard) object(path string) corpus.Object {
	for _, r := range g.roots {
		if rel, ok := below(r.dir, path); ok {
			return corpus.Name(r.corpus, rel)
		}
	}
	return ""
}

// root is the directory of a corpus.
func (g *guard) root(name string) (string, bool) {
	i := slices.IndexFunc(g.roots, func(r guardedRoot) bool { return r.corpus == name })
	if i < 0 {
		return "", false
	}
	return g.roots[i].dir, true
}
