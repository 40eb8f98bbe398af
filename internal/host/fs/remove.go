package fs

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// remove deletes an object, or a tree, by way of the staging name.
func (j *job) remove(p *place, was found) error {
	if err := j.aside(p, was.stat); err != nil {
		return err
	}
	err := j.h.matches(j.onwards(), p.at, j.staging, j.call.object, j.plan.Changes, true)
	if err == nil && !p.still() {
		err = elsewhere()
	}
	if err == nil && len(j.plan.Changes) == 1 {
		err = j.h.unmake(p.at, j.staging, was.Facts.Kind)
	}
	if err != nil {
		return j.putBack(p, was.stat, conflict(err))
	}
	if len(j.plan.Changes) > 1 {
		if err := j.h.unmakeTree(p.at, j.staging, j.call.object, j.plan.Changes); err != nil {
			return j.left("a part of it", err)
		}
	}
	return j.settle(p)
}

// aside moves an object to the staging name.
func (j *job) aside(p *place, id stat) error {
	err := j.h.sys.move(p.at, p.name, p.at, j.staging)
	if err == nil || j.is(p.at, j.staging, id) {
		return nil
	}
	if !j.free(p.at, j.staging) {
		return j.stagingTaken(err)
	}
	return conflict(err)
}

// putBack undoes aside.
func (j *job) putBack(p *place, id stat, cause error) error {
	err := j.h.sys.move(p.at, j.staging, p.at, p.name)
	if err != nil && !j.is(p.at, p.name, id) {
		return j.left("what was there before", errors.Join(cause, err))
	}
	return cause
}

// unmake removes one object. An error counts only if it is still there.
func (h *Host) unmake(at int, name string, kind corpus.Kind) error {
	remove := h.sys.unlink
	if kind == corpus.Directory {
		remove = h.sys.rmdir
	}
	err := remove(at, name)
	if err == nil {
		return nil
	}
	if reasonOf(err) == gate.NotEmpty {
		return wrong(gate.Conflict, "the directory is not empty any more; read it and ask again").because(err)
	}
	if _, gone := h.sys.lstat(at, name); reasonOf(gone) == gate.NotFound {
		return nil
	}
	return err
}

// unmakeTree removes the objects of a plan, children first, from a tree that
// lies under another name. What is gone already is passed over; what is not in
// the plan makes it end.
func (h *Host) unmakeTree(at int, name string, top corpus.Object, changes []corpus.Change) error {
	for _, c := range changes {
		if c.Object == top {
			return h.unmakeIn(at, ".", name)
		}
		dir, base := path.Split(name + strings.TrimPrefix(c.Object.Path(), top.Path()))
		if err := h.unmakeIn(at, strings.TrimSuffix(dir, "/"), base); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) unmakeIn(at int, dir, base string) error {
	fd, err := h.sys.dir(at, dir)
	if reasonOf(err) == gate.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer h.sys.close(fd)
	st, err := h.sys.lstat(fd, base)
	if reasonOf(err) == gate.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return h.unmake(fd, base, st.kind)
}

// matches holds what lies under a name against the planned states before of
// top and all below it. Everything that is there must be as planned, and if all
// is set the other way round too.
func (h *Host) matches(ctx context.Context, at int, name string, top corpus.Object, changes []corpus.Change, all bool) error {
	want := make(map[string]corpus.State, len(changes))
	for _, c := range changes {
		if c.Object == top || c.Object.Below(top) {
			want[strings.TrimPrefix(c.Object.Path(), top.Path())] = c.Before
		}
	}
	f, err := h.look(ctx, at, name, anySize)
	if err == nil && !f.State().Is(want[""]) {
		err = differs()
	}
	if err != nil || f.Facts.Kind != corpus.Directory || len(want) == 1 {
		return err
	}
	delete(want, "")
	err = h.within(at, name, f.stat, func(fd int) error {
		return h.tree(ctx, fd, "", func(path string, f found) (keeping, error) {
			if !f.State().Is(want[path]) {
				return anySize, differs()
			}
			delete(want, path)
			return anySize, nil
		}, anySize)
	})
	if err == nil && all && len(want) > 0 {
		err = wrong(gate.Conflict, "%d objects in it are gone; read it and ask again", len(want))
	}
	return err
}
