package anchor_test

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/anchor"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// An anchor takes what extends the checkpoint that it holds, and tells of a log that was cut back.
func Example() {
	ctx := context.Background()
	log := witnesstest.New("example.com/log")
	log.Grow(8, "leaf")
	extend := func(size int64) anchor.Extend {
		return func(_ context.Context, old int64) ([]tlog.Hash, error) { return log.Prove(old, size), nil }
	}
	a, err := anchor.Open(
		anchor.Spec{Place: "/log.checkpoint"},
		anchor.Log{Origin: log.Origin(), Keys: note.VerifierList(log.Verifier())},
		anchor.Options{FS: durabletest.New(), Dir: "/anchors"},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, size := range []int64{5, 8, 6} {
		err := a.Put(ctx, log.Checkpoint(size), extend(size))
		var refused *anchor.Error
		if errors.As(err, &refused) {
			fmt.Println(size, refused.Reason)
		}
	}
	newest, _, err := a.Newest(ctx)
	fmt.Println(newest.By, newest.Size, err)
	// Output:
	// 6 anchor-rollback
	// file /log.checkpoint 8 <nil>
}
