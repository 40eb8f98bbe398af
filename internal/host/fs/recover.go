package fs

import (
	"context"
	"slices"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// Leftover is what lies under a staging name in a directory, a directory
// without what is below it; absent if nothing does. Data is not read.
func (h *Host) Leftover(ctx context.Context, dir corpus.Object, staging string) (corpus.Copy, error) {
	r, err := h.use(dir)
	if err != nil {
		return corpus.Copy{}, refusal(dir, err)
	}
	defer h.done()
	o := corpus.Name(r.Corpus, staging)
	if !dir.IsRoot() {
		o = corpus.Name(r.Corpus, dir.Path()+"/"+staging)
	}
	f, err := view{h: h, root: r}.look(ctx, o, keeping{whole: -1})
	return f.Copy, refusal(dir, err)
}

// Clean removes what lies under a staging name if its state is one of those
// given and, of a directory, nothing is in it. Otherwise the reason is conflict
// and it stays. Nothing there is no error.
func (h *Host) Clean(ctx context.Context, dir corpus.Object, staging string, states ...corpus.State) error {
	r, err := h.use(dir)
	if err != nil {
		return refusal(dir, err)
	}
	defer h.done()
	at, err := h.dir(r, dir.Path())
	if err != nil {
		return refusal(dir, err)
	}
	defer h.sys.close(at)
	f, err := h.look(ctx, at, staging, anySize)
	switch {
	case err != nil:
		return refusal(dir, conflict(err))
	case f.absent():
		return nil
	case !slices.Contains(states, f.State()):
		return refusal(dir, differs())
	}
	if err := h.unmake(at, staging, f.Facts.Kind); err != nil {
		return refusal(dir, err)
	}
	return refusal(dir, h.sys.sync(at))
}

// Recover brings to an end what a call left under its staging name when it was
// cut off, given the changes of its intent. Afterwards nothing is there, and the
// objects are as before or as planned unless somebody else changed them:
//
//   - of a write, mkdir or the undoing of one: what was made and not used, or was
//     displaced as planned, is removed; what was displaced and was not as planned
//     goes back to its place;
//   - of a delete, also of a tree: if all that is left is as planned, the rest is
//     removed; if not, it goes back to its place;
//   - of a rename onto a file: what was displaced is removed, or if it did not
//     come to that the source goes back.
//
// It returns nil where nothing was left. What it cannot explain stays, and the
// reason is conflict: an operator looks. It may be called again.
func (h *Host) Recover(ctx context.Context, changes []corpus.Change, staging string) error {
	if len(changes) == 0 {
		return nil
	}
	o := named(changes)
	r, err := h.use(o)
	if err != nil {
		return refusal(o, err)
	}
	defer h.done()
	j := &job{h: h, ctx: ctx, root: r, staging: staging, plan: gate.Plan{Changes: changes}}
	p, err := h.place(r, o)
	if err == nil {
		defer p.close()
		err = j.recover(p)
	}
	if reasonOf(err) == gate.NotFound {
		return nil // with its directory the staging name is gone
	}
	return refusal(o, err)
}

// named is the object in whose directory the staging name of a plan is.
func named(changes []corpus.Change) corpus.Object {
	if renames(changes) {
		return changes[len(changes)/2].Object
	}
	return changes[len(changes)-1].Object
}

// renames says whether a plan is that of a rename.
func renames(changes []corpus.Change) bool {
	n := len(changes) / 2
	if n == 0 || len(changes) != 2*n {
		return false
	}
	for i, c := range changes[:n] {
		if c.After != corpus.Absent || changes[n+i].After != c.Before {
			return false
		}
	}
	return true
}

func (j *job) recover(p *place) error {
	left, err := j.h.look(j.ctx, p.at, j.staging, anySize)
	if err != nil {
		return conflict(err)
	}
	if left.absent() {
		return nil
	}
	now, err := j.h.look(j.ctx, p.at, p.name, anySize)
	if err != nil {
		now.Facts.Kind = "unreadable" // and so nothing that was planned
	}
	c := j.plan.Changes[len(j.plan.Changes)-1]
	switch {
	case renames(j.plan.Changes):
		err = j.recoverRename(p, left, now)
	case c.After == corpus.Absent:
		err = j.recoverRemoval(p, left, now)
	default:
		err = j.recoverEntry(p, c, left, now)
	}
	if err != nil {
		return err
	}
	return j.h.sys.sync(p.at)
}

func unexplained() error {
	return wrong(gate.Conflict, "what lies under the staging name is nothing that was planned; look at it and remove it")
}

func (j *job) recoverEntry(p *place, c corpus.Change, left, now found) error {
	state := left.State()
	switch {
	case left.Facts.Kind == corpus.Directory && c.Before == corpus.Absent, state.Is(c.Before), state.Is(c.After):
		return j.h.unmake(p.at, j.staging, left.Facts.Kind)
	case left.Facts.Kind == corpus.File && now.State().Is(c.Before):
		return j.h.unmake(p.at, j.staging, corpus.File) // cut off while it was written
	case now.State().Is(c.After) && c.Before != corpus.Absent:
		if err := j.h.sys.swap(p.at, j.staging, p.at, p.name); err != nil {
			return err
		}
		if !j.is(p.at, j.staging, now.stat) {
			return unexplained()
		}
		return j.h.unmake(p.at, j.staging, now.Facts.Kind)
	}
	return unexplained()
}

func (j *job) recoverRemoval(p *place, left, now found) error {
	err := j.h.matches(j.ctx, p.at, j.staging, p.object, j.plan.Changes, false)
	switch {
	case err == nil:
		return j.h.unmakeTree(p.at, j.staging, p.object, j.plan.Changes)
	case now.absent():
		return j.h.sys.move(p.at, j.staging, p.at, p.name)
	}
	return unexplained()
}

func (j *job) recoverRename(to *place, left, now found) error {
	source, dest := j.plan.Changes[0], j.plan.Changes[1]
	p, err := j.h.place(j.root, source.Object)
	if err != nil {
		return conflict(err)
	}
	defer p.close()
	switch {
	case now.State().Is(dest.After) && left.State().Is(dest.Before):
		return j.h.unmake(to.at, j.staging, corpus.File)
	case !j.free(p.at, p.name):
		return unexplained()
	case now.State().Is(dest.After):
		if err := j.h.sys.swap(to.at, j.staging, to.at, to.name); err != nil {
			return err
		}
	}
	if err := j.h.sys.move(to.at, j.staging, p.at, p.name); err != nil {
		return err
	}
	return j.h.sys.sync(p.at)
}
