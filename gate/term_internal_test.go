package gate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTerm: a step ends in time, after its time, or when somebody else has taken
// over; its context says so, to who asked before and to who asks then.
func TestTerm(t *testing.T) {
	const limit, grace = time.Second, 5 * time.Second
	for _, c := range []struct {
		name  string
		takes time.Duration
		grace time.Duration
		err   error // of the context, when the step ends
		ended bool
	}{
		{"in time", limit - 1, grace, context.Canceled, true},
		{"in its grace", limit + grace - 1, grace, context.DeadlineExceeded, true},
		{"too late", limit + grace + 1, grace, context.DeadlineExceeded, false},
		{"too late without grace", limit + 1, 0, context.DeadlineExceeded, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &Gate{base: context.WithoutCancel(t.Context()), limits: Limits{Call: limit}}
				late := time.Duration(0)
				start := time.Now()
				s := g.term(c.grace, func(begun chan<- struct{}) {
					late = time.Since(start)
					time.Sleep(time.Minute) // who ends the step waits for this
					close(begun)
				})
				before := s.Done()
				child, cancel := context.WithCancel(s)
				defer cancel()
				if end, ok := s.Deadline(); !ok || !end.Equal(start.Add(limit)) || s.Err() != nil {
					t.Errorf("deadline %v %v, %v", end, ok, s.Err())
				}
				time.Sleep(c.takes)
				if ended := s.end(); ended != c.ended || !errors.Is(s.Err(), c.err) {
					t.Errorf("ended %v, %v; want %v, %v", ended, s.Err(), c.ended, c.err)
				}
				<-before
				<-s.Done()
				if <-child.Done(); !errors.Is(child.Err(), c.err) {
					t.Errorf("a child of the context: %v", child.Err())
				}
				if waited := time.Since(start) >= time.Minute; waited == c.ended {
					t.Errorf("ended after %v", time.Since(start))
				}
				time.Sleep(time.Hour)
				if want := c.grace + limit; (late != 0) == c.ended || late != 0 && late != want {
					t.Errorf("late after %v, want %v", late, want)
				}
			})
		})
	}
}

// TestTermRace: a timer that fires just as the step ends comes to nothing.
func TestTermRace(t *testing.T) {
	g := &Gate{base: context.WithoutCancel(t.Context()), limits: Limits{Call: time.Hour}}
	s := g.term(0, func(begun chan<- struct{}) { t.Error("late after the end"); close(begun) })
	if !s.end() {
		t.Error("it was too late")
	}
	s.ring()
}

// TestTermAlone: a step that nobody waits for ends its context too, and once.
func TestTermAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gate{base: context.WithoutCancel(t.Context()), limits: Limits{Call: time.Second}}
		s := g.term(0, nil)
		<-s.Done()
		if !s.end() || s.Err() != context.DeadlineExceeded {
			t.Errorf("%v", s.Err())
		}
	})
}
