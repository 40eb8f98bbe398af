package runtime

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/skill"
)

// SkillsCorpus is the corpus under which files of loaded skills are named that
// lie in no corpus: iff-skills:<skill>/<path>. No real corpus may have the name.
const SkillsCorpus = "iff-skills"

// guard knows the files of loaded skills by path and by inode, and the control
// files of agents by pattern (paper G12; DESIGN section 4, Mutation).
//
// A call is guarded by any of these routes, on the target, on what a link above
// it leads to, or, where the target is a directory, on anything below:
//
//	path     the target lies in the directory of a loaded skill, or is a control file
//	link     only what links lead to does
//	inode    it is the same file, or lies in the same directory, under another name:
//	         a hard link or a bind mount
//	case     it differs in case alone from such a path
//	parent   it is a directory that holds such an object
//	spelling its text is refused, and leads there all the same
//
// What cannot be looked at is taken as guarded.
type guard struct {
	roots  map[string]string // directory of each corpus, without links
	skills []guardedSkill
	inodes map[inode]int // of skills' files and directories
	files  corpus.Patterns
}

type guardedSkill struct {
	name, subject string
	dir           string // without links
}

type inode struct{ dev, ino uint64 }

func newGuard(p Parts) (*guard, error) {
	g, err := rootsOf(p.Corpora, p.ControlFiles)
	if err != nil {
		return nil, err
	}
	for _, name := range p.Skills.Names() {
		dir := p.Directories[name]
		if name == skill.BaseName || dir == "" {
			continue
		}
		k, _ := p.Skills.Skill(name)
		g.skills = append(g.skills, guardedSkill{name, k.Subject.String(), dir})
		if err := g.remember(dir, len(g.skills)-1); err != nil {
			return nil, fmt.Errorf("guard skill %s: %w", name, err)
		}
	}
	return g, nil
}

func rootsOf(corpora []Corpus, files corpus.Patterns) (*guard, error) {
	g := &guard{roots: make(map[string]string), inodes: make(map[inode]int), files: files}
	for _, c := range corpora {
		if c.Name == SkillsCorpus {
			return nil, fmt.Errorf("corpus %s: the name is taken for skills outside of every corpus; choose another", c.Name)
		}
		g.roots[c.Name] = c.Dir
	}
	return g, nil
}

// GuardOf says of an object whether it is guarded by its path: for verdicts,
// where nothing can be looked at any more. dirs are the directories of skills,
// by name.
func GuardOf(corpora []Corpus, files corpus.Patterns, dirs map[string]string) (func(corpus.Object) bool, error) {
	g, err := rootsOf(corpora, files)
	if err != nil {
		return nil, err
	}
	for name, dir := range dirs {
		g.skills = append(g.skills, guardedSkill{name: name, dir: resolve(dir)})
	}
	return g.guards, nil
}

// remember notes the inodes of a skill.
func (g *guard) remember(dir string, at int) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if i, _, ok := look(path); ok {
			g.inodes[i] = at
		}
		return nil
	})
}

// look says which inode a path has, without following a link at its end, and
// whether it is a directory.
func look(path string) (i inode, dir bool, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return inode{}, false, false
	}
	return inode{uint64(st.Dev), uint64(st.Ino)}, uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR, true
}

// Find implements [gate.Guard].
func (g *guard) Find(objects []corpus.Object) (gate.Guarded, bool) {
	for _, o := range objects {
		root, ok := g.roots[o.Corpus()]
		if !ok {
			continue
		}
		if found, ok := g.at(o, filepath.Join(root, o.Path())); ok {
			return found, true
		}
		if g.files.Match(o.Path()) || g.files.Match(strings.ToLower(o.Path())) {
			return gate.Guarded{Name: o.Path(), Object: o, Route: "path"}, true
		}
		if found, ok := g.below(o, filepath.Join(root, o.Path())); ok {
			return found, true
		}
	}
	return gate.Guarded{}, false
}

// at says whether a path is in a loaded skill.
func (g *guard) at(o corpus.Object, path string) (gate.Guarded, bool) {
	real := resolve(path)
	for _, k := range g.skills {
		switch {
		case inside(k.dir, path):
			return k.as(o, "path"), true
		case inside(k.dir, real):
			return k.as(o, "link"), true
		case inside(strings.ToLower(k.dir), strings.ToLower(path)), inside(strings.ToLower(k.dir), strings.ToLower(real)):
			return k.as(o, "case"), true
		}
	}
	for p := real; ; p = filepath.Dir(p) {
		if i, _, ok := look(p); ok {
			if at, ok := g.inodes[i]; ok {
				return g.skills[at].as(o, "inode"), true
			}
		}
		if p == filepath.Dir(p) {
			return gate.Guarded{}, false
		}
	}
}

func (k guardedSkill) as(o corpus.Object, route string) gate.Guarded {
	return gate.Guarded{Name: k.name, Subject: k.subject, Object: o, Route: route}
}

// inside says whether a path is a directory or lies below it.
func inside(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// resolve follows the links of a path as far as it exists.
func resolve(path string) string {
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if p == filepath.Dir(p) {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// maxBelow bounds how much of a directory is looked through: more than any call
// may change at once.
const maxBelow = 20_000

// below says whether a directory holds something guarded.
func (g *guard) below(o corpus.Object, path string) (found gate.Guarded, is bool) {
	if _, dir, ok := look(path); !ok || !dir {
		return found, false
	}
	n := 0
	root := g.roots[o.Corpus()]
	err := filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error {
		if n++; err != nil || n > maxBelow {
			found, is = gate.Guarded{Name: o.Path(), Object: o, Route: "parent"}, true
			return filepath.SkipAll
		}
		if i, _, ok := look(p); ok {
			if at, ok := g.inodes[i]; ok {
				found, is = g.skills[at].as(o, "parent"), true
				return filepath.SkipAll
			}
		}
		if rel, err := filepath.Rel(root, p); err == nil && g.files.Match(rel) {
			found, is = gate.Guarded{Name: rel, Object: o, Route: "parent"}, true
			return filepath.SkipAll
		}
		return nil
	})
	return found, is || err != nil
}

// FindSpelling implements [gate.Guard]. It reads the text as a careless program
// would, in every way that we know of.
func (g *guard) FindSpelling(_ capability.Capability, target string) (gate.Guarded, bool) {
	if len(target) > capability.MaxPath*2 || strings.ContainsRune(target, 0) {
		target, _, _ = strings.Cut(target, "\x00")
		target = target[:min(len(target), capability.MaxPath*2)]
	}
	name, text, prefixed := strings.Cut(target, ":")
	root, known := g.roots[name]
	if !prefixed || !known {
		root, text = g.roots[capability.DefaultCorpus], target
	}
	for _, spelled := range []string{text, unescaped(text), strings.TrimRight(text, ". "), strings.ReplaceAll(text, `\`, "/")} {
		for _, path := range []string{filepath.Join(root, spelled), filepath.Clean("/" + spelled)} {
			if found, ok := g.at("", path); ok {
				found.Object, found.Route = g.object(path, found), "spelling"
				return found, true
			}
		}
	}
	return gate.Guarded{}, false
}

// unescaped takes percent escapes out of a text; those that are none stay.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		var c byte
		if s[i] == '%' && i+2 < len(s) {
			if n, err := fmt.Sscanf(s[i+1:i+3], "%02x", &c); n == 1 && err == nil {
				b.WriteByte(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// object names what a path leads to: in its corpus, or as a file of its skill.
func (g *guard) object(path string, found gate.Guarded) corpus.Object {
	real := resolve(path)
	for name, root := range g.roots {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return corpus.Name(name, rel)
		}
	}
	rel := "."
	for _, k := range g.skills {
		if k.name == found.Name {
			if r, err := filepath.Rel(k.dir, real); err == nil && filepath.IsLocal(r) {
				rel = r
			}
		}
	}
	return corpus.Name(SkillsCorpus, filepath.Join(found.Name, rel))
}

// guards says whether an object of a corpus is guarded by its path alone, for
// verdicts, where nothing can be looked at any more.
func (g *guard) guards(o corpus.Object) bool {
	root, ok := g.roots[o.Corpus()]
	if !ok {
		return false
	}
	if g.files.Match(o.Path()) {
		return true
	}
	for _, k := range g.skills {
		if inside(k.dir, filepath.Join(root, o.Path())) {
			return true
		}
	}
	return false
}
