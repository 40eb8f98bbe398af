package gate

import (
	"context"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/label"
)

// Host touches the world for some capabilities. Only the packages below
// internal/host implement it for real. It is safe for concurrent use. Errors of
// Touches and Plan are *[Refusal] where the call cannot be done as it is.
type Host interface {
	// Touches says what a call reaches for, from the envelope alone: nothing is
	// looked up.
	Touches(env capability.Envelope) (Touches, error)
	// Plan says what the call would do to the world as it is now, with what the
	// session has staged laid over it; nil stages nothing.
	Plan(ctx context.Context, env capability.Envelope, staged Staged) (Plan, error)
	// Do does what the permit allows and nothing else. An error means that the
	// host refused or failed; what happened nevertheless, the observer says.
	Do(ctx context.Context, p *Permit) (Result, error)
}

// Touches is what a call reaches for.
type Touches struct {
	// Op is the host's word for what is done, such as write or delete.
	Op string
	// Changes are the objects that it would change. While it does, nobody else may
	// change them; one that is a directory stands for all below it.
	Changes []corpus.Object
	// Reads are the objects whose content the result would tell.
	Reads []corpus.Object
	// Outline says that of those it tells only that they are there and of what
	// kind, such as a listing does, and no content.
	Outline bool
	// Outside are the labels of what it reaches beyond every corpus, by the host's
	// word: of what goes there, and of what comes back. If there are none and the
	// call reaches no object either, it has the label that its class was given.
	Outside []label.Label
	// Reversible says that it can be put back, so that it may be done under a
	// reversible capability.
	Reversible bool
}

// Reach says how much of a call's effect is known beforehand (DESIGN section 6).
// The zero value is none.
type Reach string

// The reaches.
const (
	Exact   Reach = "exact"   // the state after is known
	Bounded Reach = "bounded" // only which objects
	Opaque  Reach = "opaque"  // no observed object
)

// Plan is what a call does to each object, in the order in which it is done.
type Plan struct {
	Reach   Reach
	Changes []corpus.Change
	// Before and After are the objects as they are and are to be, as long as
	// Changes; copies too large to keep are cut.
	Before, After []corpus.Copy
	// Appends says that what is approved is what is appended, not to what.
	Appends bool
}

// Size is how much memory the state before takes.
func (p Plan) Size() int64 {
	var n int64
	for _, c := range p.Before {
		n += c.Size()
	}
	return n
}

// Whole says whether nothing of the state before was cut.
func (p Plan) Whole() bool {
	for _, c := range p.Before {
		if c.Cut {
			return false
		}
	}
	return true
}

// Approvable is the plan as it is asked for and approved: of an append any state
// before and after will do.
func (p Plan) Approvable() []corpus.Change {
	out := append([]corpus.Change{}, p.Changes...)
	for i := range out {
		if p.Appends {
			out[i].Before, out[i].After = corpus.Any, corpus.Any
		}
	}
	return out
}

// Undo is the plan that puts back what p did.
func (p Plan) Undo() Plan {
	u := Plan{Reach: p.Reach}
	for i := len(p.Changes) - 1; i >= 0; i-- {
		c := p.Changes[i]
		u.Changes = append(u.Changes, corpus.Change{Object: c.Object, Before: c.After, After: c.Before})
		u.Before, u.After = append(u.Before, p.After[i]), append(u.After, p.Before[i])
	}
	return u
}

// Staged is what a session has written and not committed.
type Staged interface {
	// Copy is the object as the session would see it; false if it staged nothing
	// for it.
	Copy(o corpus.Object) (corpus.Copy, bool)
	// Objects lists what is staged, sorted.
	Objects() []corpus.Object
}

// Result is what a host tells of a call that it did.
type Result struct {
	Data   []byte // one JSON object for the agent
	Detail string // for the record; may be empty
}

// Refusal says why a call cannot be done as it is. Nothing happened.
type Refusal struct {
	Reason Reason
	Object corpus.Object // may be empty
	Named  string        // a second target as the agent spelled it, where that is what is refused; may be empty
	Detail string        // what is wrong, then what to do
	Err    error
}

// Error is one line.
func (e *Refusal) Error() string {
	if e.Object != "" {
		return string(e.Object) + ": " + e.Detail
	}
	return e.Detail
}

// Unwrap returns the cause, if there is one.
func (e *Refusal) Unwrap() error { return e.Err }
