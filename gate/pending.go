package gate

import (
	"context"
	"sync"
)

// Pending is a call that was asked for. It goes its way whoever waits for it. It
// is safe for concurrent use.
type Pending struct {
	id        string
	done      chan struct{} // closed when there is a reply
	reply     Reply
	asked     chan struct{} // closed when somebody is asked
	withdrawn chan struct{} // closed when it is taken back
	once      sync.Once     // of withdrawn
}

// Call has one call decided and done, and says how it ended. That ctx ends
// cancels the waiting only: a call that was asked for goes its way.
func (s *Session) Call(ctx context.Context, c Call) Reply { return s.Begin(c).Wait(ctx) }

// Begin has one call decided and done. Whoever wants to know how it ended waits
// for that.
func (s *Session) Begin(c Call) *Pending {
	p := &Pending{done: make(chan struct{}), asked: make(chan struct{}), withdrawn: make(chan struct{})}
	l := s.prepare(c)
	l.pending, l.waiters, l.queue = p, append(l.asker[:0], p), l.room[:0]
	g := s.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		p.end(Reply{Status: Refused, Reason: SessionEnded, Message: "the runtime is shutting down"})
		return p
	}
	g.requests++
	g.counts.Calls++
	p.id = g.id("r", g.requests)
	l.facts.ID = p.id
	l.facts.Weight, l.facts.Day = int64(len(l.env.Bytes())), g.parts.Now().Unix()/(24*60*60)
	g.lives[p.id] = l
	ms := g.machine.session(s.id)
	if ms != nil {
		l.skill = ms.skill
	}
	commands := g.machine.Step(Submitted{l.facts})
	if ms != nil {
		l.level, l.mark = g.machine.level(ms).String(), g.machine.agentOf(ms).mark.String()
	}
	for _, c := range commands {
		g.deliver(c)
	}
	return p
}

func (p *Pending) isWithdrawn() bool {
	select {
	case <-p.withdrawn:
		return true
	default:
		return false
	}
}

// Refuse is a call that was refused before any gate saw it.
func Refuse(why Reason, message string) *Pending {
	p := &Pending{done: make(chan struct{}), asked: make(chan struct{}), withdrawn: make(chan struct{})}
	p.end(Reply{Status: Refused, Reason: why, Message: message})
	return p
}

// Request is the call's id; empty if it got none.
func (p *Pending) Request() string { return p.id }

// Asked is closed when somebody is asked about the call.
func (p *Pending) Asked() <-chan struct{} { return p.asked }

// end says how it ended, once.
func (p *Pending) end(r Reply) {
	p.reply = r
	close(p.done)
}

// Wait says how the call ended. That ctx ends cancels the waiting only.
func (p *Pending) Wait(ctx context.Context) Reply {
	select {
	case <-p.done:
		return p.reply
	case <-ctx.Done():
		return Reply{Request: p.id, Status: Doubtful, Reason: InDoubt, Message: "nobody waited for the answer; ask with the same key again"}
	}
}

// Done is closed when the call has ended, or was staged.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Reply says how the call ended; the zero value, which is no reply, before Done
// is closed.
func (p *Pending) Reply() Reply {
	select {
	case <-p.done:
		return p.reply
	default:
		return Reply{}
	}
}

// Cancel takes the call back while somebody is asked about it: that is a denial,
// with cause cancelled. One that is not asked about goes its way.
func (p *Pending) Cancel() { p.once.Do(func() { close(p.withdrawn) }) }
