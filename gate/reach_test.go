package gate_test

import (
	"context"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

// bounded is a host that knows which objects a call changes, and not to what.
type bounded struct{ *gatetest.World }

func (b bounded) Plan(ctx context.Context, env capability.Envelope, staged gate.Staged) (gate.Plan, error) {
	p, err := b.World.Plan(ctx, env, staged)
	p.Reach = gate.Bounded
	for i := range p.Changes {
		p.Changes[i].After = corpus.Any
	}
	return p, err
}

// A bounded call can be approved, by a person and by level, and is done as long as
// the objects are what they were.
func TestBounded(t *testing.T) {
	b := gatetest.New(t, map[string]string{"b": "old", "out/b": "old"}, func(p *gate.Parts) {
		p.Hosts[capability.FSWriteIrrev] = bounded{p.Hosts[capability.FSWriteIrrev].(*gatetest.World)}
	})
	defer b.Close()
	b.Broker.Script(gatetest.Approves)
	s := b.Open("agent", gatetest.Declared)
	for _, path := range []string{"b", "out/b"} {
		r := s.Call(t.Context(), gatetest.Irreversibly("write", path, "new"))
		if got, _ := b.World.Get(path); r.Status != gate.Done || got != "new" {
			t.Errorf("%s: %+v, and it is %q", path, r, got)
		}
		for _, rec := range b.Log.Of(r.Request) {
			if i, ok := rec.Body.(record.Intent); ok && (len(i.Plan) != 1 || i.Plan[0].After != corpus.Any || !i.Plan[0].Before.Known()) {
				t.Errorf("%s: the intent's plan is %+v", path, i.Plan)
			}
			if o, ok := rec.Body.(record.Executed); ok && (len(o.Readings) != 1 || !o.Readings[0].After.Known()) {
				t.Errorf("%s: the outcome reads %+v", path, o.Readings)
			}
		}
	}
	p := s.Begin(gatetest.Irreversibly("write", "b", "newer"))
	if r := p.Wait(t.Context()); r.Status != gate.Done {
		t.Errorf("again: %+v", r)
	}
	b.Broker.Script(func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
		b.World.Put("b", "somebody else's")
		return gatetest.Approves(ctx, qs)
	})
	if r := s.Call(t.Context(), gatetest.Irreversibly("write", "b", "newest")); r.Reason != gate.Conflict {
		t.Errorf("changed meanwhile: %+v", r)
	}
}
