package gate

import (
	"errors"
	"sync/atomic"

	"github.com/iff-run/iff/capability"
)

// ErrPermit says that a permit is none: the zero one, or one that was taken.
var ErrPermit = errors.New("permit-void")

// Permit lets a host do one thing once. It is made by a gate only, for a change
// to the world only once the intent to do it is durable. The zero value permits
// nothing.
type Permit struct {
	order Order
	state atomic.Int32
}

const (
	permitVoid int32 = iota
	permitGood
)

// Phase is what of a call is done. The zero value is nothing.
type Phase string

// The phases.
const (
	Read     Phase = "read"
	Execute  Phase = "execute"
	Commit   Phase = "commit"
	Rollback Phase = "rollback"
)

// Order is what a permit allows: the host's only source of what to do.
type Order struct {
	Phase    Phase
	Session  string
	Request  string
	Envelope capability.Envelope // as approved
	Plan     Plan                // as recorded in the intent; of a rollback, the undoing one
	Staging  string              // name that a file has until it takes its place
	Key      string              // idempotency key
	Staged   Staged              // of a read: what the session sees over the world; may be nil
}

func mint(o Order) *Permit {
	p := &Permit{order: o}
	p.state.Store(permitGood)
	return p
}

// Take uses the permit up. The second time it fails with [ErrPermit], as it does
// for the zero permit.
func (p *Permit) Take() (Order, error) {
	if p == nil || !p.state.CompareAndSwap(permitGood, permitVoid) {
		return Order{}, ErrPermit
	}
	return p.order, nil
}
