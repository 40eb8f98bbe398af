package gate_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/record"
)

// T22. Random sessions of two agents over files with random labels: nothing is
// written below what its agent had read, nothing is read above the clearance,
// and what has no label is neither read nor written.
func TestLabelFlows(t *testing.T) {
	scheme := trusttest.Scheme("default")
	ranks := scheme.Data().Ranks
	rank := func(i int) label.Label {
		// Releasable to everybody, so that ranks alone decide.
		bottom := scheme.Bottom().Parts()
		l, err := scheme.FromParts(label.Parts{Rank: ranks[i], Compartments: bottom.Compartments, Releasable: bottom.Releasable})
		if err != nil {
			t.Fatal(l, err)
		}
		return l
	}
	const files = 6
	wrote, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		labels := make([]label.Label, files) // the zero one is absent
		for i := range labels {
			if n := rapid.IntRange(0, len(ranks)).Draw(rt, "label"); n > 0 {
				labels[i] = rank(n - 1)
			}
		}
		clearance := rank(rapid.IntRange(0, len(ranks)-1).Draw(rt, "clearance"))
		at := func(o corpus.Object) label.Label {
			var i int
			if _, err := fmt.Sscanf(o.Path(), "out/%d", &i); err != nil {
				return label.Label{}
			}
			return labels[i]
		}
		contents := make(map[string]string)
		for i := range files {
			contents[fmt.Sprint("out/", i)] = "old"
		}
		b := gatetest.New(t, contents, func(p *gate.Parts) { p.Label, p.Clearance = at, clearance })
		defer func() { _ = b.Gate.Close(context.Background()) }()
		marks := map[string]label.Label{"one": scheme.Bottom(), "two": scheme.Bottom()}
		sessions := make(map[string][]*gate.Session)
		for agent := range marks {
			sessions[agent] = []*gate.Session{b.Open(agent, gatetest.Declared), b.Open(agent, gatetest.Unverified)}
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			agent := rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "agent")
			s := sessions[agent][rapid.IntRange(0, 1).Draw(rt, "session")]
			i := rapid.IntRange(0, files-1).Draw(rt, "file")
			path, l := fmt.Sprint("out/", i), labels[i]
			if rapid.Bool().Draw(rt, "read") {
				r := s.Call(context.Background(), gatetest.Read(path))
				allowed := !l.IsAbsent() && l.LessEq(clearance)
				if (r.Status == gate.Done) != allowed {
					rt.Fatalf("read of %v under %v: %s %s", l, clearance, r.Status, r.Reason)
				}
				if allowed {
					marks[agent] = marks[agent].Join(l)
				}
				continue
			}
			r := s.Call(context.Background(), gatetest.Irreversibly("write", path, "new"))
			allowed := !l.IsAbsent() && marks[agent].LessEq(l)
			if (r.Status == gate.Done) != allowed {
				rt.Fatalf("write to %v with mark %v: %s %s", l, marks[agent], r.Status, r.Reason)
			}
			if allowed {
				wrote++
			} else {
				refused++
			}
		}
	})
	if wrote == 0 || refused == 0 {
		t.Errorf("%d writes, %d refusals", wrote, refused)
	}
}

// What is read while a call waits for a human counts at its intent.
func TestMarkRisesMeanwhile(t *testing.T) {
	scheme := trusttest.Scheme("default")
	b := bench(t, map[string]string{"out/low": "old", "out/high": "secret"}, func(p *gate.Parts) {
		p.Label = func(o corpus.Object) label.Label {
			if o.Path() == "out/high" {
				return scheme.Top()
			}
			return scheme.Bottom()
		}
	})
	s := b.Open("agent", gatetest.Unverified)
	plans := 0
	b.World.OnPlan(func(ctx context.Context, _ capability.Envelope) error {
		if plans++; plans == 2 {
			want(t, s.Call(context.WithoutCancel(ctx), gatetest.Read("out/high")), gate.Done, "")
		}
		return nil
	})
	r := s.Call(t.Context(), gatetest.Irreversibly("write", "out/low", "new"))
	want(t, r, gate.Failed, gate.SinkBelowMark)
	content(t, b.World, "out/low", "old")
	if kinds := b.Log.Kinds(r.Request); kinds != "request decision error" {
		t.Error(kinds)
	}
	for _, rec := range b.Log.Of(r.Request) {
		if q, ok := rec.Body.(record.Request); ok && (q.Mark != scheme.Bottom().String() || q.Sink != scheme.Bottom().String()) {
			t.Errorf("mark %s, sink %s", q.Mark, q.Sink)
		}
	}
}

// What has been read since a call was asked for counts: an answer that is given later may not flow lower.
func TestSessionFlows(t *testing.T) {
	scheme := trusttest.Scheme("default")
	b := gatetest.New(t, map[string]string{"out/a": "x"}, func(p *gate.Parts) {
		p.Label = func(corpus.Object) label.Label { return scheme.Top() }
		p.Clearance = scheme.Top()
	})
	s, other := b.Open("one", gatetest.Declared), b.Open("two", gatetest.Declared)
	if !s.Flows(scheme.Bottom()) || s.Flows(label.Label{}) {
		t.Error("who has read nothing may tell anybody who has a label, and nobody else")
	}
	if r := s.Call(t.Context(), gate.Call{Capability: "fs.read", Target: "out/a"}); r.Status != gate.Done {
		t.Fatalf("%+v", r)
	}
	if s.Flows(scheme.Bottom()) || !s.Flows(scheme.Top()) || !other.Flows(scheme.Bottom()) {
		t.Error("the mark of who has read, and of who has not")
	}
	if err := b.Gate.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.Flows(scheme.Top()) || other.Flows(scheme.Bottom()) {
		t.Error("who is gone tells nobody")
	}
}
