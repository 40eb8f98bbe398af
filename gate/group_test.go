package gate_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/gate/gatetest"
	"github.com/iff-run/iff/record"
)

// stage has a session stage n files.
func stage(t *testing.T, s *gate.Session, n int) {
	t.Helper()
	for i := range n {
		want(t, s.Call(t.Context(), gatetest.Write(fmt.Sprintf("out/%03d", i), "new")), gate.StagedStatus, "")
	}
}

// What is staged is asked for as one signature can answer it, and one approval of
// the whole list does.
func TestStagedIsAskedTogether(t *testing.T) {
	b := bench(t, nil)
	s := b.Open("agent", gatetest.Unverified)
	stage(t, s, 60)
	sizes := make(chan int, 60)
	b.Broker.Script(func(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
		sizes <- len(qs)
		return gatetest.Sign(record.Approve, qs[0].Asked.Add(approval.Validity), qs...)
	})
	rs, err := s.Commit(t.Context())
	if err != nil || len(rs) != 60 {
		t.Fatalf("%d, %v", len(rs), err)
	}
	for i, r := range rs {
		want(t, r, gate.Done, "")
		if o := b.World.Orders()[i]; o.Request != r.Request || o.Phase != gate.Commit {
			t.Errorf("the %dth effect is %s of %s", i, o.Phase, o.Request)
		}
	}
	if close(sizes); len(sizes) != 2 || <-sizes+<-sizes != 60 {
		t.Error("not asked in two groups")
	}
}

// What was approved of a group in time counts, though the rest is never answered.
func TestPartOfAGroupIsAnswered(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *gatetest.Bench) {
		s := b.Open("agent", gatetest.Unverified)
		stage(t, s, 3)
		b.Broker.Script(func(ctx context.Context, qs []approval.Question) ([]approval.Answer, error) {
			as, err := gatetest.Approves(ctx, qs)
			<-ctx.Done()
			if d := qs[0].Deadline; d.After(b.Now()) {
				t.Errorf("the broker is stopped before %s", d)
			}
			as[0] = approval.Answer{Choice: record.Deny, Cause: record.CauseTimeout}
			return as, err
		})
		rs, err := s.Commit(t.Context())
		if err != nil || len(rs) != 3 {
			t.Fatalf("%v, %v", rs, err)
		}
		want(t, rs[0], gate.Denied, gate.TimedOut)
		want(t, rs[1], gate.Done, "")
		want(t, rs[2], gate.Done, "")
	})
}

// A broker of a group that does not obey: all time out, and what it says then is
// recorded as late, each with its own request.
func TestGroupTimesOut(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *gatetest.Bench) {
		s := b.Open("agent", gatetest.Unverified)
		stage(t, s, 3)
		b.Broker.Script(func(_ context.Context, qs []approval.Question) ([]approval.Answer, error) {
			time.Sleep(time.Hour)
			return gatetest.Sign(record.Approve, b.Now().Add(approval.Validity), qs...)
		})
		start := time.Now()
		rs, err := s.Commit(t.Context())
		if err != nil || len(rs) != 3 || time.Since(start) != 2*time.Minute {
			t.Fatalf("%v, %v after %s", rs, err, time.Since(start))
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		for _, r := range rs {
			want(t, r, gate.Denied, gate.TimedOut)
			if kinds := b.Log.Kinds(r.Request); kinds != "reversible.request staged decision decision.late" {
				t.Error(kinds)
			}
		}
	})
}

// The session ends while a group is asked: the asking ends, and so does each
// call.
func TestGroupIsCancelled(t *testing.T) {
	bubble(t, nil, func(t *testing.T, b *gatetest.Bench) {
		s := b.Open("agent", gatetest.Unverified)
		stage(t, s, 3)
		b.Broker.Script(gatetest.Nobody)
		done := make(chan []gate.Reply)
		go func() {
			rs, _ := s.Commit(t.Context())
			done <- rs
		}()
		synctest.Wait()
		if err := s.End(t.Context(), gate.Stopping, false); err != nil {
			t.Error(err)
		}
		rs := <-done
		if len(rs) != 3 {
			t.Errorf("%d replies", len(rs))
		}
		for _, r := range rs {
			want(t, r, gate.Denied, gate.SessionEnded)
		}
	})
}
