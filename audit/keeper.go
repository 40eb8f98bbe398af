package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// keeper keeps beside the log what is derived from it: the index and the
// newest snapshot. It is behind the writer and never in its way. It owns one
// goroutine.
type keeper struct {
	ctx       context.Context // never ends
	store     Store
	published func(*View)
	wake      chan struct{}
	done      chan struct{}

	mu      sync.Mutex // guards what follows
	newest  *kept
	closing bool

	// Of the goroutine.
	stored int   // entries of the index that are known to be in the store
	err    error // of the last time; nil if all was kept
}

func startKeeper(ctx context.Context, store Store, stored int, published func(*View)) *keeper {
	k := &keeper{ctx: ctx, store: store, stored: stored, published: published, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go k.run()
	return k
}

// kept is what is kept of one checkpoint.
type kept struct {
	snapshot *snapshot
	state    []byte // canonical
	view     View
}

// keep takes a newer checkpoint.
func (k *keeper) keep(n *kept) {
	k.mu.Lock()
	k.newest = n
	k.mu.Unlock()
	k.poke()
}

func (k *keeper) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) run() {
	defer close(k.done)
	for range k.wake {
		n, closing := k.next()
		if n != nil {
			// The index first: a snapshot is worth less without it.
			k.err = errors.Join(k.index(n.view.blocks), k.save(n))
			if k.published != nil {
				k.published(&n.view)
			}
		}
		if closing {
			return
		}
	}
}

func (k *keeper) next() (n *kept, closing bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, closing = k.newest, k.closing
	k.newest = nil
	return n, closing
}

// index keeps the entries that the store does not have, and all of them if it
// does not take those alone: it may have lost some.
func (k *keeper) index(blocks []indexEntry) error {
	err := k.extend(blocks)
	if err != nil && k.stored > 0 {
		k.stored = 0
		err = k.extend(blocks)
	}
	if err != nil {
		k.stored = 0
	}
	return err
}

func (k *keeper) extend(blocks []indexEntry) error {
	if len(blocks) <= k.stored {
		return nil
	}
	var data []byte
	for _, e := range blocks[k.stored:] {
		data = appendEntry(data, e)
	}
	if err := k.store.Extend(k.ctx, indexName, int64(k.stored)*entryBytes, data); err != nil {
		return err
	}
	k.stored = len(blocks)
	return nil
}

func (k *keeper) save(n *kept) error {
	encoded, err := n.snapshot.encode(n.state)
	if err != nil {
		return err
	}
	return k.store.Save(k.ctx, snapshotName, encoded)
}

// close waits until the newest snapshot is kept and says whether it was.
func (k *keeper) close() error {
	k.mu.Lock()
	k.closing = true
	k.mu.Unlock()
	k.poke()
	<-k.done
	if k.err != nil {
		return fmt.Errorf("%w: what makes opening it fast could not be kept: %w", ErrUnkept, k.err)
	}
	return nil
}
