package gatetest

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// Permit is a permit of a real gate that was not taken yet, to do a plan in a
// phase: of a rollback the plan that puts back. The class of the envelope has to
// fit the phase: fs.read for a read, whose plan does not matter, fs.write.irrev to
// execute, fs.write.rev to commit and to roll back.
func Permit(t testing.TB, env capability.Envelope, plan gate.Plan, phase gate.Phase) *gate.Permit {
	t.Helper()
	phases := map[capability.Effect]gate.Phase{capability.None: gate.Read, capability.Reversible: gate.Commit, capability.Irreversible: gate.Execute}
	c := &capturing{plan: plan, states: make(map[corpus.Object]corpus.State), next: phases[env.Target().Capability().Effect()]}
	if phase == gate.Rollback {
		c.plan = plan.Undo()
	}
	for _, change := range c.plan.Changes {
		c.states[change.Object] = change.Before
	}
	b := New(t, nil, func(p *gate.Parts) {
		p.Fence = rand.Int64N(1<<40) + 1 // staging names of permits differ
		p.Hosts = map[capability.Capability]gate.Host{env.Target().Capability(): c}
		p.Observers = observers{c}.of(c.plan)
		own, err := capability.Literal(env.Target())
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Skills {
			p.Skills[i].Grants = capability.NewGrants(own)
		}
	})
	s := b.Open("test", Base)
	r := s.Call(t.Context(), gate.Call{
		Capability: env.Target().Capability().String(), Target: env.Target().String(), Arguments: []byte(env.Arguments()), Reasoning: env.Reasoning(),
	})
	if r.Status == gate.Done && phase == gate.Rollback {
		if rs, err := s.Rollback(t.Context()); err != nil || len(rs) != 1 {
			t.Fatalf("rollback: %v, %v", rs, err)
		}
	}
	b.Close()
	if c.phase != phase {
		t.Fatalf("no permit to %s: the call was %s (%s: %s), its last phase %q", phase, r.Status, r.Reason, r.Message, c.phase)
	}
	return c.permit
}

// capturing is a host that keeps the last permit and does nothing, and an
// observer that sees what would have been done.
type capturing struct {
	plan   gate.Plan
	mu     sync.Mutex
	states map[corpus.Object]corpus.State
	permit *gate.Permit
	phase  gate.Phase
	next   gate.Phase
}

func (c *capturing) Touches(env capability.Envelope) (gate.Touches, error) {
	t := gate.Touches{Op: "captured", Reversible: env.Target().Capability().Effect() == capability.Reversible}
	if env.Target().Capability().Effect() == capability.None {
		in, path, _ := env.Target().Path()
		t.Reads = []corpus.Object{corpus.Name(in, path)}
		return t, nil
	}
	for _, change := range c.plan.Changes {
		t.Changes = append(t.Changes, change.Object)
	}
	return t, nil
}

func (c *capturing) Plan(context.Context, capability.Envelope, gate.Staged) (gate.Plan, error) {
	return c.plan, nil
}

// Do keeps the permit. Its phase follows from class and turn, for it cannot be
// looked at without being taken.
func (c *capturing) Do(_ context.Context, p *gate.Permit) (gate.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.permit, c.phase = p, c.next
	c.next = gate.Rollback
	plan := c.plan
	if c.phase == gate.Rollback {
		plan = plan.Undo()
	}
	for _, change := range plan.Changes {
		c.states[change.Object] = change.After
	}
	return gate.Result{}, nil
}

type observers struct{ *capturing }

func (o observers) of(p gate.Plan) map[string]corpus.Observer {
	out := make(map[string]corpus.Observer)
	for _, change := range p.Changes {
		out[change.Object.Corpus()] = o
	}
	return out
}

func (o observers) Name() string    { return "memory" }
func (o observers) Blind() []string { return nil }

func (o observers) Read(_ context.Context, objects []corpus.Object) ([]corpus.State, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]corpus.State, len(objects))
	for i, object := range objects {
		out[i] = o.states[object]
	}
	return out, nil
}

func (o observers) Snapshot(context.Context) (*corpus.Snapshot, error) {
	return corpus.NewSnapshot(nil), nil
}
