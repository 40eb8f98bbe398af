package fs

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/beneath"
	"github.com/iff-run/iff/internal/canonical"
)

// job is an order under way.
type job struct {
	h       *Host
	ctx     context.Context
	root    *root
	call    call
	plan    gate.Plan
	staging string
	undoing bool
}

// perform does an order that changes something.
func (h *Host) perform(ctx context.Context, r *root, c call, o gate.Order) (gate.Result, error) {
	j := &job{h: h, ctx: ctx, root: r, call: c, plan: o.Plan, staging: o.Staging, undoing: o.Phase == gate.Rollback}
	if !j.undoing && o.Phase != gate.Execute && o.Phase != gate.Commit {
		return gate.Result{}, refusal(c.object, wrong(gate.HostFailed, "phase %q is none; nothing was done", o.Phase))
	}
	err := j.admissible()
	if err == nil {
		err = j.run()
	}
	if err != nil {
		return gate.Result{}, refusal(c.object, err)
	}
	data, err := canonical.Marshal(j.answer())
	return gate.Result{Data: data}, err
}

// answer tells the state that is left where the call alone decides it. That of
// an append, a rename, a chmod or an undoing digests what was there before,
// whose label may be above the session's mark.
func (j *job) answer() writeResult {
	switch {
	case j.undoing:
		return writeResult{}
	case j.call.op == opWrite, j.call.op == opMkdir, j.call.op == opDelete:
		return writeResult{string(j.first().After)}
	}
	return writeResult{}
}

// admissible holds the plan against the call: the same objects, copies that are
// what the changes say, a staging name of this host's.
func (j *job) admissible() error {
	p := j.plan
	n := len(p.Changes)
	if n == 0 || len(p.Before) != n || len(p.After) != n {
		return wrong(gate.HostFailed, "an order without a whole plan; nothing was done")
	}
	if beneath.CheckName(j.staging) != nil || !strings.HasPrefix(j.staging, Reserved) {
		return wrong(gate.HostFailed, "the staging name is none; it begins with %s", Reserved)
	}
	for i, c := range p.Changes {
		if !c.Before.Is(p.Before[i].State()) || !c.After.Is(p.After[i].State()) {
			return wrong(gate.HostFailed, "the copies of the plan are not its states; nothing was done")
		}
		if j.root.Volatile.Match(c.Object.Path()) {
			return &gate.Refusal{Reason: gate.IsVolatile, Object: c.Object, Detail: "it is volatile, so not observed"}
		}
		if !j.covers(i, c.Object) {
			return wrong(gate.HostFailed, "the plan is not that of the call; nothing was done")
		}
	}
	if j.call.class == capability.FSWriteRev && !j.call.reversible() {
		return irreversible(j.call.op)
	}
	if j.undoing && (!j.call.reversible() || p.After[0].Cut && !p.Changes[0].Nothing()) {
		return wrong(gate.NotReversible, "the state before was not kept whole")
	}
	return nil
}

// covers says whether the plan's change i is to be of object o.
func (j *job) covers(i int, o corpus.Object) bool {
	n := len(j.plan.Changes)
	switch j.call.op {
	case opDelete:
		return o.Below(j.call.object) && i < n-1 || o == j.call.object && i == n-1
	case opRename:
		if n%2 != 0 {
			return false
		}
		if i < n/2 {
			return o == j.call.object && i == 0 || o.Below(j.call.object) && i > 0
		}
		return o == j.call.to+j.plan.Changes[i-n/2].Object[len(j.call.object):]
	}
	return n == 1 && o == j.call.object
}

func (j *job) run() error {
	p, err := j.h.place(j.root, j.call.object)
	if err != nil {
		return conflict(err)
	}
	defer p.close()
	was, err := j.expect(p, j.first().Before)
	if err != nil {
		return err
	}
	after := j.plan.After[0].Facts.Kind
	switch c := j.plan.Changes[0]; {
	case c.Nothing():
		return nil
	case j.call.op == opRename:
		return j.rename(p, was)
	case len(j.plan.Changes) > 1 || c.After == corpus.Absent:
		return j.remove(p, was)
	case j.call.op == opChmod || was.Facts.Kind == corpus.Directory && after == corpus.Directory:
		return j.chmod(p, was)
	case after == corpus.Directory:
		return j.make(p)
	default:
		return j.put(p, was)
	}
}

// first is the change of the object that the call names.
func (j *job) first() corpus.Change {
	if j.call.op == opDelete {
		return j.plan.Changes[len(j.plan.Changes)-1]
	}
	return j.plan.Changes[0]
}

// expect looks at an object, which must be in this state.
func (j *job) expect(p *place, want corpus.State) (found, error) {
	f, err := j.h.look(j.ctx, p.at, p.name, anySize)
	if err != nil {
		return found{}, conflict(err)
	}
	if !f.State().Is(want) {
		return found{}, differs()
	}
	return f, nil
}

// differs does not tell the state: its label may be above the session's mark.
func differs() error {
	return wrong(gate.Conflict, "its state is not as planned; read it and ask again")
}

// conflict turns an error that says that the world is not as planned into one
// with that reason. Others stay.
func conflict(err error) error {
	switch r := reasonOf(err); r {
	case gate.NotFound, gate.AlreadyThere, gate.NotAFile, gate.NotADirectory, gate.IsLink, gate.IsSpecial,
		gate.IsMount, gate.HardLinked, gate.Changing, gate.NameTwin, gate.TooMany:
		return wrong(gate.Conflict, "it is not as planned (%s); read it and ask again", r).because(err)
	}
	return err
}

// is says whether an object lies under a name.
func (j *job) is(at int, name string, id stat) bool {
	st, err := j.h.sys.lstat(at, name)
	return err == nil && st.same(id)
}

// free says that nothing lies under a name.
func (j *job) free(at int, name string) bool {
	_, err := j.h.sys.lstat(at, name)
	return errors.Is(err, fs.ErrNotExist)
}

// stagingTaken is the error for a staging name that somebody has.
func (j *job) stagingTaken(err error) error {
	if errors.Is(err, syscall.EEXIST) {
		return wrong(gate.AlreadyThere, "the staging name %s is taken; look what it is and remove it", j.staging).because(err)
	}
	return conflict(err)
}

// left says that something stays under the staging name.
func (j *job) left(what string, cause error) error {
	r := gate.HostFailed
	if reasonOf(cause) == gate.Conflict {
		r = gate.Conflict
	}
	return wrong(r, "%s is kept as %s beside it; look at both", what, j.staging).because(cause)
}

// settle makes a change of names durable.
func (j *job) settle(places ...*place) error {
	for i, p := range places {
		if i > 0 && p.id.same(places[0].id) {
			continue
		}
		if err := j.h.syncs.sync(directory{p.id.dev, p.id.ino}, func() error { return j.h.sys.sync(p.at) }); err != nil {
			return wrong(gate.HostFailed, "it was done, but the disk did not confirm it; check the disk").because(err)
		}
	}
	return nil
}

// onwards is the context for what must come to its end.
func (j *job) onwards() context.Context { return context.WithoutCancel(j.ctx) }
