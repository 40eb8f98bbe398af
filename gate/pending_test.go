package gate_test

import (
	"context"
	"testing"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// A call that is taken back while somebody is asked is denied, and the log says
// why; before anybody is asked, and once it ended, there is nothing to take back.
func TestCancel(t *testing.T) {
	b := gatetest.New(t, map[string]string{"b": "old"})
	defer b.Close()
	b.Broker.Script(gatetest.Nobody)
	s := b.Open("agent", gatetest.Declared)
	p := s.Begin(gatetest.Irreversibly("write", "b", "new"))
	<-p.Asked()
	if r := p.Reply(); r.Status != "" {
		t.Fatalf("it waits for an answer, and its reply is %+v", r)
	}
	p.Cancel()
	p.Cancel()
	<-p.Done()
	r := p.Wait(t.Context())
	if r.Status != gate.Denied || r.Reason != gate.Cancelled || r.Request != p.Request() || r.Message == "" {
		t.Errorf("cancelled: %+v", r)
	}
	var d record.Decision
	for _, rec := range b.Log.Of(p.Request()) {
		if body, ok := rec.Body.(record.Decision); ok {
			d = body
		}
	}
	if d.Choice != record.Deny || d.Cause != record.CauseCancelled || d.Reason != string(gate.Cancelled) {
		t.Errorf("recorded as %+v", d)
	}
	if got, _ := b.World.Get("b"); got != "old" {
		t.Errorf("b is %q", got)
	}
	q := s.Begin(gatetest.Write("out/c", "new"))
	q.Cancel()
	if r := q.Wait(t.Context()); r.Status != gate.Done {
		t.Errorf("nobody was asked about this one: %+v", r)
	}
}

// Whoever stops waiting can come back.
func TestWaitAgain(t *testing.T) {
	b := gatetest.New(t, map[string]string{"b": "old"})
	defer b.Close()
	answer := make(chan struct{})
	b.Broker.Script(func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
		<-answer
		return gatetest.Approves(ctx, qs)
	})
	s := b.Open("agent", gatetest.Declared)
	p := s.Begin(gatetest.Irreversibly("write", "b", "new"))
	<-p.Asked()
	gone, leave := context.WithCancel(t.Context())
	leave()
	if r := p.Wait(gone); r.Status != gate.Doubtful {
		t.Errorf("nobody waited: %+v", r)
	}
	close(answer)
	if r := p.Wait(t.Context()); r.Status != gate.Done {
		t.Errorf("came back: %+v", r)
	}
}

// outsider is a host that reaches beyond every corpus.
type outsider struct{ labels []label.Label }

func (o outsider) Touches(capability.Envelope) (gate.Touches, error) {
	return gate.Touches{Op: "ask", Outside: o.labels}, nil
}

func (outsider) Plan(context.Context, capability.Envelope, gate.Staged) (gate.Plan, error) {
	return gate.Plan{Reach: gate.Opaque}, nil
}

func (outsider) Do(context.Context, *gate.Permit) (gate.Result, error) {
	return gate.Result{Data: []byte(`{}`)}, nil
}

// What a host says that it reaches outside has a label: nothing above it goes
// there, and what comes back raises the mark.
func TestOutside(t *testing.T) {
	scheme := trusttest.Scheme("default")
	bottom, top := scheme.Bottom(), scheme.Top()
	for _, o := range []struct {
		name   string
		labels []label.Label
		want   gate.Status
		after  gate.Status // of a write to what has the lowest label, afterwards
	}{
		{"lowest", []label.Label{bottom}, gate.Done, gate.Done},
		{"high", []label.Label{top}, gate.Done, gate.Denied},
		{"absent", []label.Label{{}}, gate.Denied, gate.Done},
		{"none", nil, gate.Denied, gate.Done},
		{"a high and a low one", []label.Label{bottom, top}, gate.Denied, gate.Denied},
	} {
		t.Run(o.name, func(t *testing.T) {
			b := gatetest.New(t, nil, func(p *gate.Parts) {
				p.Hosts[capability.ToolInvoke] = outsider{o.labels}
				p.Skills = append(p.Skills, gate.Skill{Name: "tools", Subject: "cafe", Level: p.Skills[1].Level, Label: bottom, Grants: gatetest.Grants(t, "fs.write.rev(out/**)", "tool.invoke(s/*)")})
			})
			defer b.Close()
			s := b.Open("agent", "cafe")
			if r := s.Call(t.Context(), gate.Call{Capability: "tool.invoke", Target: "s/t"}); r.Status != o.want {
				t.Errorf("the call: %+v", r)
			}
			if r := s.Call(t.Context(), gatetest.Write("out/x", "1")); r.Status != o.after {
				t.Errorf("afterwards: %+v", r)
			}
		})
	}
}
