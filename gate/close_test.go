package gate_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

// Close while everything is under way ends all of it; every call gets a reply.
func TestCloseDuringEverything(t *testing.T) {
	for range 30 {
		b := gatetest.New(t, nil)
		b.Broker.Script(gatetest.Nobody)
		var wg sync.WaitGroup
		got := make(chan gate.Reply, 400)
		for i, subject := range []string{gatetest.Base, gatetest.Declared, gatetest.Unverified, gatetest.Reader} {
			s := b.Open(fmt.Sprint("agent", i), subject)
			for n := range 20 {
				for _, c := range []gate.Call{
					gatetest.Read("out/a"), gatetest.Write("out/a", "x"), gatetest.Irreversibly("append", "out/a", "x"),
					gatetest.Irreversibly("write", fmt.Sprint("b", n), "x"),
				} {
					wg.Go(func() { got <- s.Call(context.Background(), c) })
				}
			}
			wg.Go(func() { _, _ = s.Commit(context.Background()) })
			wg.Go(func() { _, _ = s.Rollback(context.Background()) })
			wg.Go(func() { _ = b.Gate.Barrier(context.Background(), func(context.Context) error { return nil }) })
		}
		wg.Go(func() { _ = b.Gate.Narrow(context.Background(), []string{gatetest.Declared}, record.Revocation{}) })
		if err := b.Gate.Close(context.Background()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if len(got) != 320 {
			t.Errorf("%d replies", len(got))
		}
		if _, err := b.Gate.Open(t.Context(), record.Agent{Name: "late"}, nil); !errors.Is(err, gate.ErrClosed) {
			t.Errorf("a session in a closed gate: %v", err)
		}
		ended := 0
		for _, r := range b.Log.Of("") {
			if s, ok := r.Body.(record.Session); ok && s.Transition == record.SessionClosed {
				ended++
			}
		}
		if ended != 4 {
			t.Errorf("%d sessions closed in the log", ended)
		}
	}
}

// Close gives up on a host that hangs when its ctx ends.
func TestCloseIsBounded(t *testing.T) {
	b := gatetest.New(t, nil)
	b.World.Script(func(gate.Order) gatetest.Fault { return gatetest.Hang })
	s := b.Open("agent", gatetest.Declared)
	done := make(chan gate.Reply, 1)
	go func() { done <- s.Call(t.Context(), gatetest.Write("out/a", "new")) }()
	for len(b.World.Orders()) == 0 {
		pause()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := b.Gate.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	b.World.Release()
	want(t, <-done, gate.Done, "")
	if err := b.Gate.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
