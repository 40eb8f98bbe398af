package approval

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Check says whether a is an answer to q that counts at an instant; nil means
// that it does. The error is *[Error]. An approval by a human or a webhook
// counts only with the signature of somebody who may approve; a denial by a
// human counts without. Whether a policy may approve this is for the caller to
// know, as is whether q was answered before.
func (q Question) Check(a Answer, root *trust.Root, now time.Time) error {
	return q.Pose().Check(a, root, now)
}

// Posed is a question with what its answers are held against: that follows from the
// question alone and is found out once, however often an answer is checked. It is
// made by [Question.Pose], and safe for concurrent use. The zero value is no
// question: nothing answers it.
type Posed struct {
	question  Question
	unwritten error
	shown     func() shown
	good      atomic.Pointer[proof] // the last that was found good
}

// proof is a signature with all that decides whether it is good.
type proof struct {
	key  trust.PublicKey
	form string
	sig  trust.Signature
}

func (s proof) good() bool {
	return trust.Verify(s.key, trust.DomainApproval, []byte(s.form), s.sig)
}

// shown is what was shown of a question, and how the question stands in what is
// signed.
type shown struct{ view, item record.Hash }

// Pose is the question as it is now.
func (q Question) Pose() *Posed {
	form, unwritten := q.wire()
	p := &Posed{question: q, unwritten: unwritten}
	p.shown = sync.OnceValue(func() shown {
		q := &p.question
		view := viewOf(q.render(form, unwritten))
		return shown{view, itemDigest(q.Session, q.Request, q.Seq, q.Envelope.Hash(), view)}
	})
	return p
}

// Check is [Question.Check].
func (p *Posed) Check(a Answer, root *trust.Root, now time.Time) error {
	return run(checks(), p.claim(a, root, now))
}

func (p *Posed) claim(a Answer, root *trust.Root, now time.Time) *claim {
	q := &p.question
	c := &claim{question: p.check, log: q.Log, fence: q.Fence, answer: a, now: now, verify: p.verify}
	c.signer = func() (trust.Entry, error) { return liveSigner(root, c.answer.Approver, c.now) }
	if p.shown != nil && (a.Signature != "" || a.View != (record.Hash{})) { // what says nothing of a view is not held against it
		c.shown = p.shown()
	}
	return c
}

func (p *Posed) check() error { return p.question.check(p.unwritten) }

// verify says whether a signature is good. Of the same key, bytes and signature that
// is the same each time, so the last that was good is not computed again.
func (p *Posed) verify(s proof) bool {
	if last := p.good.Load(); last != nil && *last == s {
		return true
	}
	if !s.good() {
		return false
	}
	p.good.Store(&s)
	return true
}

// liveSigner is an entry of the root as it is now.
func liveSigner(root *trust.Root, id string, now time.Time) (trust.Entry, error) {
	if root == nil {
		return trust.Entry{}, refuse(SignerUnknown, "there is no trust root")
	}
	entry, err := root.Signer(id, now)
	if err == nil {
		return entry, nil
	}
	reason := SignerUnknown
	var cause *trust.Error
	if errors.As(err, &cause) {
		switch cause.Reason {
		case trust.SignerRevoked:
			reason = SignerRevoked
		case trust.SignerExpired:
			reason = SignerExpired
		}
	}
	return trust.Entry{}, &Error{Reason: reason, Detail: err.Error(), Err: err}
}

// claim is an answer with all that it is held against.
type claim struct {
	question func() error // whether what is answered can be
	log      string
	fence    int64
	shown    // what had to be shown; empty for an answer that says nothing of it
	answer   Answer
	signer   func() (trust.Entry, error)
	verify   func(proof) bool
	now      time.Time
	slack    time.Duration // how far the clock may be off
}

// check is one thing that must hold. It is named by the reason it refuses with.
type check struct {
	reason Reason
	signed bool // it is of answers that have a signature
	hold   func(*claim) error
}

// checks are all that must hold, in order.
func checks() []check {
	return []check{
		{QuestionInvalid, false, checkQuestion},
		{ChoiceInvalid, false, checkChoice},
		{CauseInvalid, false, checkCause},
		{ViewOther, false, checkView},
		{Unsigned, false, checkSigned},
		{Overfull, false, checkBare},
		{NonceInvalid, true, checkNonce},
		{Expired, true, checkExpired},
		{TooLong, true, checkTooLong},
		{BatchInvalid, true, checkBatch},
		{NotInBatch, true, checkInBatch},
		{SignerUnknown, true, checkSigner},
		{NotApprover, true, checkApprover},
		{BadSignature, true, checkSignature},
	}
}

func run(checks []check, c *claim) error {
	for _, check := range checks {
		if check.signed && c.answer.Signature == "" {
			continue
		}
		if err := check.hold(c); err != nil {
			return err
		}
	}
	return nil
}

func checkQuestion(c *claim) error { return c.question() }

func checkChoice(c *claim) error {
	if c.answer.Choice != record.Approve && c.answer.Choice != record.Deny {
		return refuse(ChoiceInvalid, "%q is neither approve nor deny", c.answer.Choice)
	}
	return nil
}

func checkCause(c *claim) error {
	switch c.answer.Cause {
	case record.CauseHuman, record.CauseWebhook, record.CausePolicy:
		return nil
	case record.CauseTimeout, record.CauseCancelled, record.CauseBroker:
		if c.answer.Choice == record.Deny {
			return nil
		}
	}
	return refuse(CauseInvalid, "an answer %q because of %q", c.answer.Choice, c.answer.Cause)
}

func checkView(c *claim) error {
	a := c.answer
	if a.View == (record.Hash{}) && a.Signature == "" || a.View == c.view {
		return nil
	}
	return refuse(ViewOther, "what was shown is not what is asked; read the question again and answer that")
}

func checkSigned(c *claim) error {
	a := c.answer
	if a.Signature != "" {
		return nil
	}
	switch {
	case a.Cause == record.CauseWebhook:
		return refuse(Unsigned, "an answer of a webhook is signed; have it sign, as docs/approvals.md says")
	case a.Cause == record.CauseHuman && a.Choice != record.Deny:
		return refuse(Unsigned, "an approval is signed with the approver's key")
	}
	return nil
}

// checkBare keeps an answer from looking signed.
func checkBare(c *claim) error {
	a := c.answer
	bare := a.Approver == "" && a.Nonce == "" && a.Expires.IsZero() && len(a.Batch) == 0
	if a.Signature == "" && !bare {
		return refuse(Overfull, "an answer without signature has a signer, a nonce, an expiry or a batch")
	}
	if a.Signature != "" && a.Cause != record.CauseHuman && a.Cause != record.CauseWebhook {
		return refuse(Overfull, "an answer because of %q is not signed", a.Cause)
	}
	return nil
}

func checkNonce(c *claim) error {
	if !isNonce(c.answer.Nonce) {
		return refuse(NonceInvalid, "the nonce is not 32 hex digits that were drawn at random; answer again")
	}
	return nil
}

func checkExpired(c *claim) error {
	if e := c.answer.Expires; c.now.IsZero() || !c.now.Add(-c.slack).Before(e) {
		return refuse(Expired, "it held until %s; answer again", record.StampOf(e))
	}
	return nil
}

func checkTooLong(c *claim) error {
	if e := c.answer.Expires; e.After(c.now.Add(MaxValidity + c.slack)) {
		return refuse(TooLong, "it would hold until %s; at most %s from now", record.StampOf(e), MaxValidity)
	}
	return nil
}

func checkBatch(c *claim) error {
	batch := c.answer.Batch
	if len(batch) == 1 || len(batch) > MaxBatch {
		return refuse(BatchInvalid, "a batch of %d; list 2 to %d, or none for a question alone", len(batch), MaxBatch)
	}
	seen := make(map[record.Hash]bool, len(batch))
	for _, item := range batch {
		if seen[item] || item == (record.Hash{}) {
			return refuse(BatchInvalid, "the batch has an item twice, or an empty one")
		}
		seen[item] = true
	}
	return nil
}

func checkInBatch(c *claim) error {
	if batch := c.answer.Batch; len(batch) > 0 && !slices.Contains(batch, c.item) {
		return refuse(NotInBatch, "the batch that was signed does not list this question")
	}
	return nil
}

func checkSigner(c *claim) error {
	_, err := c.signer()
	return err
}

func checkApprover(c *claim) error {
	if e, err := c.signer(); err == nil && !e.Approver {
		return refuse(NotApprover, "%s may not approve calls; use an approver's key", e.ID)
	}
	return nil
}

func checkSignature(c *claim) error {
	a := c.answer
	items := a.Batch
	if len(items) == 0 {
		items = []record.Hash{c.item}
	}
	form, err := newStatement(c.log, c.fence, items, a.Choice, a.Nonce, a.Expires)
	if err != nil {
		return &Error{Reason: BadSignature, Detail: err.Error(), Err: err}
	}
	var sig trust.Signature
	if err := sig.UnmarshalText([]byte(a.Signature)); err != nil {
		return &Error{Reason: BadSignature, Detail: err.Error(), Err: err}
	}
	entry, err := c.signer()
	if err != nil {
		return err
	}
	if !c.verify(proof{entry.PublicKey, string(form), sig}) {
		return refuse(BadSignature, "the signature is not %s's over this question and answer", entry.ID)
	}
	return nil
}
