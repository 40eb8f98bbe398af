package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/observe/control"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

// Corpus is one corpus of a runtime.
type Corpus struct {
	Name     string
	Dir      string                        // its root, without links
	Label    func(path string) label.Label // of the object at a path; absent refuses
	Volatile corpus.Patterns
	Observer corpus.Observer
	Most     int // objects that its observer reads; 0 is any number
}

// ControlCorpus is the corpus under which control files of agents are observed that
// lie in no other one. No call can target it, and every change there is tampering.
const ControlCorpus = control.Corpus

// ControlFiles is that corpus, for Parts.Corpora and for verdicts. An interval in
// which other files came to be observed cannot be judged. No real corpus may have its
// name.
func ControlFiles(o *control.Observer) Corpus {
	return Corpus{Name: ControlCorpus, Dir: o.List(), Observer: o}
}

// isControl says whether it is what ControlFiles made.
func (c Corpus) isControl() bool {
	_, ok := c.Observer.(*control.Observer)
	return ok && c.Name == ControlCorpus && c.Label == nil
}

// Mender brings to an end what a call left behind that a crash interrupted, one
// way or the other. Hosts that need none do not implement it.
type Mender interface {
	Recover(ctx context.Context, changes []corpus.Change, staging string) error
}

// Parts are what a runtime is put together from. They belong to whoever made
// them; the runtime closes none.
type Parts struct {
	Log          *audit.Log
	Recovered    audit.Recovered
	Trust        *trust.Root
	Skills       *skill.Set        // frozen, the base manifest among them
	Directories  map[string]string // of skills, by name; also of those that were refused
	Corpora      []Corpus
	Hosts        map[capability.Capability]gate.Host
	Broker       gate.Broker
	ControlFiles corpus.Patterns // of agents, in every corpus
	Clearance    label.Label
	Outside      map[capability.Capability]label.Label // of what a class of calls reaches outside of every corpus; without one it is refused
	Profile      string
	Config       string // digest of the configuration
	Policy       string // digest of what a policy broker decides by; empty if there is none
	Version      string // of iff
	SameUID      bool   // agents run as the approver's user
	Limits       gate.Limits
	Now          func() time.Time
}

func (p *Parts) check() error {
	switch {
	case p.Log == nil || p.Trust == nil || p.Skills == nil || p.Broker == nil:
		return errors.New("a part is missing")
	case p.Profile == "" || p.Config == "":
		return errors.New("there is no configuration")
	}
	if _, ok := p.Skills.Skill(skill.BaseName); !ok {
		return errors.New("the base manifest is not loaded")
	}
	for _, c := range p.Corpora {
		if c.Name == "" || c.Dir == "" || c.Label == nil && !c.isControl() || c.Observer == nil {
			return errors.New("corpus " + c.Name + " has no directory, labels or observer")
		}
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	return nil
}
