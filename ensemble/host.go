package ensemble

import (
	"context"
	"sync/atomic"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
	hostfs "github.com/iff-run/iff/internal/host/fs"
)

// host stands before the host for files. It does what that does, unless a fault is
// armed: then the fault has the permit, and does what it likes.
type host struct {
	*hostfs.Host
	fuse   *fuse
	strike atomic.Pointer[strike]

	// weak is how many of a thousand calls the host gives up on, without having
	// done anything, as a host on a full disk does.
	weak uint64
	seed uint64
	done atomic.Uint64
}

// strike is what an armed fault does instead of the host.
type strike func(ctx context.Context, p *gate.Permit) (gate.Result, error)

var _ gate.Host = (*host)(nil)

// nothingDone is what a host says that has little to say.
var nothingDone = gate.Result{Data: []byte("{}")}

// Do implements [gate.Host].
func (h *host) Do(ctx context.Context, p *gate.Permit) (gate.Result, error) {
	if h.fuse.tick() {
		return gate.Result{}, errDead
	}
	defer h.fuse.tick()
	if f := h.strike.Load(); f != nil {
		return (*f)(ctx, p)
	}
	if h.weak > 0 && mix(h.seed, h.done.Add(1))%1000 < h.weak {
		return gate.Result{}, &gate.Refusal{Reason: gate.NoRoom, Detail: "the disk is full; make room"}
	}
	return h.Host.Do(ctx, p)
}

// hosts puts one before each class of writes, so that a fault can strike one class
// while agents make calls of the other.
func (s *stage) hosts(files *hostfs.Host) map[capability.Capability]gate.Host {
	s.reversible = &host{Host: files, fuse: s.fuse, seed: s.config.Seed}
	s.irreversible = &host{Host: files, fuse: s.fuse, seed: ^s.config.Seed}
	if s.config.Fault == Honest || s.config.Fault == Crash {
		s.reversible.weak, s.irreversible.weak = 20, 20
	}
	return map[capability.Capability]gate.Host{
		capability.FSRead: files, capability.FSWriteRev: s.reversible, capability.FSWriteIrrev: s.irreversible,
	}
}
