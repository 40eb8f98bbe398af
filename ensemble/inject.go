package ensemble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/verdict"
)

// injection puts one fault into a run. Its calls are made by the first agent on
// objects that no agent touches.
type injection struct {
	*stage
	rand  *rand.Rand
	class capability.Capability // of its calls; no agent makes one of it meanwhile
	taken []string              // files so far
	made  int                   // new names so far
}

// injections are how each fault is put in, and what a verdict has to find.
var injections = map[Fault]func(*injection, context.Context) (Want, error){
	BypassOutside: (*injection).bypassOutside,
	BypassInside:  (*injection).bypassInside,
	FakeOutcome:   (*injection).fakeOutcome,
	FakeCall:      (*injection).fakeCall,
	FakeApproval:  (*injection).fakeApproval,
	FakeGrant:     (*injection).fakeGrant,
	Silent:        (*injection).silent,
	OtherTarget:   (*injection).otherTarget,
	Swap:          (*injection).swap,
	OtherContent:  (*injection).otherContent,
	LateContent:   (*injection).lateContent,
	Drift:         (*injection).drift,
	Stale:         (*injection).stale,
	Overlap:       (*injection).overlap,
	OverlapAfter:  (*injection).overlapAfter,
	Partial:       (*injection).partial,
	Offset:        (*injection).offset,
	Tamper:        (*injection).tamper,
	Restored:      (*injection).restored,
	Erased:        (*injection).erased,
	Unobserved:    (*injection).unobserved,
}

// onlyIrreversible are the faults whose calls are asked about, or change more than
// one object.
var onlyIrreversible = []Fault{FakeApproval, Stale, Partial}

func wanted(class verdict.Class, paths ...string) Want {
	w := Want{Class: class}
	for _, p := range paths {
		w.Objects = append(w.Objects, object(p))
	}
	return w
}

// spare is a file that no agent touches; in the paper's cast it is any file.
func (i *injection) spare() string {
	path := ""
	if i.config.Cast == Paper {
		path = i.any()
	} else {
		path = i.corpus.spares[len(i.taken)]
	}
	i.taken = append(i.taken, path)
	return path
}

// any is a file that is there now.
func (i *injection) any() string {
	return pick(i.rand, slices.DeleteFunc(slices.Collect(i.corpus.there), func(path string) bool { return slices.Contains(i.taken, path) })...)
}

// ensure has the first agent make files, if agents have left fewer than a fault
// needs.
func (i *injection) ensure(ctx context.Context) error {
	n := 0
	for range i.corpus.there {
		if n++; n == spares {
			return nil
		}
	}
	for ; n < spares; n++ {
		if err := i.do(ctx, i.on("create", i.fresh()).call); err != nil {
			return err
		}
	}
	return nil
}

// fresh is a name in a directory that stays, and that no agent uses.
func (i *injection) fresh() string {
	i.made++
	return fmt.Sprintf("%s/2031-%02d-%02d correction.md", directories[i.rand.IntN(len(directories))].name, 1+i.rand.IntN(12), i.made)
}

// words are in no other file.
func (i *injection) words() string { return fmt.Sprintf("%016x %d\n", i.rand.Uint64(), i.made) }

// victim is a call that a fault befalls.
type victim struct {
	call  gate.Call
	op    string
	path  string
	other string // of a rename: where to
}

// paths are what it is to change.
func (v victim) paths() []string {
	if v.other != "" {
		return []string{v.path, v.other}
	}
	return []string{v.path}
}

// Operations of victims: all, and those that can be put back.
var (
	anyOps = []string{"write", "create", "append", "mkdir", "delete", "rename", "chmod"}
	revOps = []string{"write", "create", "append", "mkdir"}
)

// victim makes a call of one of the operations, as far as the class has them.
func (i *injection) victim(ops ...string) victim {
	can := slices.DeleteFunc(slices.Clone(ops), func(op string) bool {
		return i.class != capability.FSWriteIrrev && !slices.Contains(revOps, op)
	})
	op := pick(i.rand, can...)
	if op == "create" || op == "mkdir" {
		return i.on(op, i.fresh())
	}
	return i.on(op, i.spare())
}

// on makes a call on an object, which will be approved if it is asked about.
func (i *injection) on(op, path string) victim {
	v := victim{op: op, path: path}
	i.approver.mind(object(path), approves)
	a := args{Op: op}
	switch op {
	case "write", "create":
		a = args{Op: "write", Content: i.words()}
	case "append":
		a.Content = i.words()
	case "rename":
		v.other = i.fresh()
		a.To = v.other
	case "chmod":
		a.Mode = "0600"
	}
	v.call = write(i.class.String(), path, a)
	return v
}

// do makes a call that has to be done.
func (i *injection) do(ctx context.Context, c gate.Call) error {
	if r := i.sessions[0].Call(ctx, c); r.Status != gate.Done {
		return fmt.Errorf("the call to be faulted, %s %s %s, was %s %s: %s", c.Capability, c.Target, c.Arguments, r.Status, r.Reason, r.Message)
	}
	return nil
}

// struck makes a call that the host has, and the fault instead of it.
func (i *injection) struck(ctx context.Context, c gate.Call, f strike) error {
	at := i.armed()
	at.strike.Store(&f)
	defer at.strike.Store(nil)
	return i.do(ctx, c)
}

func (i *injection) armed() *host {
	if i.class == capability.FSWriteIrrev {
		return i.irreversible
	}
	return i.reversible
}

// instead is a strike that has nothing done but what f does.
func instead(f func(gate.Order) error) strike {
	return func(_ context.Context, p *gate.Permit) (gate.Result, error) {
		o, err := p.Take()
		if err != nil {
			return gate.Result{}, err
		}
		return nothingDone, f(o)
	}
}

// beside is a strike that has the host do the call, and f before and after.
func (i *injection) beside(before, after func() error) strike {
	return func(ctx context.Context, p *gate.Permit) (gate.Result, error) {
		if err := before(); err != nil {
			return gate.Result{}, err
		}
		r, err := i.files.Do(ctx, p)
		return r, errors.Join(err, after())
	}
}

func idle() error { return nil }

// calmly does something while nobody holds a lease and nobody reads.
func (i *injection) calmly(ctx context.Context, f func(context.Context) error) error {
	return i.runtime.Gate().Barrier(ctx, f)
}

// stealth changes an object behind the gate's back: a file that is there, or a new
// one.
func (i *injection) stealth(path string) error {
	text, there := i.corpus.text(path)
	if !there {
		return i.corpus.write(path, i.words(), 0o644)
	}
	switch i.rand.IntN(4) {
	case 0:
		return i.corpus.remove(path)
	case 1:
		return i.corpus.chmod(path, 0o640)
	case 2:
		return i.corpus.write(path, text+i.words(), 0o644)
	}
	return i.scribble(path)
}

// scribble leaves other content, and the file there.
func (i *injection) scribble(path string) error { return i.corpus.write(path, i.words(), 0o644) }

// somewhere is an object that nobody leases.
func (i *injection) somewhere() string {
	if i.rand.IntN(2) == 0 {
		return i.fresh()
	}
	return i.spare()
}
