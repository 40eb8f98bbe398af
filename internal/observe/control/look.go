package control

import (
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

const (
	attempts  = 5
	firstRest = time.Millisecond // before the second attempt; twice as long before each further one
)

// look is one reading of files.
type look struct {
	ctx   context.Context
	own   map[string]bool // paths of files, each of which is read for itself
	known map[string]seen // by path; nil trusts nothing
	found map[string]seen
}

// file reads one file, and everything below it. The error is the context's.
func (l *look) file(f File) ([]corpus.Entry, error) {
	object := corpus.Name(Corpus, f.Object)
	for attempt := range attempts {
		if err := l.rest(attempt); err != nil {
			return nil, err
		}
		entries, err := l.try(f)
		if err == nil {
			return entries, nil
		}
		if l.ctx.Err() != nil {
			return nil, context.Cause(l.ctx)
		}
		if reasonOf(err) != beneath.FileChanging {
			break
		}
	}
	return []corpus.Entry{{Object: object, State: corpus.Unreadable}}, nil
}

// rest waits before every attempt but the first.
func (l *look) rest(attempt int) error {
	if attempt > 0 {
		timer := time.NewTimer(firstRest << (attempt - 1))
		defer timer.Stop()
		select {
		case <-l.ctx.Done():
		case <-timer.C:
		}
	}
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return nil
}

func (l *look) try(f File) ([]corpus.Entry, error) {
	dir, err := beneath.Open(filepath.Dir(f.Path))
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	t := &tree{look: l, keys: f.Keys}
	err = t.add(dir, filepath.Base(f.Path), place{corpus.Name(Corpus, f.Object), f.Object, f.Path, 0})
	return t.entries, err
}

// place is where something lies.
type place struct {
	object corpus.Object
	name   string // path below the corpus
	path   string
	depth  int
}

// tree is one file and what is below it.
type tree struct {
	*look
	keys    []string
	entries []corpus.Entry
}

var errTooMuch = errors.New("too much")

// add reads the child name of dir. What is gone meanwhile is absent.
func (t *tree) add(dir *beneath.Dir, name string, at place) error {
	if len(t.entries) > maxEntries || at.depth > maxDepth {
		return errTooMuch
	}
	looked := time.Now()
	facts, err := dir.Lstat(name)
	if isGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if facts.Mount {
		return errTooMuch // another file system, and what is below it
	}
	state, err := t.state(dir, name, at.path, facts)
	if err != nil {
		return err
	}
	if facts.Kind != beneath.Directory {
		t.found[at.path] = seen{facts, state, looked.Sub(facts.Stamp.Changed()) > settle}
	}
	t.entries = append(t.entries, corpus.Entry{Object: at.object, State: state})
	if facts.Kind == beneath.Directory {
		return t.below(dir, name, at)
	}
	return nil
}

// below reads what a directory holds.
func (t *tree) below(parent *beneath.Dir, name string, at place) error {
	dir, err := parent.Dir(name)
	if isGone(err) {
		return errMoved
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	before, err := dir.Stamp()
	if err != nil {
		return err
	}
	children, err := dir.Entries(maxEntries)
	if err != nil {
		return err
	}
	for _, c := range children {
		if t.ctx.Err() != nil {
			return t.ctx.Err()
		}
		next := place{corpus.Name(Corpus, at.name+"/"+c.Name), at.name + "/" + c.Name, at.path + "/" + c.Name, at.depth + 1}
		if t.own[next.path] {
			continue
		}
		if err := t.add(dir, c.Name, next); err != nil {
			return err
		}
	}
	if after, err := dir.Stamp(); err != nil || after != before {
		return errMoved
	}
	return nil
}

var errMoved = &beneath.Error{Reason: beneath.FileChanging, Detail: "it changed while it was read"}

// state is that of the child name, which is what facts say before and after.
func (t *tree) state(dir *beneath.Dir, name, path string, facts beneath.Facts) (corpus.State, error) {
	if was, ok := t.known[path]; ok && was.settled && was.facts == facts {
		return was.state, nil
	}
	state, err := t.read(dir, name, facts)
	if err != nil {
		return "", err
	}
	if after, err := dir.Lstat(name); err != nil || after != facts && facts.Kind != beneath.Directory {
		return "", errMoved
	}
	return state, nil
}

func (t *tree) read(dir *beneath.Dir, name string, facts beneath.Facts) (corpus.State, error) {
	of := corpus.Facts{Mode: facts.Mode, UID: facts.UID, GID: facts.GID}
	switch facts.Kind {
	case beneath.Directory:
		return corpus.Facts{Kind: corpus.Directory, Mode: facts.Mode}.State(), nil
	case beneath.Link:
		text, err := dir.Readlink(name)
		return corpus.Facts{Kind: corpus.Link, Content: sha256.Sum256([]byte(text))}.State(), err
	case beneath.Regular:
		file, err := dir.ReadFile(name, maxBytes)
		if err != nil {
			return "", err
		}
		if len(t.keys) > 0 {
			if state, ok := members(name, file.Data, t.keys); ok {
				return state, nil
			}
		}
		of.Kind, of.Content = corpus.File, sha256.Sum256(file.Data)
		return of.State(), nil
	case beneath.FIFO:
		of.Content = corpus.SpecialContent("fifo", 0)
	case beneath.Socket:
		of.Content = corpus.SpecialContent("socket", 0)
	default:
		of.Content = corpus.SpecialContent("char", facts.Rdev)
		if facts.Block {
			of.Content = corpus.SpecialContent("block", facts.Rdev)
		}
	}
	of.Kind = corpus.Special
	return of.State(), nil
}

func reasonOf(err error) beneath.Reason {
	var e *beneath.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

// isGone says that nothing is there, or that what is above it is no directory.
func isGone(err error) bool {
	switch reasonOf(err) {
	case beneath.NotFound, beneath.NotADirectory:
		return true
	}
	return false
}
