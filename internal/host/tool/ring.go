package tool

import (
	"sync"

	"github.com/iff-run/iff/internal/visible"
)

// ringSize is how much of a program's standard error is kept.
const ringSize = 8 << 10

// ring keeps the last bytes that are written to it.
type ring struct {
	mu   sync.Mutex
	data []byte
}

// Write never fails.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data = append(r.data, p[max(0, len(p)-ringSize):]...)
	if over := len(r.data) - ringSize; over > 0 {
		r.data = append(r.data[:0], r.data[over:]...)
	}
	return len(p), nil
}

// String is what is kept, escaped.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return visible.EscapeMultiline(string(r.data))
}
