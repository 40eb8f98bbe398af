package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"
)

// CorpusPlan is a directory to put under iff, with the lowest label and the
// default volatile patterns.
type CorpusPlan struct {
	Name string
	Root string // absolute
}

// config is what iff.toml will say.
func (p CorpusPlan) config() (CorpusConfig, error) {
	if err := checkCorpusName(p.Name); err != nil {
		return CorpusConfig{}, planError(err.Error())
	}
	root, err := expandRoot(p.Root)
	if err == nil && !utf8.ValidString(root) {
		err = fmt.Errorf("%s is not UTF-8, which iff.toml is; rename it", quoted(root))
	}
	if err != nil {
		return CorpusConfig{}, planError(p.Name + ": " + err.Error())
	}
	volatile, err := patterns(DefaultVolatile())
	return CorpusConfig{Name: p.Name, Root: root, Volatile: volatile}, err
}

func planError(detail string) error {
	return &Error{Reason: CorpusInvalid, Detail: "--corpus: " + detail}
}

// checkCorpora says whether a home at dir could have these corpora.
func checkCorpora(dir string, plans []CorpusPlan) (err error) {
	var corpora []CorpusConfig
	for _, p := range plans {
		c, err := p.config()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(corpora, func(o CorpusConfig) bool { return o.Name == c.Name }) {
			return planError("two are called " + c.Name + "; write --corpus NAME=DIR")
		}
		corpora = append(corpora, c)
	}
	if len(corpora) == 0 {
		return nil
	}
	roots, err := openRoots(corpora)
	defer func() { err = errors.Join(err, closeRoots(roots)) }()
	if err != nil {
		return err
	}
	parent, err := openPlace("the place of the home", nearest(dir))
	if err != nil {
		return &Error{Reason: Unreadable, Path: dir, Detail: err.Error(), Err: err}
	}
	defer parent.Close()
	parent.root = false // corpora may lie beside the home
	return apart(roots, []*place{parent})
}

// nearest is the path itself, or the first directory above it that is there.
func nearest(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
