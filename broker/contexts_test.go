package broker

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/record"
)

// TestContexts: what is remembered decides as what is made anew, for many at once
// and behind many others; and it stays small.
func TestContexts(t *testing.T) {
	p := read(t, `forbid (principal, action == Action::"fs.read", resource) when { context.skill == "s7" || context.op == "stat" };
		permit (principal, action == Action::"fs.read", resource) when { context.changes == 0 };`)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 3 * maxContexts {
				q := ask(t, "fs.read", "a", fmt.Sprintf(`{"op":%q}`, []string{"list", "stat", strings.Repeat("x", 2000)}[i%3]))
				q.Skill.Name = fmt.Sprint("s", i%(maxContexts+20))
				want := record.Approve
				if q.Skill.Name == "s7" || i%3 == 1 {
					want = record.Deny
				}
				if got := p.Decide(q); got.Choice != want {
					t.Errorf("%d: %+v", i, got)
				}
			}
		})
	}
	all.Wait()
	if n := len(p.made.known); n == 0 || n > maxContexts {
		t.Errorf("%d contexts are remembered", n)
	}
	for k := range p.made.known {
		if k.bytes() > maxContextBytes {
			t.Errorf("one of %d bytes", k.bytes())
		}
	}
}

// TestTargets: the same of targets. What is remembered of one says nothing of
// another, nor of the same text in another class.
func TestTargets(t *testing.T) {
	p := read(t, `permit (principal, action == Action::"fs.read", resource) when { resource.name == "f7" };
		forbid (principal, action == Action::"fs.write.rev", resource) when { resource.name == "f7" };`)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 3 * maxTargets {
				name := fmt.Sprint("f", i%(maxTargets+20))
				if i%5 == 0 {
					name = strings.Repeat(strings.Repeat("d", 200)+"/", 3) + name // too long to be remembered
				}
				want := map[string]record.Choice{}
				if strings.HasSuffix(name, "f7") {
					want = map[string]record.Choice{"fs.read": record.Approve, "fs.write.rev": record.Deny}
				}
				for _, class := range []string{"fs.read", "fs.write.rev"} {
					if got := p.Decide(ask(t, class, name, `{}`)); got.Choice != want[class] {
						t.Errorf("%s(%.20s): %+v", class, name, got)
					}
				}
			}
		})
	}
	all.Wait()
	if n := len(p.seen.known); n == 0 || n > maxTargets {
		t.Errorf("%d targets are remembered", n)
	}
	for target := range p.seen.known {
		if len(target.String()) > maxTargetBytes {
			t.Errorf("one of %d bytes", len(target.String()))
		}
	}
}
