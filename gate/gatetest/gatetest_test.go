package gatetest_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
)

func envelope(t *testing.T, class capability.Capability, target, args string) capability.Envelope {
	t.Helper()
	to, err := capability.ParseTarget(class, target)
	if err != nil {
		t.Fatal(err)
	}
	e, err := capability.NewEnvelope(capability.Call{Target: to, Arguments: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A permit is a real one: good once, and for what was asked.
func TestPermit(t *testing.T) {
	before, after := gatetest.File("one"), gatetest.File("two")
	plan := gate.Plan{
		Reach: gate.Exact, Changes: []corpus.Change{{Object: "work/a", Before: before.State(), After: after.State()}},
		Before: []corpus.Copy{before}, After: []corpus.Copy{after},
	}
	for phase, class := range map[gate.Phase]capability.Capability{
		gate.Read: capability.FSRead, gate.Execute: capability.FSWriteIrrev, gate.Commit: capability.FSWriteRev, gate.Rollback: capability.FSWriteRev,
	} {
		env := envelope(t, class, "a", `{"op":"write","content":"two"}`)
		p := gatetest.Permit(t, env, plan, phase)
		o, err := p.Take()
		if err != nil || o.Phase != phase || o.Envelope != env {
			t.Errorf("%s: %v, %v", phase, o, err)
		}
		want := plan
		switch phase {
		case gate.Read:
			want = gate.Plan{}
		case gate.Rollback: // what was written is not kept
			want.Before = []corpus.Copy{{Facts: before.Facts, Cut: true}}
		}
		if !reflect.DeepEqual(o.Plan, want) || (o.Staging == "") != (phase == gate.Read) {
			t.Errorf("%s: %v, staging %q", phase, o.Plan, o.Staging)
		}
		if _, err := p.Take(); !errors.Is(err, gate.ErrPermit) {
			t.Errorf("%s: taken twice: %v", phase, err)
		}
	}
}

// Each fault does what it says to the world.
func TestFaults(t *testing.T) {
	for fault, want := range map[gatetest.Fault]struct {
		status   gate.Status
		out      string
		other    bool
		readings corpus.State
	}{
		"":                {gate.Done, "new", false, gatetest.File("new").State()},
		gatetest.Silent:   {gate.Done, "old", false, gatetest.File("old").State()},
		gatetest.Other:    {gate.Done, "old", true, gatetest.File("old").State()},
		gatetest.Content:  {gate.Done, "not what was planned", false, gatetest.File("not what was planned").State()},
		gatetest.Fails:    {gate.Failed, "old", false, gatetest.File("old").State()},
		gatetest.DoneFail: {gate.Failed, "new", false, gatetest.File("new").State()},
		gatetest.Partial:  {gate.Failed, "new", false, gatetest.File("new").State()},
		gatetest.Panics:   {gate.Failed, "old", false, gatetest.File("old").State()},
	} {
		t.Run(string(fault), func(t *testing.T) {
			b := gatetest.New(t, map[string]string{"out/a": "old"})
			defer b.Close()
			b.World.Script(func(gate.Order) gatetest.Fault { return fault })
			r := b.Open("agent", gatetest.Declared).Call(t.Context(), gatetest.Irreversibly("write", "out/a", "new"))
			got, _ := b.World.Get("out/a")
			_, other := b.World.Get("elsewhere")
			if r.Status != want.status || got != want.out || other != want.other {
				t.Errorf("%s %s, %q, %v", r.Status, r.Reason, got, other)
			}
		})
	}
}
