package ensemble

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/iff-run/iff/audit"
)

// errDead is what everything answers once the runtime counts as killed.
var errDead = errors.New("the process is dead")

// fuse kills a runtime at an instant: the n-th time that something is about to be
// written or done, or was. From then on nothing is. The nil fuse never blows.
type fuse struct {
	left atomic.Int64
}

func newFuse(n int64) *fuse {
	f := new(fuse)
	f.left.Store(n)
	return f
}

// tick counts one instant, and says whether the runtime is dead.
func (f *fuse) tick() bool {
	if f == nil {
		return false
	}
	return f.left.Add(-1) <= 0
}

func (f *fuse) dead() bool { return f != nil && f.left.Load() <= 0 }

// mortal is a store that takes nothing more when its process is dead. A batch may
// be durable and nobody be told.
type mortal struct {
	audit.Store
	fuse *fuse
}

// Append implements [audit.Store].
func (m *mortal) Append(ctx context.Context, b audit.Batch) error {
	if m.fuse.tick() {
		return errDead
	}
	if err := m.Store.Append(ctx, b); err != nil {
		return err
	}
	if m.fuse.tick() {
		return errDead
	}
	return nil
}

// Cut implements [audit.Store].
func (m *mortal) Cut(ctx context.Context, at audit.Position) error {
	if m.fuse.tick() {
		return errDead
	}
	return m.Store.Cut(ctx, at)
}

// Save implements [audit.Store].
func (m *mortal) Save(ctx context.Context, name string, data []byte) error {
	if m.fuse.dead() {
		return errDead
	}
	return m.Store.Save(ctx, name, data)
}

// Extend implements [audit.Store].
func (m *mortal) Extend(ctx context.Context, name string, at int64, data []byte) error {
	if m.fuse.dead() {
		return errDead
	}
	return m.Store.Extend(ctx, name, at, data)
}
