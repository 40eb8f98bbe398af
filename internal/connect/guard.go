package connect

import (
	"path/filepath"
	"slices"
	"strings"
)

const (
	configName = "iff.toml"
	maxEntry   = 400 // bytes; a line of iff.toml has at most 512
)

func (f File) isGuard() bool {
	return filepath.Base(f.Path) == configName && f.Format == "toml" && !slices.ContainsFunc(f.Edits, func(e edit) bool {
		return !slices.Equal(e.Path, []string{"guard", "home"})
	})
}

// Watch adds to a plan that iff.toml, of the home at a directory, names the agent's
// control files outside of the project, so that a change of them is found. Doing it
// again reads iff.toml anew.
func (p *Plan) Watch(home string) error {
	path := filepath.Join(home, configName)
	p.Guard, p.Changes = nil, slices.DeleteFunc(p.Changes, func(c *Change) bool { return c.Path == path })
	for _, f := range ControlFiles(p.Agent.Name, p.Place) {
		if below(f.Path, p.Place.Dir) || strings.Contains(f.Path, "#") {
			continue
		}
		text := f.Path
		if rest, ok := strings.CutPrefix(f.Path, p.Place.Home+"/"); ok {
			text = "~/" + rest
		}
		for i, key := range f.Keys {
			if len(text)+len(key) < maxEntry { // a longer one, of a project with a long path, is left out
				text += string("#,"[min(i, 1)]) + key
			}
		}
		p.Guard = append(p.Guard, text)
	}
	return p.include(target{path: path, format: tomlFormat{}, ops: func(t tree) []op {
		have := items(t, "guard", "home")
		var more []string
		for _, text := range p.Guard {
			path, _, _ := strings.Cut(text, "#")
			if !slices.ContainsFunc(have, func(o string) bool { return o == text || o == path || strings.HasPrefix(o, path+"#") }) {
				more = append(more, text)
			}
		}
		if len(more) == 0 {
			return nil
		}
		return []op{with(more, "guard", "home")}
	}})
}

func below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
