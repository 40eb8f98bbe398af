package audit

import (
	"context"
	"errors"
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
	entries []indexEntry
	first   int64 // number of the first of entries
	newest  *kept
	closing bool

	err error // of the goroutine, read when done
}

func startKeeper(ctx context.Context, store Store, entries []indexEntry, first int64, published func(*View)) *keeper {
	k := &keeper{
		ctx: ctx, store: store, published: published, entries: entries, first: first,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go k.run()
	return k
}

// index takes the next entry of the index.
func (k *keeper) index(e indexEntry) {
	k.mu.Lock()
	k.entries = append(k.entries, e)
	k.mu.Unlock()
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
		n, entries, first, closing := k.next()
		if n != nil {
			k.err = k.save(n, entries, first)
		}
		if n != nil && k.err == nil && k.published != nil {
			k.published(&n.view)
		}
		if closing {
			return
		}
	}
}

func (k *keeper) next() (n *kept, entries []indexEntry, first int64, closing bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, closing = k.newest, k.closing
	k.newest = nil
	if n != nil {
		entries, first = k.entries, k.first
		k.entries, k.first = nil, first+int64(len(entries))
	}
	return n, entries, first, closing
}

// save keeps index and snapshot. The index goes first: a snapshot without it
// is worth less.
func (k *keeper) save(n *kept, entries []indexEntry, first int64) error {
	var data []byte
	for _, e := range entries {
		data = appendEntry(data, e)
	}
	var failed error
	if len(data) > 0 {
		failed = k.store.Extend(k.ctx, indexName, first*entryBytes, data)
	}
	encoded, err := n.snapshot.encode(n.state)
	if err == nil {
		err = k.store.Save(k.ctx, snapshotName, encoded)
	}
	return errors.Join(failed, err)
}

// close waits until the newest snapshot is kept and says whether it was.
func (k *keeper) close() error {
	k.mu.Lock()
	k.closing = true
	k.mu.Unlock()
	k.poke()
	<-k.done
	if k.err != nil {
		return errors.Join(errors.New("the log is whole, but what makes opening it fast could not be kept"), k.err)
	}
	return nil
}
