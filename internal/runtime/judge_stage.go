package runtime

import (
	"path"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
)

// stages are the files that calls keep beside their objects until they take
// their place, by request, of intents without an outcome. Such a file is part of
// a call that is under way or in doubt; it is not somebody else's change.
type stages map[string][]corpus.Object

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
	seen := make(map[corpus.Object]bool)
	for _, c := range rest {
		o := corpus.Name(c.Object.Corpus(), path.Join(path.Dir(c.Object.Path()), b.Staging))
		if !seen[o] {
			seen[o] = true
			s[request] = append(s[request], o)
		}
	}
}

// without leaves them out of snapshots.
func (s stages) without(snaps map[string]*corpus.Snapshot) map[string]*corpus.Snapshot {
	out := clone(snaps)
	for _, objects := range s {
		for _, o := range objects {
			if at := out[o.Corpus()]; at != nil && at.State(o) != corpus.Absent {
				out[o.Corpus()] = at.Apply([]corpus.Entry{{Object: o, State: corpus.Absent}})
			}
		}
	}
	return out
}
