package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/skill"
)

// SkillsCorpus is the corpus under which files of loaded skills are named that
// lie in no corpus: iff-skills:<skill>/<path>. No real corpus may have the name.
const SkillsCorpus = "iff-skills"

// guard knows the files of skills by path and by inode, and the control files of
// agents by pattern (paper G12; DESIGN section 4, Mutation). A skill that was
// refused is guarded like one that was loaded: the next bootstrap looks at both.
//
// A call is guarded by any of these routes, on the target, on what a link on its
// way leads to, or, where the target is a directory, on anything below:
//
//	path     the target lies in the directory of a skill, or is a control file
//	link     only what links lead to does
//	case     it differs from such a path in case, width or normalisation alone
//	inode    it is the same file, or lies in the same directory, under another name:
//	         a hard link or a bind mount
//	target   a control file is a link that leads to it, or to a directory above it
//	parent   it is a directory that holds such an object, or that would hold a
//	         control file where it is renamed to
//	spelling its text is refused, and leads there all the same
//
// What cannot be looked at is taken as guarded. What lies on the way from the root
// of a corpus, or where a link leads out of it, is looked at for each call. The root
// itself and what is above it are looked at by each barrier: corpora do not overlap,
// which package home sees to, and a call that moves a skill, or what holds one, is
// guarded itself.
type guard struct {
	roots   []guardedRoot // of corpora
	skills  []guardedSkill
	inodes  map[inode]int   // of skills' files and directories
	files   corpus.Patterns // control files
	folded  corpus.Patterns // the same, folded
	links   atomic.Pointer[links]
	heights atomic.Pointer[map[string][]sight] // by root; nil before the first barrier
}

type guardedRoot struct{ corpus, dir, folded string }

type guardedSkill struct {
	name, subject string
	dir, folded   string            // without links
	files         map[string]string // paths below it, by what they fold to
}

func newGuard(p Parts) (*guard, error) {
	g, err := rootsOf(p.Corpora, p.ControlFiles)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Directories)) {
		dir := p.Directories[name]
		k, loaded := p.Skills.Skill(name)
		if name == skill.BaseName || dir == "" {
			continue
		}
		subject := ""
		if loaded {
			subject = k.Subject.String()
		}
		real := g.add(name, subject, dir)
		if err := g.remember(real, len(g.skills)-1); err != nil && loaded {
			return nil, fmt.Errorf("guard skill %s: %w", name, err)
		}
	}
	return g, nil
}

func rootsOf(corpora []Corpus, files corpus.Patterns) (*guard, error) {
	g := &guard{inodes: make(map[inode]int), files: files}
	for _, c := range corpora {
		if c.isControl() {
			continue
		}
		if c.Name == SkillsCorpus || c.Name == ControlCorpus {
			return nil, fmt.Errorf("corpus %s: the name is taken for what lies outside of every corpus; choose another", c.Name)
		}
		g.roots = append(g.roots, guardedRoot{c.Name, c.Dir, fold(c.Dir)})
	}
	slices.SortFunc(g.roots, func(a, b guardedRoot) int { return cmp.Compare(a.corpus, b.corpus) })
	var folded []string
	for _, text := range files.Strings() {
		folded = append(folded, fold(text))
	}
	var err error
	if g.folded, err = corpus.ParsePatterns(folded); err != nil {
		return nil, fmt.Errorf("control files, in lower case: %w", err)
	}
	return g, nil
}

// add notes the directory of a skill, and where links lead from it, which it
// returns.
func (g *guard) add(name, subject, dir string) (real string) {
	dir = filepath.Clean(dir)
	if real = follow("/", dir); real != dir {
		g.add(name, subject, real)
	}
	g.skills = append(g.skills, guardedSkill{name, subject, dir, fold(dir), make(map[string]string)})
	return real
}

// GuardOf says of an object whether it is guarded by its path: for verdicts,
// where nothing can be looked at any more. dirs are the directories of skills,
// by name.
func GuardOf(corpora []Corpus, files corpus.Patterns, dirs map[string]string) (func(corpus.Object) bool, error) {
	g, err := rootsOf(corpora, files)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		g.add(name, "", dirs[name])
	}
	return g.guards, nil
}

// remember notes the inodes and the names of a skill.
func (g *guard) remember(dir string, at int) error {
	n, k := 0, g.skills[at]
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if n++; n > maxBelow {
			return errTooMany
		}
		if err != nil {
			return err
		}
		if s := look(path); s.there {
			g.inodes[s.inode] = at
		}
		if rel, ok := below(dir, path); ok {
			k.files[fold(rel)] = rel
		}
		return nil
	})
}

// maxBelow bounds how much of a directory is looked through: more than any call
// may change at once.
const maxBelow = 20_000

var errTooMany = errors.New("it holds too much to be looked through")

// Find implements [gate.Guard].
func (g *guard) Find(objects []corpus.Object) (gate.Guarded, bool) {
	for _, o := range objects {
		root, ok := g.root(o.Corpus())
		if !ok {
			continue
		}
		path, w := filepath.Join(root, o.Path()), g.way(root, o.Path())
		low := fold(path)
		if found, ok := g.at(path, low, w); ok {
			if found.Route != "link" {
				found.Object = o
			}
			return found, true
		}
		if found, ok := g.below(o, path, low, w, objects); ok {
			return found, true
		}
		if strings.ContainsAny(o.Path(), `%\`) { // odd enough for somebody to read it in another way
			if found, ok := g.spellings(root, o.Path()); ok {
				found.Object = o
				return found, true
			}
		}
	}
	return gate.Guarded{}, false
}

// way is where a text leads from the root of a corpus.
func (g *guard) way(root, text string) way {
	w := trail(root, text)
	if h := g.heights.Load(); h != nil {
		w.root, w.height = root, (*h)[root]
	}
	return w
}

// seeHeights looks at the roots of the corpora and at what is above them.
func (g *guard) seeHeights() {
	next := make(map[string][]sight, len(g.roots))
	for _, r := range g.roots {
		for p := range above(r.dir) {
			next[r.dir] = append(next[r.dir], look(p))
		}
	}
	g.heights.Store(&next)
}

// at says whether a path, which folds to low, or what links on it lead to, is
// guarded.
func (g *guard) at(path, low string, w way) (gate.Guarded, bool) {
	real := w.end
	if found, ok := g.named(path, low, "path"); ok {
		return found, true
	}
	if real != path {
		if found, ok := g.named(real, fold(real), "link"); ok {
			return found, true
		}
	}
	if found, ok := g.aliased(w); ok {
		return found, true
	}
	if found, ok := g.led(path); ok || real == path {
		return found, ok
	}
	return g.led(real)
}

// aliased says whether the end of a way is, or lies in, a file or directory of a
// skill by another name.
func (g *guard) aliased(w way) (gate.Guarded, bool) {
	if len(g.inodes) == 0 {
		return gate.Guarded{}, false
	}
	for s := range w.sights() {
		if at, ok := g.inodes[s.inode]; ok && s.there {
			return g.found(g.skills[at], w.end, "inode"), true
		}
	}
	return gate.Guarded{}, false
}

// named says whether a path, which folds to low, is guarded by its text alone.
func (g *guard) named(path, low, route string) (gate.Guarded, bool) {
	for _, k := range g.skills {
		switch {
		case inside(k.dir, path):
			return g.found(k, path, route), true
		case inside(k.folded, low):
			return g.found(k, k.plainly(path, low), "case"), true
		}
	}
	for _, r := range g.roots {
		rel, exact := below(r.dir, path)
		switch lowRel, ok := below(r.folded, low); {
		case !ok || !g.folded.Match(lowRel): // whatever matches otherwise does so folded
		case exact && g.files.Match(rel):
			return gate.Guarded{Name: rel, Object: corpus.Name(r.corpus, rel), Route: route}, true
		default:
			if rel = plainly(rel); !exact {
				rel = lowRel
			}
			return gate.Guarded{Name: rel, Object: corpus.Name(r.corpus, rel), Route: "case"}, true
		}
	}
	return gate.Guarded{}, false
}

// plainly is the file of the skill that a path means which folds to low.
func (k guardedSkill) plainly(path, low string) string {
	rel, _ := below(k.folded, low)
	if name, ok := k.files[rel]; ok {
		return filepath.Join(k.dir, name)
	}
	return plainly(path)
}

// found is what was found of a skill at a path: an object of a corpus, or where
// it lies in none, a file of the skill.
func (g *guard) found(k guardedSkill, path, route string) gate.Guarded {
	out := gate.Guarded{Name: k.name, Subject: k.subject, Route: route}
	for _, r := range g.roots {
		if rel, ok := below(r.dir, path); ok {
			out.Object = corpus.Name(r.corpus, rel)
			return out
		}
	}
	rel, ok := below(k.dir, path)
	if !ok {
		rel = "."
	}
	out.Object = corpus.Name(SkillsCorpus, filepath.Join(k.name, rel))
	return out
}

// below says whether a directory holds something guarded, or would where it is
// to be renamed to.
func (g *guard) below(o corpus.Object, path, low string, w way, all []corpus.Object) (found gate.Guarded, is bool) {
	for _, k := range g.skills {
		if inside(path, k.dir) || inside(low, k.folded) {
			return gate.Guarded{Name: k.name, Subject: k.subject, Object: o, Route: "parent"}, true
		}
	}
	if found, ok := g.holds(low); ok {
		found.Object, found.Route = o, "parent"
		return found, true
	}
	if !w.lies(path).dir {
		return found, false
	}
	n := 0
	err := filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error {
		if n++; err != nil || n > maxBelow {
			found, is = gate.Guarded{Name: o.Path(), Object: o}, true
		} else {
			found, is = g.entry(o, path, p, all)
		}
		if is {
			found.Object, found.Route = o, "parent"
			return filepath.SkipAll
		}
		return nil
	})
	return found, is || err != nil
}

// entry says whether p, which lies below the directory of o, is guarded there or
// below another object of the call.
func (g *guard) entry(o corpus.Object, dir, p string, all []corpus.Object) (gate.Guarded, bool) {
	if len(g.inodes) > 0 {
		s := look(p)
		if at, ok := g.inodes[s.inode]; ok && s.there {
			return gate.Guarded{Name: g.skills[at].name, Subject: g.skills[at].subject}, true
		}
	}
	rel, err := filepath.Rel(dir, p)
	if err != nil {
		return gate.Guarded{Name: o.Path()}, true
	}
	for _, other := range all {
		at := filepath.Join(other.Path(), rel)
		if g.folded.Names(fold(at)) { // the directories above were looked at before
			return gate.Guarded{Name: at}, true
		}
		if root, ok := g.root(other.Corpus()); ok {
			if found, ok := g.led(filepath.Join(root, at)); ok {
				return found, true
			}
		}
	}
	return gate.Guarded{}, false
}

// guards says whether an object of a corpus is guarded by its path alone, for
// verdicts, where nothing can be looked at any more.
func (g *guard) guards(o corpus.Object) bool {
	if o.Corpus() == ControlCorpus {
		return true
	}
	for _, r := range g.roots {
		if r.corpus == o.Corpus() {
			path := filepath.Join(r.dir, o.Path())
			_, ok := g.named(path, fold(path), "path")
			return ok
		}
	}
	return false
}
