package mcpgate

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

// session is one session of the runtime, for one connection, or over HTTP for one session of the transport or one token.
type session struct {
	gate *Gateway
	peer serve.Peer

	turn   chan struct{} // holds one while the session is being opened
	work   sync.WaitGroup
	asking atomic.Int32           // questions of upstream servers that the client has not answered
	spoken atomic.Pointer[spoken] // nil until a call has come through the SDK, and over HTTP

	beginning sync.RWMutex // read-locked while a call is begun and it is noted who waits for it

	mu        sync.Mutex
	agent     serve.AgentSession   // nil until it is open
	id        string               // of agent, and stays when it has ended
	ended     bool                 // nothing begins any more
	busy      int                  // calls under way, and requests that wait for one
	touched   bool                 // something was done since the last barrier
	idle      *time.Timer          // runs while busy is zero and touched
	listening map[string]*listener // clients that wait, by the call's request
	calls     []*known             // under way, or ended and not heard of; the oldest first
	round     *round               // that is being ended
	unheard   []gate.Reply         // of rounds that nobody heard of
	failed    error                // of those
}

func (g *Gateway) newSession(peer serve.Peer) *session {
	return &session{gate: g, peer: peer, turn: make(chan struct{}, 1), listening: map[string]*listener{}}
}

// opened is the session of the runtime while it is open.
func (s *session) opened() serve.AgentSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	return s.agent
}

// open opens the session unless it is open. What the agent calls itself is for people.
func (s *session) open(ctx context.Context, name string) (serve.AgentSession, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	agent, ended := s.agent, s.ended
	s.mu.Unlock()
	switch {
	case ended:
		return nil, &serve.Fault{Reason: string(gate.SessionEnded), Message: "the session has ended", Remedy: "connect again"}
	case agent != nil:
		return agent, nil
	}
	agent, err := s.gate.opts.Agents.Open(context.WithoutCancel(ctx), s.peer, serve.OpenRequest{Agent: visible.Truncate(visible.Escape(name), longestName)})
	if err != nil {
		return nil, err
	}
	id := agent.Opened().Session
	s.name(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agent, s.id = agent, id
	return agent, nil
}

// name notes what the runtime calls the session.
func (s *session) name(id string) {
	g := s.gate
	g.naming.Lock()
	defer g.naming.Unlock()
	g.byName[id] = s
}

func (s *session) unname(id string) {
	g := s.gate
	g.naming.Lock()
	defer g.naming.Unlock()
	if g.byName[id] == s {
		delete(g.byName, id)
	}
}

// longestName is how much of what an agent calls itself is passed on, in characters.
const longestName = 64

// enter says that something is under way; leave that it is not any more, and whether it may have changed anything.
func (s *session) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	if s.idle != nil {
		s.idle.Stop()
	}
}

func (s *session) leave(touched bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.touched = s.touched || touched
	if s.busy > 0 || !s.touched || s.ended {
		return
	}
	if s.idle == nil {
		s.idle = time.AfterFunc(s.gate.opts.Idle, s.rest)
		return
	}
	s.idle.Reset(s.gate.opts.Idle)
}

// rest ends a round by itself when nothing has happened for a while.
func (s *session) rest() {
	s.mu.Lock()
	if s.busy > 0 || !s.touched || s.ended || s.agent == nil {
		s.mu.Unlock()
		return
	}
	r := s.begin()
	s.work.Add(1)
	s.mu.Unlock()
	defer s.work.Done()
	<-r.done
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(r)
}

// settle keeps what came of a round that is done for who asks next. mu is held.
func (s *session) settle(r *round) {
	if s.round != r {
		return
	}
	s.round = nil
	s.unheard = append(s.unheard, r.replies...)
	s.unheard = s.unheard[max(0, len(s.unheard)-mostUnheard):]
	s.failed = errors.Join(s.failed, r.err)
}

const mostUnheard = 256

// round is a commit and a barrier, from when it is asked for until somebody hears of it.
type round struct {
	done    chan struct{}
	replies []gate.Reply
	err     error
}

// begin begins to end a round, unless that is under way. mu is held, and the session is open.
func (s *session) begin() *round {
	if s.round != nil {
		select {
		case <-s.round.done:
			s.settle(s.round)
		default:
			return s.round
		}
	}
	r := &round{done: make(chan struct{})}
	s.round, s.touched = r, false
	ctx, agent := s.gate.ctx, s.agent
	s.work.Go(func() {
		defer close(r.done)
		if r.replies, r.err = agent.Commit(ctx); r.err == nil {
			r.err = agent.Barrier(ctx)
		}
	})
	return r
}

// hear takes what came of a round that is done, and of those that nobody heard of.
func (s *session) hear(r *round) ([]gate.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(r)
	out, err := s.unheard, s.failed
	s.unheard, s.failed = nil, nil
	return out, err
}

// withdraw lets nothing begin any more, and takes back what waits for a person.
func (s *session) withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.idle != nil {
		s.idle.Stop()
	}
	for _, k := range s.calls {
		if k.pending != nil { // else it is cancelled as soon as it is
			k.pending.Cancel()
		}
	}
}

// end ends the session: what waits for a person is withdrawn, what is staged is asked about and committed unless ctx ends, and the
// session is closed. It returns when nothing of it is under way.
func (s *session) end(ctx context.Context) error {
	s.withdraw()
	s.turn <- struct{}{} // nobody is opening it
	s.mu.Lock()
	agent, r := s.agent, s.round
	s.agent = nil // it is closed once
	s.mu.Unlock()
	<-s.turn
	defer s.letGo()
	if agent == nil {
		s.work.Wait()
		return nil
	}
	if r != nil {
		wait(ctx, r.done)
	}
	if ctx.Err() == nil {
		committed := make(chan struct{})
		s.work.Go(func() {
			defer close(committed)
			_, _ = agent.Commit(ctx) // each reply is recorded; there is nobody to tell
		})
		wait(ctx, committed)
	}
	s.unname(agent.Opened().Session)
	err := agent.Close(context.WithoutCancel(ctx))
	s.work.Wait()
	return err
}

func wait(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}
