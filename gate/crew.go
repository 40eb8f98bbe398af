package gate

import (
	"sync"
	"sync/atomic"
)

// crew runs functions side by side. A few of its goroutines wait for the next
// function when they are done: the stack of a new one doubles three times in the
// middle of a call, which costs more than most of what it does.
type crew struct {
	wg   sync.WaitGroup
	next chan func()     // for one that waits
	over <-chan struct{} // closed when none is to wait any more
	idle atomic.Int32    // how many wait
}

// maxIdle is how many wait at most.
const maxIdle = 8

// run has f run, and waits for nobody.
func (c *crew) run(f func()) {
	select {
	case c.next <- f:
	default:
		c.wg.Go(func() { c.work(f) })
	}
}

// work runs f, and then what comes.
func (c *crew) work(f func()) {
	for f != nil {
		f()
		f = c.wait()
	}
}

// wait gives the next function; nil if there will be none, or enough wait already.
func (c *crew) wait() func() {
	defer c.idle.Add(-1)
	if c.idle.Add(1) > maxIdle {
		return nil
	}
	select {
	case f := <-c.next:
		return f
	case <-c.over:
		return nil
	}
}
