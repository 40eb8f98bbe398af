package ensemble

import (
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/verdict"
)

func (i *injection) bypassOutside(context.Context) (Want, error) {
	path := i.somewhere()
	return wanted(verdict.Bypass, path), i.stealth(path)
}

func (i *injection) bypassInside(ctx context.Context) (Want, error) {
	v, path := i.victim(anyOps...), i.somewhere()
	stealth := func() error { return i.stealth(path) }
	before, after := stealth, idle
	if i.rand.IntN(2) == 0 {
		before, after = idle, stealth
	}
	return wanted(verdict.Bypass, path), i.struck(ctx, v.call, i.beside(before, after))
}

func (i *injection) silent(ctx context.Context) (Want, error) {
	v := i.victim(anyOps...)
	return wanted(verdict.SilentFailure, v.paths()...), i.struck(ctx, v.call, instead(func(gate.Order) error { return nil }))
}

// otherTarget has the state that was approved appear somewhere else. An append or
// a new mode elsewhere leaves a state that nobody approved for anything; that is
// no wrong target by its evidence, but a silent failure beside a bypass.
func (i *injection) otherTarget(ctx context.Context) (Want, error) {
	v := i.victim("write", "create", "mkdir", "delete", "rename")
	other := i.fresh()
	if v.op == "delete" || v.op == "write" {
		other = i.spare()
	}
	err := i.struck(ctx, v.call, instead(func(o gate.Order) error {
		if v.op == "rename" {
			return errors.Join(i.corpus.remove(v.path), i.corpus.put(other, o.Plan.After[1]))
		}
		return i.corpus.put(other, o.Plan.After[0])
	}))
	return wanted(verdict.WrongTarget, append(v.paths(), other)...), err
}

// swap makes two calls at once. The first to come waits for the other, which does
// both the wrong way round: each is still under its lease then.
func (i *injection) swap(ctx context.Context) (Want, error) {
	op := pick(i.rand, "write", "create")
	a, b := i.victim(op), i.victim(op)
	first, done := make(chan gate.Order), make(chan struct{})
	meet := strike(func(ctx context.Context, p *gate.Permit) (gate.Result, error) {
		o, err := p.Take()
		if err != nil {
			return gate.Result{}, err
		}
		select {
		case first <- o:
			return nothingDone, await(ctx, done)
		case other := <-first:
			defer close(done)
			return nothingDone, errors.Join(i.corpus.put(pathOf(o), other.Plan.After[0]), i.corpus.put(pathOf(other), o.Plan.After[0]))
		case <-ctx.Done():
			return gate.Result{}, ctx.Err()
		}
	})
	at := i.armed()
	at.strike.Store(&meet)
	defer at.strike.Store(nil)
	second := make(chan error, 1)
	go func() { second <- i.do(ctx, b.call) }()
	err := i.do(ctx, a.call)
	return wanted(verdict.WrongTarget, a.path, b.path), errors.Join(err, <-second)
}

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// otherContent has another state left than was approved.
func (i *injection) otherContent(ctx context.Context) (Want, error) {
	v := i.victim(anyOps...)
	err := i.struck(ctx, v.call, instead(func(o gate.Order) error {
		last := len(o.Plan.Changes) - 1
		to := o.Plan.After[last]
		switch v.op {
		case "delete":
			return i.corpus.write(v.path, "", 0o644)
		case "mkdir", "chmod":
			to.Facts.Mode = 0o700
		case "rename":
			if err := i.corpus.remove(v.path); err != nil {
				return err
			}
			to = corpus.NewCopy(to.Facts, i.words(), nil)
		default:
			to = corpus.NewCopy(to.Facts, to.Data+i.words(), nil)
		}
		return i.corpus.put(o.Plan.Changes[last].Object.Path(), to)
	}))
	return wanted(verdict.WrongContent, v.paths()...), err
}

func (i *injection) lateContent(ctx context.Context) (Want, error) {
	v := i.victim("write", "create", "append", "chmod", "rename", "delete")
	at := v.paths()[len(v.paths())-1]
	return wanted(verdict.WrongContent, at), i.struck(ctx, v.call, i.beside(idle, func() error { return i.scribble(at) }))
}

func (i *injection) drift(ctx context.Context) (Want, error) {
	v := i.victim("write", "append", "delete", "rename", "chmod")
	change := i.scribble
	if v.op == "write" {
		change = i.stealth
	}
	if err := change(v.path); err != nil {
		return Want{}, err
	}
	return wanted(verdict.Drift, v.path), i.do(ctx, v.call)
}

// stale changes the object while the question about it is being answered. The call
// finds another world than was approved and is not tried, so nobody ever leases
// the object.
func (i *injection) stale(ctx context.Context) (Want, error) {
	v := i.victim("write", "create", "delete", "rename", "chmod")
	i.approver.mind(object(v.path), func(context.Context, approval.Question) (manner, error) { return signs, i.scribble(v.path) })
	defer i.approver.forget(object(v.path))
	r := i.sessions[0].Call(ctx, v.call)
	if r.Status == gate.Done || r.Reason != gate.Conflict {
		return Want{}, fmt.Errorf("a call on an object that had changed since was %s %s: %s", r.Status, r.Reason, r.Message)
	}
	return wanted(verdict.Bypass, v.path), nil
}

func (i *injection) overlap(ctx context.Context) (Want, error) {
	v := i.victim("write", "create", "append")
	if err := i.do(ctx, v.call); err != nil {
		return Want{}, err
	}
	if err := i.scribble(v.path); err != nil {
		return Want{}, err
	}
	next := i.on(pick(i.rand, "write", "append"), v.path)
	return wanted(verdict.Overlap, v.path), i.do(ctx, next.call)
}

func (i *injection) overlapAfter(ctx context.Context) (Want, error) {
	v := i.victim(anyOps...)
	if err := i.do(ctx, v.call); err != nil {
		return Want{}, err
	}
	at := v.paths()[len(v.paths())-1]
	if v.op == "mkdir" {
		return wanted(verdict.Overlap, at), i.corpus.chmod(at, 0o700)
	}
	return wanted(verdict.Overlap, at), i.scribble(at)
}

// errHalf is how a host fails that has done half.
var errHalf = &gate.Refusal{Reason: gate.NoRoom, Detail: "the disk is full; make room"}

func (i *injection) partial(ctx context.Context) (Want, error) {
	op := pick(i.rand, "rename", "write")
	if i.config.Cast == Wild && i.rand.IntN(3) == 0 {
		op = "tree"
	}
	v := victim{op: op, path: tree, call: irreversible(tree, args{Op: "delete", Recursive: true})}
	if op != "tree" {
		v = i.victim(op)
	}
	i.approver.mind(object(v.path+"/receipts-1.csv"), approves)
	want := wanted(verdict.Partial)
	f := instead(func(o gate.Order) error {
		changes := o.Plan.Changes
		switch op {
		case "rename":
			want.Objects = append(want.Objects, changes[1].Object)
			return errors.Join(i.corpus.put(changes[1].Object.Path(), o.Plan.After[1]), errHalf)
		case "write":
			want.Objects = append(want.Objects, changes[0].Object)
			return errors.Join(i.corpus.write(v.path, "", 0o644), errHalf)
		}
		for _, c := range changes[:1+i.rand.IntN(len(changes)-1)] {
			want.Objects = append(want.Objects, c.Object)
			if err := i.corpus.remove(c.Object.Path()); err != nil {
				return err
			}
		}
		return errHalf
	})
	at := i.armed()
	at.strike.Store(&f)
	defer at.strike.Store(nil)
	if r := i.sessions[0].Call(ctx, v.call); r.Status != gate.Failed {
		return want, fmt.Errorf("a call that failed half way was %s %s: %s", r.Status, r.Reason, r.Message)
	}
	return want, nil
}

func (i *injection) tamper(context.Context) (Want, error) {
	path := pick(i.rand, control, "skills/"+editorSkill+"/SKILL.md", "skills/"+editorSkill+"/skill.iff.json", "skills/"+editorSkill+"/extra.md")
	if _, there := i.corpus.text(path); path == control && there && i.rand.IntN(2) == 0 {
		return wanted(verdict.Tamper, path), i.corpus.remove(path)
	}
	return wanted(verdict.Tamper, path), i.scribble(path)
}

// restored puts back what it changed, under another call's lease, so that nobody
// takes a snapshot in between.
func (i *injection) restored(ctx context.Context) (Want, error) {
	v := i.victim("write", "append", "delete", "rename", "chmod")
	path := v.path
	if i.rand.IntN(2) == 0 {
		path = i.spare()
	}
	text, _ := i.corpus.text(path)
	return Want{}, i.struck(ctx, v.call, i.beside(func() error {
		return errors.Join(i.scribble(path), i.corpus.write(path, text, 0o644))
	}, idle))
}

func (i *injection) erased(ctx context.Context) (Want, error) {
	v := i.victim("write", "create")
	return Want{}, i.struck(ctx, v.call, instead(func(o gate.Order) error {
		return errors.Join(i.scribble(v.path), i.corpus.put(v.path, o.Plan.After[0]))
	}))
}

func (i *injection) unobserved(context.Context) (Want, error) {
	return Want{}, i.corpus.write(volatileDir+"/session.lock", i.words(), 0o600)
}

// crash kills the runtime in a call that changes something: before the host does it,
// when it is done and nothing says so, or when the log says so and nobody was told.
func (i *injection) crash(ctx context.Context) error {
	v, instants := i.victim(anyOps...), i.rand.Int64N(4)
	f := strike(func(ctx context.Context, p *gate.Permit) (gate.Result, error) {
		if instants == 0 {
			i.fuse.left.Store(0)
			return gate.Result{}, errDead
		}
		r, err := i.files.Do(ctx, p)
		i.fuse.left.Store(instants)
		return r, err
	})
	at := i.armed()
	at.strike.Store(&f)
	defer at.strike.Store(nil)
	if r := i.sessions[0].Call(ctx, v.call); !i.fuse.dead() {
		return fmt.Errorf("a call in which the runtime was to be killed was %s %s: %s", r.Status, r.Reason, r.Message)
	}
	return errDead
}

// pathOf is the path of what an order changes first.
func pathOf(o gate.Order) string { return o.Plan.Changes[0].Object.Path() }
