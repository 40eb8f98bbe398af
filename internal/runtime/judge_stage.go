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
type stages map[string]*stage

// stage is what may lie under the staging name: any file there itself, and below
// it what the plan takes away, as it was. Most calls have their outcome before
// anybody asks, so it is found out when somebody does.
type stage struct {
	staging string
	plan    []corpus.Change // nil once it was found out
	names   []corpus.Object
	below   map[corpus.Object]corpus.State
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
	s[request] = &stage{staging: b.Staging, plan: rest}
}

// find finds out what may lie there.
func (s *stage) find() {
	var planned map[corpus.Object]bool // empty for one that is alone, which lies in no other
	if len(s.plan) > 1 {
		s.below, planned = make(map[corpus.Object]corpus.State), make(map[corpus.Object]bool, len(s.plan))
		for _, c := range s.plan {
			planned[c.Object] = true
		}
	}
	for _, c := range s.plan {
		top := topOf(c.Object, planned)
		staged := path.Join(path.Dir(top.Path()), s.staging)
		if name := corpus.Name(top.Corpus(), staged); top == c.Object && !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
		} else if top != c.Object {
			s.below[corpus.Name(top.Corpus(), staged+strings.TrimPrefix(c.Object.Path(), top.Path()))] = c.Before
		}
	}
	s.plan = nil
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
		at.find()
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
