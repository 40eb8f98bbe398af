package fs

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// Plan implements [gate.Host]. Of a read it is empty. A directory is not deleted
// or renamed while the session has staged something in it.
func (h *Host) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	c, err := h.calls.of(env)
	if err != nil {
		return gate.Plan{}, refusal("", err)
	}
	r, err := h.use(c.object)
	if err != nil {
		return gate.Plan{}, refusal(c.object, err)
	}
	defer h.done()
	if c.reads() {
		return gate.Plan{Reach: gate.Exact}, nil
	}
	d := &draft{view: view{h, r, staged}, ctx: ctx, call: c}
	if err := d.make(); err != nil {
		return gate.Plan{}, refusal(d.about(err), err)
	}
	return d.plan, nil
}

// draft is a plan in the making.
type draft struct {
	view
	ctx           context.Context
	call          call
	plan          gate.Plan
	before, after int64 // bytes kept so far
}

// about is the object that an error is about.
func (d *draft) about(err error) corpus.Object {
	var p *pathError
	if errors.As(err, &p) {
		return corpus.Name(d.root.Corpus, p.path)
	}
	return d.call.object
}

func (d *draft) make() error {
	c := d.call
	if c.class == capability.FSWriteRev && !c.reversible() {
		return irreversible(c.op)
	}
	for _, o := range []corpus.Object{c.object, c.to} {
		if d.root.Volatile.Match(o.Path()) {
			return &gate.Refusal{Reason: gate.IsVolatile, Object: o, Detail: "it is volatile, so not observed; write elsewhere"}
		}
	}
	k := plain
	if c.op == opWrite || c.op == opAppend {
		k.most = MaxWritten
	}
	was, err := d.look(d.ctx, c.object, k)
	if err == nil {
		err = ordinary(was)
	}
	if err != nil {
		return err
	}
	if c.expect != "" && was.State() != c.expect {
		return wrong(gate.Conflict, "its state is not the one expected; read it again")
	}
	d.plan.Reach = gate.Exact
	return d.steps(was)
}

func (d *draft) steps(was found) error {
	switch d.call.op {
	case opWrite, opAppend:
		return d.write(was)
	case opMkdir:
		return d.mkdir(was)
	case opDelete:
		return d.delete(was)
	case opRename:
		return d.rename(was)
	default:
		return d.chmod(was)
	}
}

func irreversible(op string) error {
	return wrong(gate.NotReversible, "op %s cannot be put back; ask for it under fs.write.irrev", op)
}

// ordinary refuses what is neither file nor directory.
func ordinary(f found) error {
	switch f.Facts.Kind {
	case corpus.Link:
		return wrong(gate.IsLink, "a symbolic link; name what it points to")
	case corpus.Special:
		return wrong(gate.IsSpecial, "a device, FIFO or socket; only files and directories are worked on")
	}
	return nil
}

// add plans one change, keeping what of the copies there is room for.
func (d *draft) add(o corpus.Object, before, after corpus.Copy) {
	d.plan.Changes = append(d.plan.Changes, corpus.Change{Object: o, Before: before.State(), After: after.State()})
	d.plan.Before = append(d.plan.Before, keep(before, &d.before))
	d.plan.After = append(d.plan.After, keep(after, &d.after))
}

func keep(c corpus.Copy, kept *int64) corpus.Copy {
	if n := c.Size(); c.Cut || n > MaxCopy || *kept+n > MaxCopies {
		return corpus.Copy{Facts: c.Facts, Cut: true}
	}
	*kept += c.Size()
	return c
}

func (d *draft) write(was found) error {
	c := d.call
	d.plan.Appends = c.op == opAppend
	if was.Facts.Kind == corpus.Directory {
		return wrong(gate.NotAFile, "a directory; name a file in it")
	}
	facts, attrs := was.Facts, was.xattrs
	if was.absent() {
		var err error
		if facts, attrs, err = d.birth(corpus.File, c.mode); err != nil {
			return err
		}
	} else if err := d.mayOwn(was); err != nil {
		return err
	}
	size := int64(len(c.data))
	if c.op == opAppend {
		size += was.stat.size
	}
	if size > MaxWritten {
		return wrong(gate.TooLarge, "it would hold more than %d bytes; write less", MaxWritten)
	}
	d.add(c.object, was.Copy, written(c, was, facts, attrs))
	return nil
}

// written is the file as it will be.
func written(c call, was found, facts corpus.Facts, attrs []corpus.Xattr) corpus.Copy {
	switch {
	case c.op == opWrite:
		return corpus.NewCopy(facts, c.data, attrs)
	case !was.Cut:
		return corpus.NewCopy(facts, was.Data+c.data, attrs)
	}
	was.sum.Write([]byte(c.data))
	facts.Xattrs, facts.Content = corpus.XattrDigest(attrs), sha256Of(was)
	return corpus.Copy{Facts: facts, Cut: true}
}

func sha256Of(f found) corpus.Digest { return corpus.Digest(f.sum.Sum(make([]byte, 0, sha256.Size))) }

// mayOwn refuses a file whose owner would not survive its replacement.
func (d *draft) mayOwn(f found) error {
	if d.h.uid != 0 && f.Facts.UID != d.h.uid {
		return wrong(gate.NoAccess, "it belongs to user %d, and this runs as %d; change its owner", f.Facts.UID, d.h.uid)
	}
	return nil
}

func (d *draft) mkdir(was found) error {
	if !was.absent() {
		return wrong(gate.AlreadyThere, "it is there already, a %s", was.Facts.Kind)
	}
	facts, _, err := d.birth(corpus.Directory, d.call.mode)
	if err == nil {
		d.add(d.call.object, corpus.Copy{}, corpus.NewCopy(facts, "", nil))
	}
	return err
}

func (d *draft) chmod(was found) error {
	if was.absent() {
		return fs.ErrNotExist
	}
	if err := d.mayOwn(was); err != nil {
		return err
	}
	if was.Facts.Kind == corpus.Directory {
		if err := readable(d.call.mode, leastDir); err != nil {
			return err
		}
	}
	after, attrs := was.Copy, chmodded(was.xattrs, d.call.mode)
	after.Facts.Mode = d.call.mode
	after.Facts.Xattrs = corpus.XattrDigest(attrs)
	if !was.Cut {
		after.Xattrs = attrs
	}
	d.add(d.call.object, was.Copy, after)
	return nil
}

func (d *draft) delete(was found) error {
	o := d.call.object
	switch {
	case was.absent():
		return fs.ErrNotExist
	case was.Facts.Kind != corpus.Directory:
		d.add(o, was.Copy, corpus.Copy{})
		return nil
	}
	inside, err := d.subtree(o)
	if err != nil {
		return err
	}
	if len(inside) > 0 && !d.call.recursive {
		return wrong(gate.NotEmpty, "the directory holds something; delete it with recursive")
	}
	for i := len(inside) - 1; i >= 0; i-- {
		d.add(inside[i].object, inside[i].Copy, corpus.Copy{})
	}
	d.add(o, was.Copy, corpus.Copy{})
	return nil
}

func (d *draft) rename(was found) error {
	from, to := d.call.object, d.call.to
	if was.absent() {
		return fs.ErrNotExist
	}
	there, err := d.look(d.ctx, to, plain)
	if err == nil {
		err = ordinary(there)
	}
	if err == nil && !there.absent() && (there.Facts.Kind == corpus.Directory || was.Facts.Kind == corpus.Directory) {
		err = wrong(gate.AlreadyThere, "a %s is there already; delete it first", there.Facts.Kind)
	}
	if err != nil {
		return refusal(to, err)
	}
	inside := []member{{object: from, found: was}}
	if was.Facts.Kind == corpus.Directory {
		more, err := d.subtree(from)
		if err != nil {
			return err
		}
		inside = append(inside, more...)
	}
	for _, m := range inside {
		d.add(m.object, m.Copy, corpus.Copy{})
	}
	for i, m := range inside {
		before := there.Copy
		if i > 0 {
			before = corpus.Copy{}
		}
		moved := to + m.object[len(from):]
		if d.root.Volatile.Match(moved.Path()) {
			return &gate.Refusal{Reason: gate.IsVolatile, Object: moved, Detail: "it would be volatile there; rename to elsewhere"}
		}
		d.add(moved, before, m.Copy)
	}
	return nil
}
