package approval

import (
	"encoding/hex"
	"slices"
	"time"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Bounds of an answer.
const (
	// MaxBatch is how many questions one signature answers.
	MaxBatch = 50
	// MaxValidity is how long after a check an answer may still hold.
	MaxValidity = 10 * time.Minute
	// Validity is what a tool lets an answer hold for.
	Validity = 5 * time.Minute
)

// Answer is what came back for one question. The zero value is none, and
// nothing checks it as good.
type Answer struct {
	Choice record.Choice
	Cause  record.Cause // human, webhook, policy; of a denial also timeout, cancelled, broker
	Broker string       // who asked
	Rule   string       // of a policy, which decided
	Passed []string     // brokers that were asked before and had no opinion, in order

	Approver  string        // signer id; empty if it is not signed
	Nonce     string        // see [Nonce]
	Expires   time.Time     // from then on it is not taken any more
	Batch     []record.Hash // items of all that was signed together; empty if it is this alone
	Signature string        // padded standard base64
	View      record.Hash   // of what was shown; zero if nothing was
	SameUID   bool          // the approver's user is the agent's
}

// Nonce is the text of 128 random bits: 32 lower-case hex digits. Zero bits are
// refused where a nonce is checked: nobody drew them.
func Nonce(random [16]byte) string { return hex.EncodeToString(random[:]) }

func isNonce(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 16 && Nonce([16]byte(raw)) == s && [16]byte(raw) != [16]byte{}
}

// statement is what is signed, in canonical form behind trust.DomainApproval.
type statement struct {
	Decision string   `json:"decision"`
	Fence    int64    `json:"fence"`
	Items    []string `json:"items"`
	Log      string   `json:"log"`
	Nonce    string   `json:"nonce"`
	NotAfter string   `json:"notAfter"`
}

func newStatement(log string, fence int64, items []record.Hash, choice record.Choice, nonce string, expires time.Time) ([]byte, error) {
	s := statement{
		Decision: string(choice), Fence: fence, Items: []string{}, Log: log, Nonce: nonce,
		NotAfter: string(record.StampOf(expires)),
	}
	for _, i := range items {
		s.Items = append(s.Items, i.String())
	}
	return canonical.Marshal(s)
}

// Sign answers questions of one runtime with one signature: 1 to [MaxBatch],
// none twice. The answers are in the order of the questions, with cause human;
// Broker and SameUID are for the caller to set, and may be. It does not know the
// trust root, so it does not say whether the approver may approve.
func Sign(qs []Question, choice record.Choice, approver string, key trust.Signer, nonce string, expires time.Time) ([]Answer, error) {
	if choice != record.Approve && choice != record.Deny {
		return nil, refuse(ChoiceInvalid, "%q is neither approve nor deny", choice)
	}
	if !isNonce(nonce) {
		return nil, refuse(NonceInvalid, "a nonce is 32 hex digits that were drawn at random")
	}
	if expires.IsZero() {
		return nil, refuse(Expired, "the answer says no time until which it holds")
	}
	if err := trust.CheckID(approver); err != nil {
		return nil, &Error{Reason: SignerUnknown, Detail: err.Error(), Err: err}
	}
	items, views, err := itemsOf(qs)
	if err != nil {
		return nil, err
	}
	form, err := newStatement(qs[0].Log, qs[0].Fence, items, choice, nonce, expires)
	if err != nil {
		return nil, &Error{Reason: QuestionInvalid, Detail: err.Error(), Err: err}
	}
	signature, err := trust.Sign(key, trust.DomainApproval, form)
	if err != nil {
		return nil, &Error{Reason: BadSignature, Detail: err.Error(), Err: err}
	}
	text, err := signature.MarshalText()
	if err != nil {
		return nil, &Error{Reason: BadSignature, Detail: err.Error(), Err: err}
	}
	if len(items) == 1 {
		items = nil
	}
	out := make([]Answer, len(qs))
	for i := range qs {
		out[i] = Answer{
			Choice: choice, Cause: record.CauseHuman, Approver: approver, Nonce: nonce, Expires: expires,
			Batch: slices.Clone(items), Signature: string(text), View: views[i],
		}
	}
	return out, nil
}

func itemsOf(qs []Question) (items, views []record.Hash, err error) {
	if len(qs) == 0 || len(qs) > MaxBatch {
		return nil, nil, refuse(BatchInvalid, "%d questions; sign 1 to %d together", len(qs), MaxBatch)
	}
	for _, q := range qs {
		form, unwritten := q.wire()
		if err := q.check(unwritten); err != nil {
			return nil, nil, err
		}
		if q.Log != qs[0].Log || q.Fence != qs[0].Fence {
			return nil, nil, refuse(BatchInvalid, "the questions come from different runtimes; sign them one by one")
		}
		view := viewOf(q.render(form, nil))
		item := itemDigest(q.Session, q.Request, q.Seq, q.Envelope.Hash(), view)
		if slices.Contains(items, item) {
			return nil, nil, refuse(BatchInvalid, "request %s is there twice; sign it once", q.Request)
		}
		items, views = append(items, item), append(views, view)
	}
	return items, views, nil
}
