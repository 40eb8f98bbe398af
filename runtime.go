package iff

import (
	"context"
	"errors"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/home"
	hostfs "github.com/iff-run/iff/internal/host/fs"
	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/internal/observe/rehash"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// Runtime decides the calls of agents over one home. No method of it loads a
// skill, widens trust or raises a level. It is safe for concurrent use. Close it.
// The zero value refuses everything.
type Runtime struct {
	*runtime.Runtime
	home      *home.Home
	now       func() time.Time
	inbox     *inbox.Inbox // nil where nobody or somebody else is asked
	files     *hostfs.Host
	tools     *tool.Host
	observers []*rehash.Observer
	refused   []Refused
}

// Call, Reply and the others are the words of package gate.
type (
	Call         = gate.Call
	Reply        = gate.Reply
	Pending      = gate.Pending
	Session      = runtime.Session
	SkillListing = runtime.SkillListing
	SkillContent = runtime.SkillContent
	Principal    = runtime.Principal
	OpenOptions  = runtime.OpenOptions
	Report       = verdict.Report
)

// Refused lists the skills that were not loaded.
func (r *Runtime) Refused() []Refused { return append([]Refused(nil), r.refused...) }

// Inbox is where questions wait for a person; nil where iff.toml says that
// nobody is asked, or whoever embeds iff asks in another way.
func (r *Runtime) Inbox() *inbox.Inbox { return r.inbox }

// Tools are those of other servers that agents are offered through iff.
func (r *Runtime) Tools() *tool.Host { return r.tools }

// State is what the log says.
func (r *Runtime) State() *record.State {
	if r.home == nil {
		return new(record.State)
	}
	return r.home.State()
}

// Home is the directory of the home.
func (r *Runtime) Home() string {
	if r.home == nil {
		return ""
	}
	return r.home.Dir()
}

// Operator is the name of the home's operator.
func (r *Runtime) Operator() string {
	if r.home == nil {
		return ""
	}
	return r.home.Config().Operator.Name
}

// Unanchored says, once the runtime is closed, what the anchors do not hold of
// what was done; see home.
func (r *Runtime) Unanchored() error {
	if r.home == nil {
		return nil
	}
	return r.home.Unanchored()
}

// Profile is strict or dev.
func (r *Runtime) Profile() string {
	if r.home == nil {
		return ""
	}
	return string(r.home.Config().Profile)
}

// NarrowTo takes the next document of the trust chain, if all that it adds is
// revocations, and takes away what those have signed.
func (r *Runtime) NarrowTo(ctx context.Context, document []byte) error {
	if r.home == nil {
		return runtime.ErrNotStarted
	}
	root, err := r.home.Narrow(document)
	if err != nil {
		return err
	}
	return r.Runtime.Narrow(ctx, root, root.Key().Fingerprint())
}

// late records an answer that came when its question was decided.
func (r *Runtime) late(request string, a approval.Answer) error {
	if r.Runtime == nil {
		return runtime.ErrNotStarted
	}
	return r.Gate().Late(request, a)
}

// Close ends the sessions, takes a last snapshot, and closes the home. What is
// still under way when ctx ends is left in doubt.
func (r *Runtime) Close(ctx context.Context) error {
	if r.home == nil {
		return runtime.ErrNotStarted
	}
	return errors.Join(r.Runtime.Close(ctx), r.release())
}

func (r *Runtime) release() error {
	var errs []error
	if r.tools != nil {
		r.tools.Close()
	}
	if r.files != nil {
		r.files.Close()
	}
	for _, o := range r.observers {
		errs = append(errs, o.Close())
	}
	return errors.Join(append(errs, r.home.Close())...)
}
