package gatetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Approver is who may approve, with a key that everybody knows.
const (
	Approver    = "alice"
	approverKey = 20
	nonce       = "000102030405060708090a0b0c0d0e0f"
)

// Root is a locked trust root in which only [Approver] may approve.
func Root() *trust.Root {
	key, scheme := trusttest.NewKey(trusttest.RootKey), trusttest.Scheme("default")
	d, err := trust.NewDraft(key.Public(), scheme)
	if err == nil {
		err = d.Add(trust.Entry{
			ID: Approver, PublicKey: trusttest.NewKey(approverKey).Public(), Clearance: scheme.Top().Parts(), Level: level.Declared,
			NotAfter: trust.Never, Approver: true,
		})
	}
	if err == nil {
		_, err = d.Sign(key)
	}
	if err != nil {
		panic(err)
	}
	r, err := d.Lock()
	if err != nil {
		panic(err)
	}
	return r
}

// Sign is what the approver answers, good until a time.
func Sign(choice record.Choice, expires time.Time, qs ...approval.Question) ([]approval.Answer, error) {
	return approval.Sign(qs, choice, Approver, trusttest.NewKey(approverKey), nonce, expires)
}

// Script answers questions.
type Script func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error)

// Broker follows a script. The zero value approves all, signed. It is safe for
// concurrent use.
type Broker struct {
	mu     sync.Mutex
	script Script
	asked  []approval.Question
}

// Script says what is answered from now on; nil approves.
func (b *Broker) Script(s Script) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script = s
}

// Asked are the questions that were put, in order.
func (b *Broker) Asked() []approval.Question {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// Name implements gate.Broker.
func (b *Broker) Name() string { return "script" }

// Ask implements gate.Broker.
func (b *Broker) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	b.mu.Lock()
	b.asked = append(b.asked, qs...)
	script := b.script
	b.mu.Unlock()
	if script == nil {
		script = Approves
	}
	return script(ctx, qs)
}

// Approves is a script that approves all.
func Approves(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	return each(record.Approve, qs)
}

// Denies is a script that denies all.
func Denies(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	return each(record.Deny, qs)
}

// Nobody is a script that never answers.
func Nobody(ctx context.Context, _ []approval.Question) ([]approval.Answer, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func each(choice record.Choice, qs []approval.Question) ([]approval.Answer, error) {
	var out []approval.Answer
	for _, q := range qs {
		a, err := Sign(choice, q.Asked.Add(approval.Validity), q)
		if err != nil {
			return nil, err
		}
		out = append(out, a...)
	}
	return out, nil
}
