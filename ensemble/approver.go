package ensemble

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/record"
)

// manner is how an approver answers.
type manner uint8

const (
	signs   manner = iota // approves, signed
	denies                // as a person does, unsigned
	refuses               // denies, signed
	fails                 // gives no answer
	lapses                // approves, but only until a moment ago
	rules                 // approves everything, as a policy does, unsigned
)

// approver answers every question at once, with a key of its own. There is no
// broker like it outside of this package: one that approves everything asks
// nobody.
type approver struct {
	key  *keyfile.Key
	seed uint64
	wary int // of a hundred questions, how many it does not approve
	rule int // of a hundred questions, how many are left to a rule that allows all, save for what is guarded

	mu    sync.Mutex
	hooks map[corpus.Object]hook
}

// hook is how a fault wants a question to be answered.
type hook func(context.Context, approval.Question) (manner, error)

func approves(context.Context, approval.Question) (manner, error) { return signs, nil }

// Name implements gate.Broker.
func (a *approver) Name() string { return "ensemble" }

// Ask implements gate.Broker. How it answers depends on the call and the seed,
// not on when it is asked.
func (a *approver) Ask(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	var out []approval.Answer
	for _, q := range qs {
		answer, err := a.answer(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, answer)
	}
	return out, nil
}

func (a *approver) answer(ctx context.Context, q approval.Question) (approval.Answer, error) {
	how, err := a.decide(ctx, q)
	if err != nil {
		return approval.Answer{}, err
	}
	choice, until := record.Approve, time.Now().Add(approval.Validity)
	switch how {
	case rules:
		return approval.Answer{Choice: record.Approve, Cause: record.CausePolicy, Broker: a.Name(), Rule: "allow all"}, nil
	case denies:
		return approval.Answer{Choice: record.Deny, Cause: record.CauseHuman, Broker: a.Name()}, nil
	case fails:
		return approval.Answer{}, errors.New("the approver is not there")
	case refuses:
		choice = record.Deny
	case lapses:
		until = time.Now().Add(-time.Second)
	}
	answers, err := approval.Sign([]approval.Question{q}, choice, approverID, a.key, approval.Nonce(nonce(q)), until)
	if err != nil {
		return approval.Answer{}, err
	}
	answers[0].Broker = a.Name()
	return answers[0], nil
}

// decide says how a question is answered: as a fault wants, or as the seed has it.
func (a *approver) decide(ctx context.Context, q approval.Question) (manner, error) {
	a.mu.Lock()
	answer := a.hook(q)
	a.mu.Unlock()
	if answer != nil {
		return answer(ctx, q)
	}
	hash := q.Envelope.Hash()
	n := int(mix(a.seed, binary.BigEndian.Uint64(hash[:])) % 1000)
	if q.Guarded == "" && n < 10*a.rule {
		return rules, nil
	}
	if n >= 10*a.wary {
		return signs, nil
	}
	return []manner{denies, denies, denies, refuses, fails, lapses}[n%6], nil
}

// hook is how a fault wants the question answered, if one does. a.mu is held.
func (a *approver) hook(q approval.Question) hook {
	for _, c := range q.Plan {
		if h := a.hooks[c.Object]; h != nil {
			return h
		}
	}
	return nil
}

// mind sets how questions about an object are answered.
func (a *approver) mind(o corpus.Object, f hook) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hooks == nil {
		a.hooks = make(map[corpus.Object]hook)
	}
	a.hooks[o] = f
}

// forget has questions about an object answered as others are: a fault strikes once,
// and agents may ask about its object later.
func (a *approver) forget(o corpus.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.hooks, o)
}

// nonce is of a question: no other has its number in this log.
func nonce(q approval.Question) (out [16]byte) {
	hash := q.Envelope.Hash()
	copy(out[:8], hash[:])
	binary.BigEndian.PutUint64(out[8:], uint64(q.Seq)+1)
	return out
}

// mix is a number that follows from two others (the finaliser of SplitMix64).
func mix(a, b uint64) uint64 {
	x := a ^ b*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
