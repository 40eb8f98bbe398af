package fs

import (
	"cmp"
	"sync"
)

// syncs makes changes of names durable, many by one fsync: an fsync of a directory
// does so for all names that were changed in it before it began. While one is
// under way, whoever needs the next waits for it together with the others. The
// zero value is ready.
type syncs struct {
	mu   sync.Mutex
	next map[directory]*round // of directories that are being synced; nil while nobody waits
}

type directory struct{ dev, ino uint64 }

// round is an fsync that has not begun: the first who waits for it does it.
type round struct {
	turn   chan struct{} // closed when the one before has ended
	before error         // how, once it has
	done   chan struct{}
	err    error // once it is done
}

func newRound() *round { return &round{turn: make(chan struct{}), done: make(chan struct{})} }

// sync returns when an fsync of a directory that began after the call is done.
// Of one that fails those hear too who wait for the next: it may have been about
// their names, and the system says it once.
func (s *syncs) sync(d directory, fsync func() error) error {
	s.mu.Lock()
	r, busy := s.next[d]
	if !busy {
		s.begin(d)
		s.mu.Unlock()
		return s.end(d, fsync())
	}
	first := r == nil
	if first {
		r = newRound()
		s.next[d] = r
	}
	s.mu.Unlock()
	if !first {
		<-r.done
		return r.err
	}
	<-r.turn
	s.mu.Lock()
	s.begin(d)
	s.mu.Unlock()
	r.err = cmp.Or(s.end(d, fsync()), r.before)
	close(r.done)
	return r.err
}

// begin has those who come from now on wait for another round. s.mu is held.
func (s *syncs) begin(d directory) {
	if s.next == nil {
		s.next = make(map[directory]*round)
	}
	s.next[d] = nil
}

// end gives those who came meanwhile their turn.
func (s *syncs) end(d directory, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.next[d]
	if r == nil {
		delete(s.next, d)
		return err
	}
	r.before = err
	close(r.turn)
	return err
}
