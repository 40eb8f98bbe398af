package gate

import (
	"fmt"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// questions remembers which requests were asked about, so that an answer that
// comes too late can be recorded. The zero value remembers none.
type questions struct {
	about map[string]questioned
	order []string
}

type questioned struct {
	session  string
	envelope [32]byte
}

// maxQuestions bounds how many requests are remembered, the newest.
const maxQuestions = 1000

func (q *questions) remember(request string, about questioned) {
	if q.about == nil {
		q.about = make(map[string]questioned)
	}
	if len(q.order) >= maxQuestions {
		delete(q.about, q.order[0])
		q.order = q.order[1:]
	}
	q.about[request] = about
	q.order = append(q.order, request)
}

// Late records an answer that came when its request was decided. It has no
// effect. A request that was not asked about lately is an error.
func (g *Gate) Late(request string, a approval.Answer) error {
	g.mu.Lock()
	about, ok := g.questions.about[request]
	g.mu.Unlock()
	switch a.Cause {
	case record.CauseHuman, record.CauseWebhook, record.CausePolicy:
	default:
		return nil // nobody gave it: the broker's own clock ran out too
	}
	if !ok || a.Choice == "" {
		return fmt.Errorf("no question about %s was asked lately, or this does not answer it", request)
	}
	d := record.Decision{
		Approver: a.Approver, Batch: a.Batch, Broker: g.parts.Broker.Name(), Cause: a.Cause, Choice: a.Choice, Envelope: about.envelope,
		Expires: a.Expires, Nonce: a.Nonce, Profile: g.parts.Profile, Rule: a.Rule, SameUID: g.parts.SameUID || a.SameUID,
		Signature: a.Signature, View: a.View, Passed: a.Passed,
	}
	_, err := g.append(record.Entry{Session: about.session, Request: request, Body: record.LateDecision{Decision: d}})
	return err
}
