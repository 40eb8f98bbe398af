package ensemble

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/iff-run/iff/corpus"
)

// restore makes a corpus what it was before a run, and removes the log, given what
// the run found and what it left. Only files that belong to the corpus are made
// again. With an error the corpus is neither.
func (c *Corpus) restore(first, last map[corpus.Object]corpus.State) error {
	if err := errors.Join(c.check(), c.standing()); err != nil {
		return err
	}
	var gone, come []string // paths of what has to go, and of what has to be there again
	for o, s := range last {
		if first[o] != s {
			gone = append(gone, o.Path())
		}
	}
	for o, s := range first {
		if last[o] != s {
			come = append(come, o.Path())
		}
	}
	slices.Sort(gone)
	slices.Sort(come)
	w := &warden{corpus: c}
	err := os.RemoveAll(c.log())
	for _, name := range slices.Backward(gone) { // what is in a directory goes before it
		if err == nil {
			err = w.remove(name)
		}
	}
	for _, name := range come {
		if err == nil {
			err = w.make(name)
		}
	}
	return errors.Join(err, w.close())
}

// warden goes from directory to directory of a corpus.
type warden struct {
	corpus *Corpus
	name   string
	shelf  *shelf // of that name; nil before the first
}

// at is the directory that holds what has a name.
func (w *warden) at(name string) (*shelf, error) {
	dir := path.Dir(name)
	if w.shelf != nil && w.name == dir {
		return w.shelf, nil
	}
	err := w.close()
	if err == nil {
		w.name = dir
		w.shelf, err = openShelf(w.corpus.root, dir)
	}
	return w.shelf, err
}

func (w *warden) remove(name string) error {
	s, err := w.at(name)
	if err != nil {
		return err
	}
	return s.remove(path.Base(name))
}

func (w *warden) make(name string) error {
	text, ok := w.corpus.texts[name]
	if !ok {
		return &fs.PathError{Op: "restore", Path: name, Err: fmt.Errorf("it is no file of the corpus: %w", ErrNotOurs)}
	}
	s, err := w.at(name)
	if err != nil {
		return err
	}
	return s.add(path.Base(name), []byte(text), fileMode)
}

func (w *warden) close() error {
	s := w.shelf
	w.shelf = nil
	return s.close()
}
