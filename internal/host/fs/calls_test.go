package fs

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/capability"
)

// TestCalls: what is remembered is what would be read, for many at once, and it
// stays small. A call is another one where only its target or class is.
func TestCalls(t *testing.T) {
	var m calls
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 3 * maxCalls {
				n := i % (maxCalls + 20)
				content := fmt.Sprint(n)
				if n%9 == 0 {
					content = strings.Repeat("x", maxArguments)
				}
				for _, class := range []capability.Capability{capability.FSWriteRev, capability.FSWriteIrrev} {
					env := envelope(t, class, fmt.Sprint("f", n%7), fmt.Sprintf(`{"op":"write","content":%q}`, content))
					want, _ := parse(env)
					if got, err := m.of(env); err != nil || got != want || got.data != content || got.class != class {
						t.Errorf("%d: %+v, %v", n, got, err)
					}
				}
			}
		})
	}
	all.Wait()
	if n := len(m.known); n != maxCalls {
		t.Errorf("%d calls are remembered, want %d", n, maxCalls)
	}
	for _, c := range m.known {
		if len(c.data) >= maxArguments {
			t.Errorf("one of %d bytes", len(c.data))
		}
	}
	refused := envelope(t, capability.FSWriteRev, "f", `{"op":"nonsense"}`)
	for range 2 {
		if _, err := m.of(refused); err == nil {
			t.Error("a call that is none was taken")
		}
	}
}
