package gate

import (
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/level"
)

// way is how a call goes. The zero value denies.
type way uint8

const (
	deny   way = iota
	ask        // a human decides
	run        // a read: done, then recorded
	stage      // kept in memory until somebody confirms it
	commit     // staged and committed at once
	auto       // approved by grant and level
)

// claim is what the routing table looks at.
type claim struct {
	effect   capability.Effect
	declared bool // the active manifest has the class
	covered  bool // one of its grants covers the target
	level    level.Level
	guarded  bool // it would change a loaded skill or an agent's control file
}

// route is the one routing table, the same in both profiles (DESIGN section 2).
func route(c claim) way {
	switch {
	case c.guarded:
		return ask
	case !c.declared:
		return deny
	case !c.covered:
		return ask
	}
	declared := c.level.AtLeast(level.Declared)
	switch c.effect {
	case capability.None:
		return run
	case capability.Reversible:
		if declared {
			return commit
		}
		return stage
	}
	if declared {
		return auto
	}
	return ask
}
