package broker

import (
	"sync"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/iff-run/iff/capability"
)

// maxFacts is at least as many as the context has attributes: a test holds it.
const maxFacts = 20

// contextKey is a context before it is one: the values of what rules ask for, in
// the order of their names.
type contextKey struct {
	class  capability.Capability
	values [maxFacts]types.Value
}

// record makes the context.
func (k contextKey) record(names []types.String) types.Record {
	if len(names) == 0 {
		return types.Record{}
	}
	out := make(types.RecordMap, len(names))
	for i, name := range names {
		out[name] = k.values[i]
	}
	return types.NewRecord(out)
}

// bytes is how long its texts are together.
func (k contextKey) bytes() int {
	n := 0
	for _, v := range k.values {
		switch v := v.(type) {
		case types.String:
			n += len(v)
		case types.EntityUID:
			n += len(v.ID)
		}
	}
	return n
}

// memo remembers parts of requests that were made and fit the schema: calls are
// alike in most, and a context or a resource costs as much as a decision. What it
// has forgotten is made again and is the same. The zero value has none.
type memo[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]V
}

// Bounds of what is remembered.
const (
	maxContexts     = 256
	maxContextBytes = 512 // of one
	maxTargets      = 256
	maxTargetBytes  = 512 // of the text of one
)

func (m *memo[K, V]) find(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[k]
	return v, ok
}

func (m *memo[K, V]) keep(k K, v V, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= most {
		m.known = map[K]V{}
	}
	m.known[k] = v
}
