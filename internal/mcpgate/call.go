package mcpgate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/serve"
)

// mostKept is how many replies of one session that nobody heard are kept.
const mostKept = 64

// known is a call of the session, from before it is begun until its reply is told: while it is under way, and a while after it has ended
// and nobody waited. An identical one attaches to it; the reasoning may differ.
type known struct {
	call      gate.Call     // without its arguments once digest is known and it has ended
	digest    *[32]byte     // of the arguments; nil until it is wanted
	begun     chan struct{} // closed when pending is there
	pending   serve.Pending
	waiting   int       // clients that wait for it
	watched   bool      // its end is noted though nobody waits
	unwanted  bool      // its last client took it back before anybody was asked, and nobody has come since
	withdrawn bool      // it was taken back while a person was asked
	ended     time.Time // zero while it is under way
	held      int       // bytes of its reply that are kept
}

// is says whether a call is identical.
func (k *known) is(c *known) bool {
	return k.call.Capability == c.call.Capability && k.call.Target == c.call.Target && k.arguments() == c.arguments()
}

// arguments tell those of one call from those of another.
func (k *known) arguments() [32]byte {
	if k.digest == nil {
		sum := sha256.Sum256(k.call.Arguments)
		if raw, err := canonical.NewRaw(k.call.Arguments, canonical.Limits{Bytes: maxFrame}); err == nil {
			sum = sha256.Sum256([]byte(raw.String()))
		}
		k.digest = &sum
	}
	return *k.digest
}

// reads says whether the call has no effect: to do it twice is no harm, and what was read a while ago may be old. Of reads only those
// are attached to that a person was asked about.
func (k *known) reads() bool { return k.call.Capability == capability.FSRead.String() }

// ended is how a call ended, or that it has not.
type ended struct {
	reply   gate.Reply
	pending bool // only reply.Request is set
}

// call has one call decided and done. It waits for the end, but for that of a call that is being asked about no longer than
// Options.Wait.
func (s *session) call(ctx context.Context, agent serve.AgentSession, c gate.Call, who *listener) ended {
	s.enter()
	defer s.leave(c.Capability != capability.FSRead.String())
	for {
		k, p, anew := s.begun(agent, c, who)
		how := s.await(ctx, p, who)
		heard := how == over && ctx.Err() == nil // else its reply goes to nobody, and is kept
		s.gone(k, who, heard, how == withdrawn)
		switch {
		case heard && anew && takenBack(p.Reply()):
			// The client had taken back what it attached to: this is another question.
		case how == over:
			return ended{reply: p.Reply()}
		default:
			return ended{reply: gate.Reply{Request: p.Request()}, pending: true}
		}
	}
}

// takenBack says whether a call was denied because its client did not want it any more.
func takenBack(r gate.Reply) bool { return r.Status == gate.Denied && r.Reason == gate.Cancelled }

// begun is the call, begun unless an identical one is there, for which who waits from now on; p is how it goes, of which k may keep less. A
// call that was attached to when it was being taken back is asked for anew if that is what becomes of it.
func (s *session) begun(agent serve.AgentSession, c gate.Call, who *listener) (k *known, p serve.Pending, anew bool) {
	s.beginning.RLock()
	defer s.beginning.RUnlock()
	k, first := s.enlist(&known{call: gate.Call{Capability: c.Capability, Target: c.Target, Arguments: c.Arguments}, begun: make(chan struct{})})
	if first {
		s.first(k, func() serve.Pending { return agent.Begin(c) })
	}
	<-k.begun // soon: whoever was first is about to
	s.mu.Lock()
	defer s.mu.Unlock()
	if who != nil && k.pending.Request() != "" {
		s.listening[k.pending.Request()] = who
	}
	return k, k.pending, !first && k.withdrawn
}

// first begins a call. If that breaks, whoever has attached to it meanwhile hears so.
func (s *session) first(k *known, begin func() serve.Pending) {
	var p serve.Pending
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(k.begun)
		if k.pending = p; p == nil {
			k.pending = gate.Refuse(gate.HostFailed, "it could not be begun; ask again")
			s.drop(k)
		}
		if s.ended {
			k.pending.Cancel()
		}
	}()
	p = begin()
}

// enlist finds the call that an identical one attaches to, or notes that there is a new one before it begins: of two that come at once
// only one is first.
func (s *session) enlist(c *known) (k *known, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	for _, k := range s.calls {
		if k.is(c) && (!k.reads() || k.asked()) {
			k.waiting++
			k.unwanted = false
			return k, false
		}
	}
	c.waiting = 1
	s.calls = append(s.calls, c)
	return c, true
}

// asked says whether a person was asked about the call. mu is held.
func (k *known) asked() bool {
	if k.pending == nil {
		return false
	}
	select {
	case <-k.pending.Asked():
		return true
	default:
		return false
	}
}

// over says whether the call has ended, or was staged. mu is held.
func (k *known) over() bool {
	select {
	case <-k.pending.Done():
		return true
	default:
		return false
	}
}

// gone notes that a client waits for a call no more: it has heard its reply, has taken it back, or neither.
func (s *session) gone(k *known, who *listener, heard, withdraws bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who != nil && s.listening[k.pending.Request()] == who {
		delete(s.listening, k.pending.Request())
	}
	k.waiting--
	switch {
	case heard:
		s.drop(k)
		return
	case withdraws && k.waiting == 0: // else somebody wants it all the same
		k.unwanted = true
		s.takeBack(k)
	}
	s.watch(k)
}

// takeBack takes the question back that nobody wants answered any more. What is not asked about goes on until it is; what has ended, or is
// staged and asked about at its commit, is not taken back. mu is held.
func (s *session) takeBack(k *known) {
	if k.unwanted && k.asked() && !k.over() {
		k.unwanted, k.withdrawn = false, true
		k.pending.Cancel()
	}
}

// watch notes the end of a call that nobody waits for, and that it comes to be asked about. mu is held.
func (s *session) watch(k *known) {
	if k.watched || s.ended {
		return
	}
	k.watched = true
	s.busy++
	s.work.Go(func() {
		select {
		case <-k.pending.Asked():
			s.mu.Lock()
			s.takeBack(k)
			s.mu.Unlock()
		case <-k.pending.Done():
		}
		<-k.pending.Done() // at the latest when the session is closed
		s.mu.Lock()
		k.ended = time.Now()
		k.arguments()
		k.call.Arguments = nil
		if slices.Contains(s.calls, k) { // else somebody who came meanwhile has heard it
			s.keep(k)
		}
		if k.withdrawn && takenBack(k.pending.Reply()) || k.reads() && !k.asked() {
			s.drop(k) // who asks again asks anew
		}
		s.forget()
		s.mu.Unlock()
		s.leave(false)
	})
}

// forget lets go of replies that nobody came for, and of no call that is under way. mu is held.
func (s *session) forget() {
	now, kept := time.Now(), 0
	for _, k := range s.calls {
		if !k.ended.IsZero() {
			kept++
		}
	}
	s.calls = slices.DeleteFunc(s.calls, func(k *known) bool {
		if k.ended.IsZero() || kept <= mostKept && now.Sub(k.ended) <= s.gate.limits.keep {
			return false
		}
		kept--
		s.release(k)
		return true
	})
}

// drop lets go of a call. mu is held.
func (s *session) drop(k *known) {
	s.release(k)
	s.calls = slices.DeleteFunc(s.calls, func(other *known) bool { return other == k })
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
func (s *session) await(ctx context.Context, p serve.Pending, who *listener) waited {
	select {
	case <-p.Done(): // most calls need no timers
		return over
	default:
	}
	patience := time.NewTimer(s.gate.opts.Wait)
	defer patience.Stop()
	beat := time.NewTicker(s.gate.limits.progress)
	defer beat.Stop()
	asking, asked, late := p.Asked(), false, false
	for {
		select {
		case <-p.Done():
			return over
		case <-asking:
			if asking, asked = nil, true; late {
				return overdue
			}
			s.tell(p, who, true)
		case <-patience.C:
			if late = true; asked {
				return overdue
			}
		case <-beat.C:
			s.tell(p, who, asked)
		case <-ctx.Done():
			// The SDK gives no cause where a client takes a request back.
			if errors.Is(context.Cause(ctx), context.Canceled) {
				return withdrawn
			}
			return left
		case <-s.gate.ctx.Done():
			return left
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
