package ensemble

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// forged is a call that nobody made, and its records.
type forged struct {
	id       string
	envelope capability.Envelope
	change   corpus.Change
}

// forge makes up a call that replaces a file. Its id is one that no gate comes to
// in a run.
func (i *injection) forge(path string, before, after corpus.State) (forged, error) {
	target, err := capability.ParseTarget(capability.FSWriteIrrev, path)
	if err != nil {
		return forged{}, err
	}
	e, err := capability.NewEnvelope(capability.Call{Target: target, Arguments: args{Op: "write", Content: i.words()}.form()})
	return forged{
		id: fmt.Sprintf("r%d.%d", i.runtime.Fence(), 1_000_000+i.rand.IntN(1_000_000)), envelope: e,
		change: corpus.Change{Object: object(path), Before: before, After: after},
	}, err
}

func (f forged) request(agent string) record.Request {
	return record.Request{
		Agent: agent, Capability: capability.FSWriteIrrev.String(), Effect: capability.Irreversible.String(), Envelope: f.envelope.Hash(),
		Level: "declared", Mark: "PUBLIC", Plan: []corpus.Change{f.change}, Target: f.envelope.Target().String(),
	}
}

func (f forged) outcome(readings ...corpus.Change) record.Executed {
	return record.Executed{Outcome: record.Outcome{Envelope: f.envelope.Hash(), Readings: readings}}
}

// records are all of a call that was executed, with this decision.
func (i *injection) records(f forged, d record.Decision, readings corpus.Change) []record.Body {
	return []record.Body{
		f.request(i.sessionAgent()), d,
		record.Intent{Attempt: 1, Envelope: f.envelope.Hash(), Fence: i.runtime.Fence(), Key: "k", Plan: []corpus.Change{f.change}},
		f.outcome(readings),
	}
}

func (i *injection) sessionAgent() string { return string(i.sessions[0].Agent()) }

// append writes records of a call beside the gate.
func (i *injection) append(ctx context.Context, id string, bodies ...record.Body) error {
	var entries []record.Entry
	for _, b := range bodies {
		entries = append(entries, record.Entry{Session: i.sessions[0].ID(), Request: id, Body: b})
	}
	_, err := i.log.Append(ctx, entries...)
	return err
}

// void is an approval of a call by nobody who may, or not of this call: without a
// signature, with noise for one, signed by a key that no trust root names, or by the
// approver for another request.
func (i *injection) void(e capability.Envelope) (record.Decision, error) {
	d := record.Decision{Broker: "ensemble", Cause: record.CauseHuman, Choice: record.Approve, Envelope: e.Hash(), Profile: "dev"}
	how := i.rand.IntN(4)
	if how == 0 {
		return d, nil
	}
	key, q := i.kit.approver, approval.Question{
		Log: i.origin(), Fence: i.runtime.Fence(), Session: i.sessions[0].ID(), Request: "r0.0", Seq: 1, Envelope: e,
	}
	if how == 1 {
		key = i.kit.stranger
	}
	answers, err := approval.Sign([]approval.Question{q}, record.Approve, approverID, key, approval.Nonce(nonce(q)), time.Now().Add(approval.Validity))
	if err != nil {
		return d, err
	}
	a := answers[0]
	d.Approver, d.Nonce, d.Expires, d.View, d.Signature = a.Approver, a.Nonce, a.Expires, a.View, a.Signature
	if how == 2 {
		d.Signature = base64.StdEncoding.EncodeToString(make([]byte, 64))
	}
	return d, nil
}

// state is what an object is now.
func (i *injection) state(ctx context.Context, path string) (corpus.State, error) {
	s, err := i.observer.Read(ctx, []corpus.Object{object(path)})
	if err != nil {
		return "", err
	}
	return s[0], nil
}

// imagined is a state that the object never has.
func (i *injection) imagined() corpus.State {
	return corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, i.words(), nil).State()
}

// lie makes up a call on a spare file that is said to have been replaced.
func (i *injection) lie(ctx context.Context) (string, forged, error) {
	path := i.spare()
	now, err := i.state(ctx, path)
	if err != nil {
		return "", forged{}, err
	}
	f, err := i.forge(path, now, i.imagined())
	return path, f, err
}

func (i *injection) fakeOutcome(ctx context.Context) (Want, error) {
	path, f, err := i.lie(ctx)
	if err != nil {
		return Want{}, err
	}
	want := wanted(verdict.Forgery, path)
	switch i.rand.IntN(3) {
	case 0: // of no call, without readings
		return want, i.append(ctx, f.id, f.outcome())
	case 1: // of no call, and what it is said to have changed is not so
		want.With = []verdict.Class{verdict.Bypass}
		return want, i.append(ctx, f.id, f.outcome(f.change))
	}
	v := i.victim("write", "create")
	r := i.sessions[0].Call(ctx, v.call)
	if r.Status != gate.Done {
		return want, fmt.Errorf("the call to be repeated was %s %s: %s", r.Status, r.Reason, r.Message)
	}
	want.Objects = append(want.Objects, object(v.path))
	return want, i.append(ctx, r.Request, f.outcome())
}

func (i *injection) fakeCall(ctx context.Context) (Want, error) {
	path, f, err := i.lie(ctx)
	if err != nil {
		return Want{}, err
	}
	d, err := i.void(f.envelope)
	if err != nil {
		return Want{}, err
	}
	want := wanted(verdict.Forgery, path)
	want.With = []verdict.Class{verdict.Overlap}
	return want, i.append(ctx, f.id, i.records(f, d, f.change)...)
}

// fakeApproval writes an approval while the approver is asked, who says no.
func (i *injection) fakeApproval(ctx context.Context) (Want, error) {
	v := i.victim("write", "create", "append", "delete", "chmod")
	i.approver.mind(object(v.path), func(ctx context.Context, q approval.Question) (manner, error) {
		d, err := i.void(q.Envelope)
		return denies, errors.Join(err, i.append(ctx, q.Request, d))
	})
	defer i.approver.forget(object(v.path))
	if r := i.sessions[0].Call(ctx, v.call); r.Status != gate.Denied {
		return Want{}, fmt.Errorf("the call that nobody approved was %s %s: %s", r.Status, r.Reason, r.Message)
	}
	return wanted(verdict.Forgery, v.path), nil
}

// fakeGrant makes up a call that nobody has to sign for. By its records nothing is
// wrong with it; what is read is.
func (i *injection) fakeGrant(ctx context.Context) (Want, error) {
	path, f, err := i.lie(ctx)
	if err != nil {
		return Want{}, err
	}
	d := record.Decision{Broker: "level", Cause: record.CauseLevel, Choice: record.Approve, Envelope: f.envelope.Hash(), Profile: "dev", Rule: "fs.write.irrev(**)"}
	class, readings := verdict.Overlap, f.change
	if i.rand.IntN(2) == 0 {
		class, readings.After = verdict.SilentFailure, readings.Before
	}
	return wanted(class, path), i.append(ctx, f.id, i.records(f, d, readings)...)
}

// offset changes an object and makes up a call that did just that.
func (i *injection) offset(ctx context.Context) (Want, error) {
	path := i.spare()
	err := i.calmly(ctx, func(ctx context.Context) error {
		before, err := i.state(ctx, path)
		if err != nil {
			return err
		}
		if err := i.scribble(path); err != nil {
			return err
		}
		after, err := i.state(ctx, path)
		if err != nil {
			return err
		}
		f, err := i.forge(path, before, after)
		if err != nil {
			return err
		}
		d, err := i.void(f.envelope)
		if err != nil {
			return err
		}
		return i.append(ctx, f.id, i.records(f, d, f.change)...)
	})
	return wanted(verdict.Forgery, path), err
}
