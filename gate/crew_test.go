package gate

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// All that a crew is given is run, side by side; a few of its goroutines wait for
// more and end when none is to, and what comes later is run all the same.
func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		c := crew{next: make(chan func()), over: over}
		const many = 5 * maxIdle
		var running, done atomic.Int32
		for range 3 {
			gate := make(chan struct{})
			for range many {
				c.run(func() { running.Add(1); <-gate; running.Add(-1); done.Add(1) })
			}
			synctest.Wait()
			if n := running.Load(); n != many {
				t.Errorf("%d of %d run", n, many)
			}
			close(gate)
			synctest.Wait()
			if n := c.idle.Load(); n != maxIdle {
				t.Errorf("%d wait for more, not %d", n, maxIdle)
			}
		}
		close(over)
		c.wg.Wait()
		c.run(func() { done.Add(1) })
		c.wg.Wait()
		if n := done.Load(); n != 3*many+1 || c.idle.Load() != 0 {
			t.Errorf("%d were run, %d wait", n, c.idle.Load())
		}
	})
}
