package runtime

import (
	"path/filepath"
	"slices"

	"github.com/iff-run/iff/corpus"
)

// Tells implements [gate.Guard]. Whoever reads a file of a skill, under whatever
// name, is told what the skill says.
func (g *guard) Tells(objects []corpus.Object) []string {
	var out []string
	tell := func(k guardedSkill) {
		if !slices.Contains(out, k.subject) {
			out = append(out, k.subject)
		}
	}
	for _, o := range objects {
		root, ok := g.root(o.Corpus())
		if !ok {
			continue
		}
		path, w := filepath.Join(root, o.Path()), g.way(root, o.Path())
		real := w.end
		lowPath := fold(path)
		lowReal := lowPath
		if real != path {
			lowReal = fold(real)
		}
		for _, k := range g.skills {
			if inside(k.dir, path) || inside(k.dir, real) || inside(k.folded, lowPath) || inside(k.folded, lowReal) {
				tell(k)
			}
		}
		for s := range w.sights() {
			if at, ok := g.inodes[s.inode]; ok && s.there {
				tell(g.skills[at])
			}
		}
	}
	return out
}
