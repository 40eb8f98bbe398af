package gate

import (
	"fmt"
	"testing"

	"github.com/iff-run/iff/corpus"
	"pgregory.net/rapid"
)

// TestLeases holds leases against a list of who holds what, for any calls on any
// trees.
func TestLeases(t *testing.T) {
	names := rapid.SampledFrom([]string{"c/.", "c/a", "c/a/b", "c/a/b/c", "c/a/bc", "c/ab", "c/b", "d/.", "d/a", "d/a/b"})
	rapid.Check(t, func(t *rapid.T) {
		l, held := newLeases(), make(map[string][]corpus.Object)
		for n := range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "release") {
				ids := make([]string, 0, len(held))
				for i := range n {
					if held[fmt.Sprint(i)] != nil {
						ids = append(ids, fmt.Sprint(i))
					}
				}
				id := rapid.SampledFrom(ids).Draw(t, "id")
				l.release(held[id])
				delete(held, id)
				continue
			}
			var objects []corpus.Object
			for range rapid.IntRange(1, 3).Draw(t, "objects") {
				objects = append(objects, corpus.Object(names.Draw(t, "object")))
			}
			free := true
			for _, other := range held {
				for _, a := range other {
					for _, b := range objects {
						free = free && a != b && !a.Below(b) && !b.Below(a)
					}
				}
			}
			if l.free(objects) != free {
				t.Fatalf("%v is free: %v; held are %v", objects, !free, held)
			}
			if free {
				l.take(fmt.Sprint(n), objects)
				held[fmt.Sprint(n)] = objects
			}
		}
		for _, objects := range held {
			l.release(objects)
		}
		if len(l.owner)+len(l.shared) > 0 {
			t.Fatalf("all is released, and %v is held", l)
		}
	})
}
