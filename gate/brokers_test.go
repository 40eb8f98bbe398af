package gate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

func policy(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
	return []approval.Answer{{Choice: record.Approve, Cause: record.CausePolicy, Broker: "policy", Rule: "all"}}, nil
}

// Brokers that answer what does not count, each for a call that asks.
func TestBadBrokers(t *testing.T) {
	answer := func(change func(*approval.Answer)) gatetest.Script {
		return func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
			out, err := gatetest.Approves(ctx, qs)
			change(&out[0])
			return out, err
		}
	}
	elsewhere := func(change func(*approval.Question)) gatetest.Script {
		return func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
			q := qs[0]
			change(&q)
			return gatetest.Approves(ctx, []approval.Question{q})
		}
	}
	bare := func(choice record.Choice, cause record.Cause) gatetest.Script {
		return func(context.Context, []approval.Question) ([]approval.Answer, error) {
			return []approval.Answer{{Choice: choice, Cause: cause}}, nil
		}
	}
	for what, c := range map[string]struct {
		script gatetest.Script
		why    gate.Reason
	}{
		"unsigned":            {answer(func(a *approval.Answer) { a.Signature = "" }), gate.ApprovalVoid},
		"bare human":          {bare(record.Approve, record.CauseHuman), gate.ApprovalVoid},
		"bare webhook":        {bare(record.Approve, record.CauseWebhook), gate.ApprovalVoid},
		"approves by timeout": {bare(record.Approve, record.CauseTimeout), gate.ApprovalVoid},
		"approves by level":   {bare(record.Approve, record.CauseLevel), gate.ApprovalVoid},
		"approves, no cause":  {bare(record.Approve, ""), gate.ApprovalVoid},
		"no choice":           {bare("", record.CauseHuman), gate.ApprovalVoid},
		"other choice":        {bare("yes", record.CausePolicy), gate.ApprovalVoid},
		"policy in strict":    {policy, gate.ApprovalVoid},
		"zero":                {bare("", ""), gate.ApprovalVoid},
		"other signer":        {answer(func(a *approval.Answer) { a.Approver = "bob" }), gate.ApprovalVoid},
		"other nonce":         {answer(func(a *approval.Answer) { a.Nonce = strings.Repeat("1", 32) }), gate.ApprovalVoid},
		"other view":          {answer(func(a *approval.Answer) { a.View[0] ^= 1 }), gate.ApprovalVoid},
		"denial turned":       {turned, gate.ApprovalVoid},
		"another request":     {elsewhere(func(q *approval.Question) { q.Request = "r3.99" }), gate.ApprovalVoid},
		"another session":     {elsewhere(func(q *approval.Question) { q.Session = "s3.99" }), gate.ApprovalVoid},
		"another runtime":     {elsewhere(func(q *approval.Question) { q.Fence++ }), gate.ApprovalVoid},
		"another log":         {elsewhere(func(q *approval.Question) { q.Log = "iff/log/other" }), gate.ApprovalVoid},
		"another record":      {elsewhere(func(q *approval.Question) { q.Seq++ }), gate.ApprovalVoid},
		"less was shown":      {elsewhere(func(q *approval.Question) { q.Plan = nil; q.Before, q.After = nil, nil }), gate.ApprovalVoid},
		"fails": {func(context.Context, []approval.Question) ([]approval.Answer, error) {
			return nil, errors.New("broken")
		}, gate.BrokerFailed},
		"fails and approves": {func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
			as, _ := gatetest.Approves(ctx, qs)
			return as, errors.New("broken")
		}, gate.BrokerFailed},
		"nothing": {func(context.Context, []approval.Question) ([]approval.Answer, error) { return nil, nil }, gate.BrokerFailed},
		"two": {func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
			return gatetest.Approves(ctx, []approval.Question{qs[0], qs[0]})
		}, gate.BrokerFailed},
		"panics":               {func(context.Context, []approval.Question) ([]approval.Answer, error) { panic("broker") }, gate.BrokerFailed},
		"denies by policy":     {bare(record.Deny, record.CausePolicy), gate.DeniedByBroker},
		"denies, nobody there": {bare(record.Deny, record.CauseBroker), gate.NoBroker},
		"denies unsigned":      {bare(record.Deny, record.CauseHuman), gate.DeniedByBroker},
	} {
		t.Run(what, func(t *testing.T) {
			b := bench(t, map[string]string{"out/a": "old"}, func(p *gate.Parts) { p.Profile = "strict" })
			b.Broker.Script(c.script)
			s := b.Open("agent", gatetest.Unverified)
			r := s.Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new"))
			want(t, r, gate.Denied, c.why)
			if b.Log.Kinds(r.Request) != "request decision" || b.World.Effects() > 0 {
				t.Error(b.Log.Kinds(r.Request), b.World.Effects())
			}
			staged := s.Call(t.Context(), gatetest.Write("out/a", "new"))
			rs, err := s.Commit(t.Context())
			if err != nil || len(rs) != 1 || rs[0].Status != gate.Denied || b.World.Effects() > 0 {
				t.Errorf("%s: %v, %v", staged.Request, rs, err)
			}
		})
	}
}

// turned signs a denial and says that it approves.
func turned(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
	out, err := gatetest.Denies(ctx, qs)
	out[0].Choice = record.Approve
	return out, err
}

// In profile dev a policy may approve for an unverified skill, even where Check is
// lax an unsigned approval of a human never counts.
func TestEntitled(t *testing.T) {
	lax := func(p *gate.Parts) { p.Check = func(*approval.Posed, approval.Answer) error { return nil } }
	for what, c := range map[string]struct {
		script gatetest.Script
		status gate.Status
	}{
		"policy": {policy, gate.Done},
		"level": {func(context.Context, []approval.Question) ([]approval.Answer, error) {
			return []approval.Answer{{Choice: record.Approve, Cause: record.CauseLevel}}, nil
		}, gate.Denied},
		"human": {func(context.Context, []approval.Question) ([]approval.Answer, error) {
			return []approval.Answer{{Choice: record.Approve, Cause: record.CauseHuman}}, nil
		}, gate.Denied},
	} {
		b := bench(t, nil, lax)
		b.Broker.Script(c.script)
		if r := b.Open("agent", gatetest.Unverified).Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new")); r.Status != c.status {
			t.Errorf("%s: %v", what, r)
		}
	}
}
