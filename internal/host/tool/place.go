package tool

import (
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/beneath"
)

// Root is where a corpus lies.
type Root struct {
	Corpus string
	Dir    string // absolute
}

// places turn paths into targets. Each root is there as it was given and as it is
// without links.
type places []Root

func newPlaces(roots []Root) (places, error) {
	var out places
	for _, r := range roots {
		dir, err := filepath.EvalSymlinks(r.Dir)
		if err != nil {
			return nil, err
		}
		out = append(out, Root{r.Corpus, dir})
		if given := filepath.Clean(r.Dir); given != dir {
			out = append(out, Root{r.Corpus, given})
		}
	}
	return out, nil
}

// target is the object at an absolute, clean path.
func (p places) target(class capability.Capability, name string) (capability.Target, error) {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return capability.Target{}, bad("%q is not an absolute path in its one spelling; write it from the root, without . and .. and double slashes", name)
	}
	best, below := Root{}, ""
	for _, r := range p {
		if rest, ok := under(name, r.Dir); ok && len(r.Dir) > len(best.Dir) {
			best, below = r, rest
		}
	}
	if best.Corpus == "" {
		return capability.Target{}, refuse(gate.NoCorpus, "%q is in no corpus; name something below the root of one", name)
	}
	t, err := capability.Path(class, best.Corpus, below)
	if err != nil {
		return capability.Target{}, bad("%v", err)
	}
	return t, nil
}

// under is the path of name relative to dir, "." for dir itself.
func under(name, dir string) (string, bool) {
	if name == dir {
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// absolute is a path as the server is given it. One that begins with ~ is refused:
// what that means is up to whoever reads it.
func absolute(dir, name string) (string, error) {
	switch {
	case name == "":
		return "", bad("a path is empty; name a file or directory")
	case strings.HasPrefix(name, "~"):
		return "", bad("%q begins with ~, which programs read differently; write the path from the root", name)
	case path.IsAbs(name):
		return path.Clean(name), nil
	case dir == "":
		return "", bad("%q is relative, and this server has no directory; write the path from the root", name)
	}
	return path.Join(dir, name), nil
}

// plain says whether a path leads to a file or directory without links, mount
// points and second names, as far as one look can say.
func (p places) plain(corpus, at string) error {
	for _, r := range p {
		if r.Corpus != corpus || at == "." {
			continue
		}
		root, err := beneath.Open(r.Dir)
		if err != nil {
			return err
		}
		defer root.Close()
		dir, err := root.Walk(path.Dir(at))
		if err != nil {
			return err
		}
		defer dir.Close()
		facts, err := dir.Lstat(path.Base(at))
		switch {
		case err != nil:
			return err
		case facts.Kind == beneath.Link:
			return &beneath.Error{Reason: beneath.FileLink, Detail: "a symbolic link"}
		case facts.Kind != beneath.Regular && facts.Kind != beneath.Directory:
			return &beneath.Error{Reason: beneath.FileSpecial, Detail: "no file and no directory"}
		case facts.Mount:
			return &beneath.Error{Reason: beneath.FileMount, Detail: "another file system starts there"}
		case facts.Kind == beneath.Regular && facts.Links > 1:
			return &beneath.Error{Reason: beneath.Reason(gate.HardLinked), Detail: "a file with more than one name"}
		}
		return nil
	}
	return nil
}

// reasonOf is the gate's word for what package beneath found.
func reasonOf(err error) gate.Reason {
	var e *beneath.Error
	if !errors.As(err, &e) {
		return gate.HostFailed
	}
	return gate.Reason(e.Reason)
}
