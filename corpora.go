package iff

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
)

// corpora puts an observer in front of each root.
func (r *Runtime) corpora(roots []*home.CorpusRoot) ([]runtime.Corpus, error) {
	var out []runtime.Corpus
	for _, root := range roots {
		o, err := rehash.New(root.Path(), root.Name, root.Volatile, rehash.Options{})
		if err != nil {
			return nil, err
		}
		r.observers = append(r.observers, o)
		seen := &heldObserver{o, root}
		out = append(out, runtime.Corpus{Name: root.Name, Dir: root.Path(), Label: root.LabelOf, Volatile: root.Volatile, Observer: seen, Most: rehash.DefaultObjects})
	}
	return withControl(out, r.home)
}

// withControl adds the control files of agents that lie in no corpus, if
// iff.toml names any.
func withControl(corpora []runtime.Corpus, h *home.Home) ([]runtime.Corpus, error) {
	o, err := h.ControlObserver()
	if err != nil || o == nil {
		return corpora, err
	}
	return append(corpora, runtime.ControlFiles(o)), nil
}

// heldObserver reads a corpus only while its path leads to what is locked: what
// the observer holds open could have been moved away, and something else be there
// under the corpus's name.
type heldObserver struct {
	*rehash.Observer
	root *home.CorpusRoot
}

// Read implements [corpus.Observer].
func (o *heldObserver) Read(ctx context.Context, objects []corpus.Object) ([]corpus.State, error) {
	if err := o.root.Held(); err != nil {
		return nil, err
	}
	return o.Observer.Read(ctx, objects)
}

// Snapshot implements [corpus.Observer].
func (o *heldObserver) Snapshot(ctx context.Context) (*corpus.Snapshot, error) {
	return o.whole(o.Observer.Snapshot(ctx))
}

// Full reads every byte.
func (o *heldObserver) Full(ctx context.Context) (*corpus.Snapshot, error) {
	return o.whole(o.Observer.Full(ctx))
}

func (o *heldObserver) whole(s *corpus.Snapshot, err error) (*corpus.Snapshot, error) {
	return s, errors.Join(err, o.root.Held())
}

// observers are the corpora of a home for reading alone: what a verdict needs
// where no runtime is.
func observers(h *home.Home) ([]runtime.Corpus, func() error, error) {
	var out []runtime.Corpus
	var open []*rehash.Observer
	shut := func() error {
		var errs []error
		for _, o := range open {
			errs = append(errs, o.Close())
		}
		return errors.Join(errs...)
	}
	for _, c := range h.Config().Corpora {
		real, err := filepath.EvalSymlinks(c.Root)
		if err == nil {
			var o *rehash.Observer
			if o, err = rehash.New(real, c.Name, c.Volatile, rehash.Options{}); err == nil {
				open = append(open, o)
				out = append(out, runtime.Corpus{Name: c.Name, Dir: real, Label: c.LabelOf, Volatile: c.Volatile, Observer: o})
				continue
			}
		}
		return nil, nil, errors.Join(fmt.Errorf("corpus %s: %w", c.Name, err), shut())
	}
	out, err := withControl(out, h)
	if err != nil {
		return nil, nil, errors.Join(err, shut())
	}
	return out, shut, nil
}
