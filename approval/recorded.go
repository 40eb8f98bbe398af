package approval

import (
	"time"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Recorded is a decision as a log has it, with the request that it is about.
type Recorded struct {
	Log      string // origin
	Fence    int64  // of the runtime that asked
	Session  string // id
	Request  string // id
	Seq      int64  // sequence number of the request record
	Asked    record.Request
	Decision record.Decision
	At       time.Time // of the decision record
}

// recordSlack is what may lie between a check and the time that its record got.
const recordSlack = time.Minute

// CheckRecord is [Question.Check] from the log alone, for an audit years later.
// What was shown is not there any more, so the decision's word for it is taken,
// as the signature covers it. What counts is who could approve when the decision
// was recorded: a revocation that was entered later undoes nothing. It is
// entered to the second; within that second the order of the records tells.
// Decisions that nobody signs, such as one by a grant at the skill's level, are
// good here if they do not look signed.
func CheckRecord(r Recorded, root *trust.Root) error {
	return run(recordChecks(), r.claim(root))
}

func (r Recorded) claim(root *trust.Root) *claim {
	d := r.Decision
	return &claim{
		question: r.check, log: r.Log, fence: r.Fence,
		shown: shown{d.View, itemDigest(r.Session, r.Request, r.Seq, r.Asked.Envelope, d.View)},
		answer: Answer{
			Choice: d.Choice, Cause: d.Cause, Broker: d.Broker, Rule: d.Rule,
			Approver: d.Approver, Nonce: d.Nonce, Expires: d.Expires, Batch: d.Batch,
			Signature: d.Signature, View: d.View, SameUID: d.SameUID,
		},
		now: r.At, slack: recordSlack,
		signer: func() (trust.Entry, error) { return pastSigner(root, d.Approver, r.At) },
		verify: proof.good,
	}
}

// recordChecks are those of a live answer, but for the causes: a log has more.
func recordChecks() []check {
	all := checks()
	for i := range all {
		if all[i].reason == CauseInvalid {
			all[i].hold = checkRecordCause
		}
	}
	return all
}

func checkRecordCause(c *claim) error {
	switch c.answer.Cause {
	case record.CauseHuman, record.CauseWebhook, record.CausePolicy, record.CauseLevel:
		return nil
	case "":
	default:
		if c.answer.Choice == record.Deny {
			return nil
		}
	}
	return refuse(CauseInvalid, "a decision %q because of %q", c.answer.Choice, c.answer.Cause)
}

func (r Recorded) check() error {
	switch {
	case r.Log == "", r.Fence < 1, r.Session == "", r.Request == "", r.Seq < 0, r.Asked.Envelope == (record.Hash{}):
		return refuse(QuestionInvalid, "log, fence, session, request or envelope are missing")
	case r.Decision.Envelope != r.Asked.Envelope:
		return refuse(QuestionInvalid, "the decision is about another envelope than the request")
	case r.Decision.Signature != "" && r.Decision.View == (record.Hash{}):
		return refuse(ViewOther, "it was signed and nothing was shown")
	}
	return nil
}

// pastSigner is an entry of the root as it counted at an instant.
func pastSigner(root *trust.Root, id string, at time.Time) (trust.Entry, error) {
	if root == nil {
		return trust.Entry{}, refuse(SignerUnknown, "there is no trust root")
	}
	for _, e := range root.Entries() {
		if e.ID != id {
			continue
		}
		if r, ok := root.Revoked(id); ok && !at.Before(second(r.At).Add(time.Second)) {
			return trust.Entry{}, refuse(SignerRevoked, "%s was revoked at %s, before it decided", id, r.At)
		}
		if e.NotAfter != trust.Never && at.After(second(e.NotAfter)) {
			return trust.Entry{}, refuse(SignerExpired, "%s was valid until %s, before it decided", id, e.NotAfter)
		}
		return e, nil
	}
	return trust.Entry{}, refuse(SignerUnknown, "%q is not in trust root %d", id, root.Version())
}

// second is a time as trust documents have it; one that cannot be read has
// passed.
func second(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
