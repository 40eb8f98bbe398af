package fs

import (
	"errors"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// rename moves an object, or a tree, to where nothing is, or a file to where a
// file is.
func (j *job) rename(p *place, was found) error {
	to, err := j.h.place(j.root, j.call.to)
	if err != nil {
		return conflict(err)
	}
	defer to.close()
	n := len(j.plan.Changes) / 2
	there, err := j.expect(to, j.plan.Changes[n].Before)
	if err != nil {
		return err
	}
	if !there.absent() {
		return j.replace(p, to, was, there)
	}
	err = j.h.sys.move(p.at, p.name, to.at, to.name)
	if err != nil && !j.is(to.at, to.name, was.stat) {
		return conflict(err)
	}
	err = j.h.matches(j.onwards(), to.at, to.name, j.call.object, j.plan.Changes[:n], true)
	if err == nil && (!p.still() || !to.still()) {
		err = elsewhere()
	}
	if err != nil {
		back := j.h.sys.move(to.at, to.name, p.at, p.name)
		if back != nil && !j.is(p.at, p.name, was.stat) {
			return wrong(gate.HostFailed, "it is not as planned, and could not be moved back; look at both paths").because(errors.Join(err, back))
		}
		return conflict(err)
	}
	return j.settle(p, to)
}

// replace moves a file to the staging name beside another, and exchanges them.
func (j *job) replace(p, to *place, was, there found) error {
	before := j.plan.Changes[1].Before
	err := j.h.sys.move(p.at, p.name, to.at, j.staging)
	if err != nil && !j.is(to.at, j.staging, was.stat) {
		if !j.free(to.at, j.staging) {
			return j.stagingTaken(err)
		}
		return conflict(err)
	}
	err = j.holds(to, was, j.plan.Changes[0].Before)
	if err == nil && (!p.still() || !to.still()) {
		err = elsewhere()
	}
	if err != nil {
		return j.returned(p, to, was, err)
	}
	err = j.h.sys.swap(to.at, j.staging, to.at, to.name)
	if err != nil && !j.is(to.at, to.name, was.stat) {
		return j.returned(p, to, was, conflict(err))
	}
	if err := j.holds(to, there, before); err != nil {
		return j.unreplace(p, to, was, err)
	}
	if err := j.h.sys.unlink(to.at, j.staging); err != nil && !j.free(to.at, j.staging) {
		return j.left("it was done, and what was there before", err)
	}
	return j.settle(to, p)
}

// holds says whether the staging name has an object in its planned state.
func (j *job) holds(to *place, f found, want corpus.State) error {
	now, err := j.h.look(j.onwards(), to.at, j.staging, anySize)
	switch {
	case err != nil:
		return conflict(err)
	case !now.State().Is(want):
		return differs()
	}
	return nil
}

// returned moves the source of a rename back from the staging name.
func (j *job) returned(p, to *place, was found, cause error) error {
	err := j.h.sys.move(to.at, j.staging, p.at, p.name)
	if err != nil && !j.is(p.at, p.name, was.stat) {
		return j.left("what was to be renamed", errors.Join(cause, err))
	}
	return cause
}

// unreplace undoes the exchange and then the move.
func (j *job) unreplace(p, to *place, was found, cause error) error {
	if !j.is(to.at, to.name, was.stat) {
		return j.left("what was there before", cause)
	}
	err := j.h.sys.swap(to.at, j.staging, to.at, to.name)
	if err != nil && !j.is(to.at, j.staging, was.stat) {
		return j.left("what was there before", errors.Join(cause, err))
	}
	return j.returned(p, to, was, cause)
}

// chmod sets the mode of an open object and verifies it before and after.
func (j *job) chmod(p *place, was found) error {
	s, c := j.h.sys, j.plan.Changes[0]
	open := s.open
	if was.Facts.Kind == corpus.Directory {
		open = s.dir
	}
	fd, err := open(p.at, p.name)
	if err != nil {
		return conflict(err)
	}
	defer s.close(fd)
	if err := j.openAs(fd, was.stat, c.Before); err != nil {
		return err
	}
	mode := j.plan.After[0].Facts.Mode
	if err := s.chmod(fd, mode); err != nil {
		if now, again := s.stat(fd); again != nil || now.mode != mode {
			return err
		}
	}
	err = j.openAs(fd, was.stat, c.After)
	if err == nil && (!p.still() || !j.is(p.at, p.name, was.stat)) {
		err = elsewhere()
	}
	if err != nil {
		if back := s.chmod(fd, was.Facts.Mode); back != nil {
			return wrong(gate.HostFailed, "the mode is not as planned, and could not be set back; look at it").because(errors.Join(err, back))
		}
		return conflict(err)
	}
	if err := s.sync(fd); err != nil {
		return wrong(gate.HostFailed, "it was done, but the disk did not confirm it; check the disk").because(err)
	}
	return nil
}

// openAs holds an open object against what it is to be.
func (j *job) openAs(fd int, id stat, want corpus.State) error {
	f := found{}
	var err error
	if f.stat, err = j.h.sys.stat(fd); err != nil {
		return err
	}
	if !f.stat.same(id) {
		return elsewhere()
	}
	f.Facts = f.stat.facts()
	if id.kind == corpus.File {
		f, err = j.h.readFile(j.onwards(), fd, anySize)
	}
	switch {
	case err != nil:
		return conflict(err)
	case !f.State().Is(want):
		return differs()
	}
	return nil
}
