package approval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// forge signs whatever it is told to, as Sign would not.
type forge struct {
	key     byte
	id      string
	log     string
	fence   int64
	items   []record.Hash
	choice  record.Choice
	nonce   string
	expires time.Time
	domain  trust.Domain
}

func newForge(q approval.Question) forge {
	return forge{
		key: aliceKey, id: "alice", log: q.Log, fence: q.Fence, items: []record.Hash{q.Item()}, choice: record.Approve,
		nonce: nonce, expires: now.Add(time.Minute), domain: trust.DomainApproval,
	}
}

func (f forge) answer(tb testing.TB, q approval.Question) approval.Answer {
	tb.Helper()
	form, err := approval.Statement(f.log, f.fence, f.items, f.choice, f.nonce, f.expires)
	must(tb, err)
	sig, err := trust.Sign(trusttest.NewKey(f.key), f.domain, form)
	must(tb, err)
	text, err := sig.MarshalText()
	must(tb, err)
	a := approval.Answer{
		Choice: f.choice, Cause: record.CauseHuman, Approver: f.id, Nonce: f.nonce, Expires: f.expires,
		Signature: string(text), View: q.View(),
	}
	if len(f.items) > 1 {
		a.Batch = f.items
	}
	return a
}

// attack is an answer that must not count, for one reason alone: whoever leaves
// that check out takes it.
type attack struct {
	name   string
	reason approval.Reason
	build  func(q *approval.Question, f *forge, change *func(*approval.Answer))
}

func attacks() []attack {
	type q = approval.Question
	type edit = func(*approval.Answer)
	plain := func(name string, r approval.Reason, e edit) attack {
		return attack{name, r, func(_ *q, _ *forge, change *func(*approval.Answer)) { *change = e }}
	}
	forged := func(name string, r approval.Reason, build func(f *forge)) attack {
		return attack{name, r, func(_ *q, f *forge, _ *func(*approval.Answer)) { build(f) }}
	}
	unsigned := func(a *approval.Answer) {
		*a = approval.Answer{Choice: a.Choice, Cause: a.Cause, View: a.View}
	}
	return []attack{
		{"no fence", approval.QuestionInvalid, func(q *q, f *forge, _ *func(*approval.Answer)) {
			q.Fence = 0
			*f = newForge(*q)
		}},
		{"cannot be written down", approval.QuestionInvalid, func(q *q, f *forge, _ *func(*approval.Answer)) {
			q.Agent = "\xff"
			*f = newForge(*q)
		}},
		forged("another choice", approval.ChoiceInvalid, func(f *forge) { f.choice = "yes" }),
		plain("another cause", approval.CauseInvalid, func(a *approval.Answer) { unsigned(a); a.Cause = record.CauseLevel }),
		plain("timeout approves", approval.CauseInvalid, func(a *approval.Answer) { unsigned(a); a.Cause = record.CauseTimeout }),
		plain("another view", approval.ViewOther, func(a *approval.Answer) { a.View[0] ^= 1 }),
		plain("no view", approval.ViewOther, func(a *approval.Answer) { a.View = record.Hash{} }),
		plain("unsigned", approval.Unsigned, unsigned),
		plain("unsigned webhook", approval.Unsigned, func(a *approval.Answer) { unsigned(a); a.Cause = record.CauseWebhook }),
		plain("unsigned webhook denies", approval.Unsigned, func(a *approval.Answer) {
			unsigned(a)
			a.Cause, a.Choice = record.CauseWebhook, record.Deny
		}),
		plain("looks signed", approval.Overfull, func(a *approval.Answer) {
			unsigned(a)
			a.Choice, a.Approver = record.Deny, "alice"
		}),
		plain("policy signs", approval.Overfull, func(a *approval.Answer) { a.Cause = record.CausePolicy }),
		forged("no nonce", approval.NonceInvalid, func(f *forge) { f.nonce = "" }),
		forged("zero nonce", approval.NonceInvalid, func(f *forge) { f.nonce = approval.Nonce([16]byte{}) }),
		forged("short nonce", approval.NonceInvalid, func(f *forge) { f.nonce = nonce[:16] }),
		forged("nonce in capitals", approval.NonceInvalid, func(f *forge) { f.nonce = strings.ToUpper(nonce) }),
		forged("expired", approval.Expired, func(f *forge) { f.expires = now }),
		forged("expired long ago", approval.Expired, func(f *forge) { f.expires = now.Add(-time.Hour) }),
		forged("for long", approval.TooLong, func(f *forge) { f.expires = now.Add(approval.MaxValidity + 1) }),
		forged("a list with one twice", approval.BatchInvalid, func(f *forge) { f.items = append(f.items, f.items[0]) }),
		forged("a long list", approval.BatchInvalid, func(f *forge) {
			for i := range approval.MaxBatch {
				f.items = append(f.items, record.Hash{1, byte(i)})
			}
		}),
		forged("an empty item", approval.BatchInvalid, func(f *forge) { f.items = append(f.items, record.Hash{}) }),
		forged("a list of others", approval.NotInBatch, func(f *forge) { f.items = []record.Hash{{1}, {2}} }),
		forged("skills only", approval.NotApprover, func(f *forge) { f.id, f.key = "ops", trusttest.OpsKey }),
		forged("another's key", approval.BadSignature, func(f *forge) { f.key = bobKey }),
		forged("another domain", approval.BadSignature, func(f *forge) { f.domain = trust.DomainSkill }),
		forged("another log", approval.BadSignature, func(f *forge) { f.log = "iff/log/other" }),
		forged("another runtime", approval.BadSignature, func(f *forge) { f.fence++ }),
		forged("another item", approval.BadSignature, func(f *forge) { f.items = []record.Hash{{1}} }),
		plain("denied, then approved", approval.BadSignature, func(a *approval.Answer) { a.Choice = record.Deny }),
		plain("no base64", approval.BadSignature, func(a *approval.Answer) { a.Signature = "x" + a.Signature[1:87] }),
	}
}

func (k attack) make(tb testing.TB) (approval.Question, approval.Answer) {
	q := question(tb)
	f := newForge(q)
	var edit func(*approval.Answer)
	k.build(&q, &f, &edit)
	a := f.answer(tb, q)
	if edit != nil {
		edit(&a)
	}
	return q, a
}

func TestCheckRefuses(t *testing.T) {
	r := root(t)
	for _, k := range attacks() {
		t.Run(k.name, func(t *testing.T) {
			q, a := k.make(t)
			refused(t, q.Check(a, r, now), k.reason)
		})
	}
}

// TestMutantsOfCheck takes each check out and expects the attacks to notice. The
// signer is looked up again with his key; TestSigners has the mutants of that.
func TestMutantsOfCheck(t *testing.T) {
	r := root(t)
	for _, gone := range approval.Checks() {
		caught := ""
		for _, k := range attacks() {
			if q, a := k.make(t); k.reason == gone && q.Without(gone, a, r, now) == nil {
				caught = k.name
			}
		}
		if caught == "" && gone != approval.SignerUnknown {
			t.Errorf("nobody notices when %s is not checked", gone)
		}
	}
}

func TestSigners(t *testing.T) {
	r := root(t)
	for _, tt := range []struct {
		id   string
		key  byte
		want approval.Reason
	}{
		{"nobody", aliceKey, approval.SignerUnknown},
		{"", aliceKey, approval.SignerUnknown},
		{"gone", trusttest.GoneKey, approval.SignerRevoked},
		{"old", trusttest.OldKey, approval.SignerExpired},
		{"ops", trusttest.OpsKey, approval.NotApprover},
		{"bob", aliceKey, approval.BadSignature},
	} {
		q := question(t)
		f := newForge(q)
		f.id, f.key = tt.id, tt.key
		a := f.answer(t, q)
		refused(t, q.Check(a, r, now), tt.want)
		for _, e := range r.Entries() { // the mutant that does not ask whether an entry still counts
			if e.ID == tt.id && e.Approver && tt.want != approval.BadSignature && q.Trusting(e, a, now) != nil {
				t.Errorf("%s: refused for another reason than its signer", tt.id)
			}
		}
	}
	q := question(t)
	a := sign(t, record.Approve, q)[0]
	for name, none := range map[string]*trust.Root{"nil": nil, "zero": {}} {
		if err := q.Check(a, none, now); approval.ReasonOf(err) != approval.SignerUnknown {
			t.Errorf("%s root: %v", name, err)
		}
	}
	if err := q.Check(a, r, time.Time{}); err == nil {
		t.Error("counts at no time")
	}
}

func TestCheckAccepts(t *testing.T) {
	r := root(t)
	q := question(t)
	other := question(t)
	other.Request, other.Seq = "R-2", 42
	deny := approval.Answer{Choice: record.Deny, Cause: record.CauseHuman}
	seen := deny
	seen.View = q.View()
	for name, a := range map[string]approval.Answer{
		"approve":            sign(t, record.Approve, q)[0],
		"approve with other": sign(t, record.Approve, other, q)[1],
		"deny, signed":       sign(t, record.Deny, q)[0],
		"deny":               deny,
		"deny what was seen": seen,
		"policy approves":    {Choice: record.Approve, Cause: record.CausePolicy, Rule: "r1"},
		"policy denies":      {Choice: record.Deny, Cause: record.CausePolicy, Rule: "r1"},
		"timeout":            {Choice: record.Deny, Cause: record.CauseTimeout},
		"no broker":          {Choice: record.Deny, Cause: record.CauseBroker},
	} {
		if err := q.Check(a, r, now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if a.Signature == "" {
			continue
		}
		webhook := a
		webhook.Cause, webhook.Broker, webhook.SameUID = record.CauseWebhook, "webhook", true
		if err := q.Check(webhook, r, a.Expires.Add(-1)); err != nil {
			t.Errorf("%s, a webhook: %v", name, err)
		}
	}
}

// What is found out once of a question that was posed is of the question alone: each
// check looks at the answer, the root and the time anew. The mutant remembers that an
// answer was good.
func TestPosed(t *testing.T) {
	q := question(t)
	p := q.Pose()
	if got := slips(t, q, p.Check); got != "" {
		t.Errorf("after a good answer %s is good too", got)
	}
	good := make(map[string]bool)
	mutant := func(a approval.Answer, r *trust.Root, at time.Time) error {
		if good[a.Signature] {
			return nil
		}
		err := p.Check(a, r, at)
		good[a.Signature] = err == nil
		return err
	}
	if slips(t, q, mutant) == "" {
		t.Error("a memory of good answers is not found")
	}
}

// slips names what a check lets through once it has seen a good answer.
func slips(t *testing.T, q approval.Question, check func(approval.Answer, *trust.Root, time.Time) error) string {
	r, a := root(t), sign(t, record.Approve, q)[0]
	must(t, check(a, r, now))
	other, denied := q, a
	other.Request = "R-2"
	denied.Choice = record.Deny
	slip := ""
	for what, err := range map[string]error{
		"one that has expired": check(a, r, a.Expires),
		"one without a root":   check(a, nil, now),
		"another question's":   check(sign(t, record.Approve, other)[0], r, now),
		"one that was altered": check(denied, r, now),
		"none":                 check(approval.Answer{}, r, now),
	} {
		if err == nil {
			slip = what
		}
	}
	must(t, check(a, r, now))
	return slip
}

func TestZeroFails(t *testing.T) {
	r, q := root(t), question(t)
	a := sign(t, record.Approve, q)[0]
	refused(t, approval.Question{}.Check(a, r, now), approval.QuestionInvalid)
	refused(t, approval.Question{}.Check(approval.Answer{}, r, now), approval.QuestionInvalid)
	refused(t, new(approval.Posed).Check(a, r, now), approval.QuestionInvalid)
	refused(t, q.Check(approval.Answer{}, r, now), approval.ChoiceInvalid)
	refused(t, approval.CheckRecord(approval.Recorded{}, r), approval.QuestionInvalid)
}

func TestSignRefuses(t *testing.T) {
	q := question(t)
	key, until := trusttest.NewKey(aliceKey), now.Add(time.Minute)
	other := q
	other.Fence++
	many := make([]approval.Question, approval.MaxBatch+1)
	for i := range many {
		many[i] = q
		many[i].Seq = int64(i)
	}
	for _, tt := range []struct {
		name    string
		qs      []approval.Question
		choice  record.Choice
		id      string
		nonce   string
		expires time.Time
		want    approval.Reason
	}{
		{"none", nil, record.Approve, "alice", nonce, until, approval.BatchInvalid},
		{"many", many, record.Approve, "alice", nonce, until, approval.BatchInvalid},
		{"twice", []approval.Question{q, q}, record.Approve, "alice", nonce, until, approval.BatchInvalid},
		{"two runtimes", []approval.Question{q, other}, record.Approve, "alice", nonce, until, approval.BatchInvalid},
		{"zero question", make([]approval.Question, 1), record.Approve, "alice", nonce, until, approval.QuestionInvalid},
		{"no choice", []approval.Question{q}, "", "alice", nonce, until, approval.ChoiceInvalid},
		{"no signer", []approval.Question{q}, record.Deny, "", nonce, until, approval.SignerUnknown},
		{"no nonce", []approval.Question{q}, record.Deny, "alice", "", until, approval.NonceInvalid},
		{"no expiry", []approval.Question{q}, record.Deny, "alice", nonce, time.Time{}, approval.Expired},
	} {
		_, err := approval.Sign(tt.qs, tt.choice, tt.id, key, tt.nonce, tt.expires)
		t.Run(tt.name, func(t *testing.T) { refused(t, err, tt.want) })
	}
	answers, err := approval.Sign(many[:approval.MaxBatch], record.Approve, "alice", key, nonce, until)
	must(t, err)
	for i, a := range answers {
		if err := many[i].Check(a, root(t), now); err != nil || len(a.Batch) != approval.MaxBatch {
			t.Fatalf("%d: %v", i, err)
		}
	}
}
