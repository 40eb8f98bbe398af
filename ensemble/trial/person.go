package trial

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/broker"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/record"
)

// person answers at once what a person would be asked, with a key that is worth
// nothing outside of its trial. There is none to be had from this package.
type person struct {
	id     string
	key    *keyfile.Key
	answer Answer
	seed   uint64
	now    func() time.Time
}

// Name implements [broker.Link].
func (p *person) Name() string { return "played" }

// Ask implements [broker.Link].
func (p *person) Ask(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	var out []approval.Answer
	for _, q := range qs {
		var random [16]byte
		_, _ = rand.Read(random[:])
		signed, err := approval.Sign([]approval.Question{q}, p.choice(q), p.id, p.key, approval.Nonce(random), p.now().Add(approval.Validity))
		if err != nil {
			return nil, err
		}
		signed[0].Broker = p.Name()
		out = append(out, signed[0])
	}
	return out, nil
}

// choice hangs on the call and the seed, and not on when it is asked.
func (p *person) choice(q approval.Question) record.Choice {
	switch p.answer {
	case Approve:
		return record.Approve
	case Script:
		hash := q.Envelope.Hash()
		n := binary.BigEndian.Uint64(hash[:]) ^ p.seed*0x9e3779b97f4a7c15
		if n%5 != 0 {
			return record.Approve
		}
	}
	return record.Deny
}

// broker is who the configuration asks, with the played person where it asks one.
// Nobody behind a person is ever asked.
func (t *Trial) broker() gate.Broker {
	var links []broker.Link
	for _, ask := range t.home.Config().Gate.Chain {
		if ask == home.AskPolicy {
			links = append(links, t.policy)
			continue
		}
		links = append(links, &person{t.person, t.approver, t.options.Answer, t.options.Seed, t.options.Now})
		break
	}
	if len(links) == 0 {
		return broker.DenyAll{}
	}
	return broker.Chain(links...)
}
