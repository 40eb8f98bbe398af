package runtime

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// stages are what calls keep beside their objects until they take their place, by
// request, of intents without an outcome: a file under the staging name, or a
// tree that is being deleted, with all that is in it. Such a thing is part of a
// call that is under way or in doubt; it is not somebody else's change.
type stages map[string]stage

// stage is what may lie under the staging name: any file there itself, and below
// it what the plan takes away, as it was.
type stage struct {
	names []corpus.Object
	below map[corpus.Object]corpus.State
}

// fold takes a record in, with the changes that did not fit in its line.
func (s stages) fold(r record.Record, rest []corpus.Change) {
	switch b := r.Body.(type) {
	case record.Intent:
		s.open(r.Request, b, rest)
	case record.CommitIntent:
		s.open(r.Request, b.Intent, rest)
	case record.RollbackIntent:
		s.open(r.Request, b.Intent, rest)
	case record.Executed, record.Error, record.Committed, record.RolledBack, record.Resolved:
		delete(s, r.Request)
	}
}

func (s stages) open(request string, b record.Intent, rest []corpus.Change) {
	if b.Staging == "" {
		return
	}
	if len(rest) == 0 {
		rest = b.Plan
	}
	var at stage
	var planned map[corpus.Object]bool // empty for one that is alone, which lies in no other
	if len(rest) > 1 {
		at.below, planned = make(map[corpus.Object]corpus.State), make(map[corpus.Object]bool, len(rest))
		for _, c := range rest {
			planned[c.Object] = true
		}
	}
	for _, c := range rest {
		top := topOf(c.Object, planned)
		staged := path.Join(path.Dir(top.Path()), b.Staging)
		if name := corpus.Name(top.Corpus(), staged); top == c.Object && !slices.Contains(at.names, name) {
			at.names = append(at.names, name)
		} else if top != c.Object {
			at.below[corpus.Name(top.Corpus(), staged+strings.TrimPrefix(c.Object.Path(), top.Path()))] = c.Before
		}
	}
	s[request] = at
}

// topOf is the highest of the planned objects that an object lies in.
func topOf(o corpus.Object, planned map[corpus.Object]bool) corpus.Object {
	top := o
	if len(planned) == 0 {
		return o
	}
	for above, ok := o.Parent(); ok; above, ok = above.Parent() {
		if planned[above] {
			top = above
		}
	}
	return top
}

// without leaves them out of snapshots.
func (s stages) without(snaps map[string]*corpus.Snapshot) map[string]*corpus.Snapshot {
	out := maps.Clone(snaps)
	for _, at := range s {
		for _, name := range at.names {
			snap := out[name.Corpus()]
			if snap == nil || snap.State(name) == corpus.Absent {
				continue
			}
			out[name.Corpus()] = corpus.NewSnapshot(slices.DeleteFunc(slices.Clone(snap.Entries()), func(e corpus.Entry) bool {
				return e.Object == name || e.Object.Below(name) && at.below[e.Object].Is(e.State)
			}))
		}
	}
	return out
}
