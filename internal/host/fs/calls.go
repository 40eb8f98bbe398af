package fs

import (
	"crypto/sha256"
	"sync"

	"github.com/iff-run/iff/capability"
)

// Bounds of calls.
const (
	maxCalls     = 112      // a map of more takes twice the memory
	maxArguments = 32 << 10 // bytes, of one that is remembered
)

// calls remembers what envelopes ask for, by their digests: a gate has each read
// several times, to find out what it touches, to plan it and to do it. What it has
// forgotten is read again and is the same. The zero value has none.
type calls struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]call
	order [maxCalls][sha256.Size]byte // oldest at next
	next  int
}

// of is parse.
func (m *calls) of(env capability.Envelope) (call, error) {
	key := env.Hash()
	m.mu.Lock()
	c, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return c, nil
	}
	c, err := parse(env)
	if err != nil || len(env.Arguments()) > maxArguments {
		return c, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[[sha256.Size]byte]call, maxCalls)
	}
	if _, ok := m.known[key]; !ok {
		delete(m.known, m.order[m.next])
		m.known[key], m.order[m.next] = c, key
		m.next = (m.next + 1) % maxCalls
	}
	return c, nil
}
