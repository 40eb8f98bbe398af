package audittest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/iff-run/iff/audit"
)

// beside reads while another goroutine appends: each reading is a beginning of what was written in the end, and has what was
// acknowledged before it began.
func beside(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		var acked atomic.Int64
		var work sync.WaitGroup
		var adding error
		done := make(chan struct{})
		work.Go(func() {
			defer close(done)
			for i := 0; i < 60 && adding == nil; i++ {
				adding = errors.Join(b.add(1+i%40, 2000), b.Extend(b.ctx, "tree", 0, []byte{byte(i)}))
				acked.Store(int64(len(b.want)))
			}
		})
		readings, err := readings(b.ctx, b.Store, &acked, done)
		work.Wait()
		if err := errors.Join(err, adding); err != nil {
			return err
		}
		for _, r := range readings {
			if r.acked > int64(len(r.data))+1 || !bytes.HasPrefix(b.want, r.data) {
				return fmt.Errorf("a reading of %d bytes, of which %d were acknowledged before, is no beginning of the %d in the end", len(r.data), r.acked, len(b.want))
			}
		}
		return b.holdsAlways()
	})(ctx, t)
}

type reading struct {
	acked int64
	data  []byte
}

// readings reads the store again and again until done, and once more.
func readings(ctx context.Context, s audit.Store, acked *atomic.Int64, done <-chan struct{}) ([]reading, error) {
	var all []reading
	for last := false; !last; {
		select {
		case <-done:
			last = true
		default:
		}
		r := reading{acked: acked.Load()}
		data, err := readFrom(ctx, s, audit.Position{})
		if err != nil {
			return all, err
		}
		r.data = bytes.TrimRight(data, "\n")
		all = append(all, r)
		if len(all) > 50 {
			all = all[25:]
		}
	}
	return all, nil
}
