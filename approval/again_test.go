package approval_test

import (
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// What was found good once makes nothing else good: neither another signature nor the
// same over other bytes or of another key, and everything but the signature is looked
// at anew.
func TestCheckedAgain(t *testing.T) {
	q, r := question(t), root(t)
	good := sign(t, record.Approve, q)[0]
	f := newForge(q)
	f.key = bobKey
	other := f.answer(t, q)
	for what, c := range map[string]struct {
		change func(a *approval.Answer)
		root   *trust.Root
		now    time.Time
		want   approval.Reason
	}{
		"":          {func(*approval.Answer) {}, r, now, ""},
		"key":       {func(*approval.Answer) {}, rootOf(t, "alice", bobKey), now, approval.BadSignature},
		"form":      {func(a *approval.Answer) { a.Nonce = "f" + nonce[1:] }, r, now, approval.BadSignature},
		"signature": {func(a *approval.Answer) { a.Signature = other.Signature }, r, now, approval.BadSignature},
		"signer":    {func(*approval.Answer) {}, rootOf(t, "bob", bobKey), now, approval.SignerUnknown},
		"time":      {func(*approval.Answer) {}, r, good.Expires, approval.Expired},
	} {
		again := good
		c.change(&again)
		for _, blind := range []string{"", "key", "form", "signature"} {
			check := q.Pose().Blind(blind)
			must(t, check(good, r, now))
			if err := check(again, c.root, c.now); (err == nil) != (c.want == "" || blind != "" && blind == what) {
				t.Errorf("blind for %q, with another %q: %v", blind, what, err)
			}
		}
		p := q.Pose()
		must(t, p.Check(good, r, now))
		if err := p.Check(again, c.root, c.now); c.want == "" {
			must(t, err)
		} else {
			refused(t, err, c.want)
		}
		must(t, p.Check(good, r, now))
	}
}

// rootOf has one approver.
func rootOf(tb testing.TB, id string, key byte) *trust.Root {
	tb.Helper()
	signer := trusttest.NewKey(trusttest.RootKey)
	draft, err := trust.NewDraft(signer.Public(), trusttest.Scheme("default"))
	must(tb, err)
	must(tb, draft.Add(approver(id, key, trust.Never)))
	_, err = draft.Sign(signer)
	must(tb, err)
	r, err := draft.Lock()
	must(tb, err)
	return r
}
