package fs

import (
	"crypto/sha256"
	"errors"
	"hash"
	"slices"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// put makes a file and gives it its place.
func (j *job) put(p *place, was found) error {
	fd, err := j.h.sys.create(p.at, j.staging)
	if err != nil {
		return j.stagingTaken(err)
	}
	defer j.h.sys.close(fd)
	id, err := j.fill(fd, p, was)
	if err == nil {
		err = j.h.sys.sync(fd)
	}
	if err != nil {
		return j.discard(p, id, err)
	}
	return j.enter(p, id)
}

// fill writes the planned file and verifies it. It returns what tells the file
// from others, if it comes to know that.
func (j *job) fill(fd int, p *place, was found) (stat, error) {
	id, err := j.h.sys.stat(fd)
	if err != nil {
		return id, err
	}
	after, sum := j.plan.After[0], sha256.New()
	attrs := after.Xattrs
	if after.Cut {
		attrs = was.xattrs
		if err = j.copy(fd, p, sum); err == nil {
			err = j.write(fd, bytesOf(j.call.data), sum)
		}
	} else {
		err = j.write(fd, bytesOf(after.Data), sum)
	}
	if err == nil {
		err = j.dress(fd, id, after.Facts, attrs)
	}
	if err != nil {
		return id, err
	}
	facts, _, err := j.h.facts(fd, corpus.Digest(sum.Sum(nil)))
	if err == nil && !facts.State().Is(j.plan.Changes[0].After) {
		err = wrong(gate.HostFailed, "the file system did not keep the planned mode, owner or attributes; nothing was done")
	}
	return id, err
}

// write only reads data, which may be the bytes of a string.
func (j *job) write(fd int, data []byte, sum hash.Hash) error {
	sum.Write(data)
	for len(data) > 0 {
		if err := j.ctx.Err(); err != nil {
			return err
		}
		n, err := j.h.sys.write(fd, data[:min(len(data), 1<<20)])
		if err != nil {
			return err
		}
		if n == 0 {
			return errors.New("the file system takes no more bytes")
		}
		data = data[n:]
	}
	return nil
}

// copy writes what the object holds now, for an append too large to keep.
func (j *job) copy(fd int, p *place, sum hash.Hash) error {
	from, err := j.h.sys.open(p.at, p.name)
	if err != nil {
		return conflict(err)
	}
	defer j.h.sys.close(from)
	st, err := j.h.sys.stat(from)
	if err != nil {
		return err
	}
	var failed error
	block := j.h.block()
	defer j.h.blocks.Put(block)
	err = j.h.stream(j.ctx, from, st.size, block[:], func(_ int64, b []byte) {
		if failed == nil {
			failed = j.write(fd, b, sum)
		}
	})
	if failed != nil {
		return failed
	}
	return conflict(err)
}

// dress gives an open file its owner, attributes and mode, in this order: each
// may take away from those before it what is set again after.
func (j *job) dress(fd int, now stat, want corpus.Facts, attrs []corpus.Xattr) error {
	s := j.h.sys
	if now.uid != want.UID || now.gid != want.GID {
		if err := s.chown(fd, want.UID, want.GID); err != nil {
			return err
		}
	}
	have, err := s.xattrs(fd)
	if err != nil {
		return err
	}
	for _, a := range have {
		if !slices.ContainsFunc(attrs, func(b corpus.Xattr) bool { return a.Name == b.Name }) {
			if err := s.dropXattr(fd, a.Name); err != nil {
				return err
			}
		}
	}
	for _, a := range attrs {
		if !slices.Contains(have, a) {
			if err := s.setXattr(fd, a); err != nil {
				return err
			}
		}
	}
	return s.chmod(fd, want.Mode)
}

// discard removes what was made under the staging name, if it still is that,
// and returns cause.
func (j *job) discard(p *place, id stat, cause error) error {
	if id == (stat{}) || !j.is(p.at, j.staging, id) {
		return cause
	}
	remove := j.h.sys.unlink
	if id.kind == corpus.Directory {
		remove = j.h.sys.rmdir
	}
	if err := remove(p.at, j.staging); err != nil && !j.free(p.at, j.staging) {
		return j.left("what was made and not used", errors.Join(cause, err))
	}
	return cause
}

// enter gives what lies under the staging name its place, id being that object.
// An error of the system counts only if the step was not done.
func (j *job) enter(p *place, id stat) error {
	if j.plan.Changes[0].Before == corpus.Absent {
		err := j.h.sys.move(p.at, j.staging, p.at, p.name)
		if err != nil && !j.is(p.at, p.name, id) {
			return j.discard(p, id, conflict(err))
		}
		if !p.still() {
			return j.withdraw(p, id)
		}
		return j.settle(p)
	}
	err := j.h.sys.swap(p.at, j.staging, p.at, p.name)
	if err != nil && !j.is(p.at, p.name, id) {
		return j.discard(p, id, conflict(err))
	}
	if err := j.displaced(p); err != nil {
		return j.swapBack(p, id, err)
	}
	if err := j.h.sys.unlink(p.at, j.staging); err != nil && !j.free(p.at, j.staging) {
		return j.left("it was done, and what was there before", err)
	}
	return j.settle(p)
}

// displaced holds what was exchanged against the plan.
func (j *job) displaced(p *place) error {
	f, err := j.h.look(j.onwards(), p.at, j.staging, anySize)
	switch {
	case err != nil:
		return conflict(err)
	case !f.State().Is(j.plan.Changes[0].Before):
		return differs()
	case !p.still():
		return elsewhere()
	}
	return nil
}

func elsewhere() error {
	return wrong(gate.Conflict, "its directory was moved or replaced meanwhile; look and ask again")
}

// withdraw takes back what entered a place that was free.
func (j *job) withdraw(p *place, id stat) error {
	err := j.h.sys.move(p.at, p.name, p.at, j.staging)
	if err != nil && !j.is(p.at, j.staging, id) {
		return wrong(gate.HostFailed, "its directory was moved meanwhile, and it could not be taken back; look for it there").because(err)
	}
	if !j.is(p.at, j.staging, id) {
		return j.left("what somebody put there meanwhile", elsewhere())
	}
	return j.discard(p, id, elsewhere())
}

// swapBack undoes the exchange. What somebody else put there meanwhile is never
// removed: then something stays under the staging name, and the error says so.
func (j *job) swapBack(p *place, id stat, cause error) error {
	if !j.is(p.at, p.name, id) {
		return j.left("what was there before", cause)
	}
	err := j.h.sys.swap(p.at, j.staging, p.at, p.name)
	if err != nil && !j.is(p.at, j.staging, id) {
		return j.left("what was there before", errors.Join(cause, err))
	}
	f, err := j.h.look(j.onwards(), p.at, j.staging, anySize)
	if err != nil || !f.stat.same(id) || !f.State().Is(j.plan.Changes[0].After) {
		return j.left("what somebody put there meanwhile", cause)
	}
	return j.discard(p, id, cause)
}

// make makes a directory, which appears with its mode. A umask or a default ACL
// may keep its owner out at first, and then nothing is done.
func (j *job) make(p *place) error {
	s, want := j.h.sys, j.plan.After[0].Facts.Mode
	if err := s.mkdir(p.at, j.staging, want&0o777); err != nil {
		return j.stagingTaken(err)
	}
	fd, err := s.dir(p.at, j.staging)
	if err != nil {
		return j.unmade(p, err)
	}
	defer s.close(fd)
	id, err := s.stat(fd)
	if err == nil && id.mode != want {
		err = s.chmod(fd, want)
	}
	if err == nil {
		err = j.madeAsPlanned(fd)
	}
	if err == nil {
		err = s.sync(fd)
	}
	if err != nil {
		return j.unmade(p, err)
	}
	return j.enter(p, id)
}

// unmade removes a directory that was made under the staging name, and returns
// cause. Only an empty one can go, so it need not be known which it is.
func (j *job) unmade(p *place, cause error) error {
	if err := j.h.unmake(p.at, j.staging, corpus.Directory); err != nil {
		return j.left("what was made and not used", errors.Join(cause, err))
	}
	return cause
}

func (j *job) madeAsPlanned(fd int) error {
	facts, _, err := j.h.facts(fd, corpus.Digest{})
	if err == nil && !facts.State().Is(j.plan.Changes[0].After) {
		err = wrong(gate.HostFailed, "the file system did not keep the planned mode; nothing was done")
	}
	return err
}
