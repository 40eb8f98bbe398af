package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

// mostParked is how many calls of one session that were told pending are kept.
const mostParked = 64

// same is what makes two calls identical: the reasoning may differ.
type same struct{ capability, target, arguments string }

func sameOf(c gate.Call) same {
	arguments := string(c.Arguments)
	if raw, err := canonical.NewRaw(c.Arguments, canonical.Limits{Bytes: maxFrame}); err == nil {
		arguments = raw.String()
	}
	return same{c.Capability, c.Target, arguments}
}

// parked is a call whose client waits for it no more. An identical one attaches to it and takes its reply.
type parked struct {
	is      same
	pending serve.Pending
	ended   time.Time // zero while it is under way
}

// ended is how a call ended, or that it has not.
type ended struct {
	reply   gate.Reply
	pending bool // only reply.Request is set
}

// call has one call decided and done. It waits for the end, but for that of a call that is being asked about no longer than
// Options.Wait.
func (s *session) call(ctx context.Context, agent serve.AgentSession, c gate.Call, who *listener) ended {
	s.enter()
	p := s.begun(agent, c, who)
	defer s.gone(p, who)
	defer s.leave(c.Capability != capability.FSRead.String())
	how, asked := s.await(ctx, p, who)
	switch {
	case how == over:
		s.unpark(p)
		return ended{reply: p.Reply()}
	case how == withdrawn && asked: // it is denied now; who asks again asks anew
		p.Cancel()
		s.park(same{}, p)
	case how != left:
		s.park(sameOf(c), p)
	}
	return ended{reply: gate.Reply{Request: p.Request()}, pending: true}
}

// begun is the call, begun unless an identical one is there, and who waits for it from now on.
func (s *session) begun(agent serve.AgentSession, c gate.Call, who *listener) serve.Pending {
	s.beginning.RLock()
	defer s.beginning.RUnlock()
	p := s.again(c)
	if p == nil {
		p = agent.Begin(c)
		s.follow(p)
	}
	if who != nil && p.Request() != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listening[p.Request()] = who
	}
	return p
}

// gone notes that a client waits for a call no more.
func (s *session) gone(p serve.Pending, who *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who != nil && s.listening[p.Request()] == who {
		delete(s.listening, p.Request())
	}
}

// follow counts a call as under way until it has ended.
func (s *session) follow(p serve.Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[p] = struct{}{}
	if s.ended {
		p.Cancel()
	}
}

// waited says why a wait ended.
type waited uint8

const (
	over      waited = iota // the call has ended
	overdue                 // a person is asked and has not answered in time
	withdrawn               // the client does not want it any more
	left                    // nobody is there any more
)

// await waits for the end of a call and tells of it meanwhile.
func (s *session) await(ctx context.Context, p serve.Pending, who *listener) (how waited, asked bool) {
	select {
	case <-p.Done(): // most calls need no timers
		return over, false
	default:
	}
	patience := time.NewTimer(s.gate.opts.Wait)
	defer patience.Stop()
	beat := time.NewTicker(s.gate.limits.progress)
	defer beat.Stop()
	asking, late := p.Asked(), false
	for {
		select {
		case <-p.Done():
			return over, asked
		case <-asking:
			if asking, asked = nil, true; late {
				return overdue, true
			}
			s.tell(p, who, true)
		case <-patience.C:
			if late = true; asked {
				return overdue, true
			}
		case <-beat.C:
			s.tell(p, who, asked)
		case <-ctx.Done():
			// The SDK gives no cause where a client takes a request back.
			if errors.Is(context.Cause(ctx), context.Canceled) {
				return withdrawn, asked
			}
			return left, asked
		case <-s.gate.ctx.Done():
			return left, asked
		}
	}
}

func (s *session) tell(p serve.Pending, who *listener, asked bool) {
	if asked {
		who.tell(fmt.Sprintf("%s waits for a person; whoever runs iff decides: iff inbox", p.Request()))
		return
	}
	who.tell(fmt.Sprintf("%s is under way", p.Request()))
}

// again is the call that an identical one attaches to, nil if there is none.
func (s *session) again(c gate.Call) serve.Pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forget(); len(s.parked) == 0 {
		return nil // as for most calls, so what they are need not be made out
	}
	is := sameOf(c)
	for _, k := range s.parked {
		if k.is == is {
			return k.pending
		}
	}
	return nil
}

// forget lets go of replies that nobody came for. mu is held.
func (s *session) forget() {
	now := time.Now()
	s.parked = slices.DeleteFunc(s.parked, func(k *parked) bool {
		return !k.ended.IsZero() && now.Sub(k.ended) > s.gate.limits.keep
	})
	if extra := len(s.parked) - mostParked; extra > 0 {
		s.parked = slices.Delete(s.parked, 0, extra)
	}
}

// park keeps a call until it has ended, and for an identical one to attach to; the zero same is that of none.
func (s *session) park(is same, p serve.Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.parked, func(k *parked) bool { return k.pending == p }) {
		return
	}
	k := &parked{is: is, pending: p}
	s.parked = append(s.parked, k)
	s.forget()
	if s.ended {
		return
	}
	s.busy++
	s.work.Go(func() {
		<-p.Done() // at the latest when the session is closed
		s.mu.Lock()
		k.ended = time.Now()
		delete(s.calls, p)
		if is == (same{}) {
			s.drop(p)
		}
		s.mu.Unlock()
		s.leave(false)
	})
}

// unpark lets go of a call whose reply is told.
func (s *session) unpark(p serve.Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, p)
	s.drop(p)
}

// drop needs mu.
func (s *session) drop(p serve.Pending) {
	s.parked = slices.DeleteFunc(s.parked, func(k *parked) bool { return k.pending == p })
}
