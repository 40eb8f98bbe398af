package mcpgate

import (
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/serve"
)

// tooMuch is what is told of a call whose result there was no room to keep.
const tooMuch = "it was done; nobody waited for what it gave, and there was no room to keep that"

// keep takes room for the reply of a call that has ended with nobody there to hear it. That it was done is kept in any case, for it is
// not to be done again; what it gave is kept if there is room. mu is held.
func (s *session) keep(k *known) {
	reply := k.pending.Reply()
	if n := len(reply.Result); s.gate.keeping.Take(n) {
		k.held = n
		return
	}
	reply.Result, reply.Message = nil, tooMuch
	k.pending = unkept{k.pending, reply}
}

// release gives a reply's room back. mu is held.
func (s *session) release(k *known) {
	s.gate.keeping.Give(k.held)
	k.held = 0
}

// letGo gives all room back that the session has. Nothing of it is under way.
func (s *session) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.calls {
		s.release(k)
	}
	s.calls = nil
}

// unkept is a call that has ended, told without what it gave.
type unkept struct {
	serve.Pending // which has ended
	reply         gate.Reply
}

// Reply implements [serve.Pending].
func (s unkept) Reply() gate.Reply { return s.reply }
