package main

import (
	"context"
	"time"

	"github.com/iff-run/iff/internal/home"
)

type auditTailCmd struct {
	Lines  int64 `short:"n" help:"How many of the last records." default:"10" placeholder:"N"`
	Follow bool  `short:"f" help:"Go on with those to come, until interrupted."`
}

const (
	// tailPause is how often a log that is followed is looked at.
	tailPause = 200 * time.Millisecond
	// tailPatience is how many times in a row the next line may be unreadable:
	// a batch is caught half written now and then, and whole the next time.
	tailPatience = 25
)

// Run finds the end by the index and reads on from there; it takes no lock, so
// it works beside whoever writes.
func (c auditTailCmd) Run(a *app) error {
	if c.Lines < 0 {
		return &usageError{reason: "usage", detail: "-n is not below 0"}
	}
	return a.withHome(home.Read, func(h *home.Home) error {
		end := h.View().Size()
		reader, err := a.follow(h, max(0, end-c.Lines))
		if err != nil {
			return err
		}
		out := a.lines(!c.Follow)
		if err := c.upTo(a.ctx, reader, end, out); err != nil {
			return damaged(err)
		}
		if !c.Follow {
			return nil
		}
		return c.follow(a.ctx, reader, out)
	})
}

func (auditTailCmd) upTo(ctx context.Context, reader *follower, end int64, out lines) error {
	for s, err := range reader.until(ctx, end) {
		if err == nil {
			err = out.add(s)
		}
		if err != nil {
			_ = out.flush()
			return err
		}
	}
	return out.flush()
}

// follow prints what comes until the context ends, which is no error.
func (c auditTailCmd) follow(ctx context.Context, reader *follower, out lines) error {
	tick := time.NewTicker(tailPause)
	defer tick.Stop()
	for unreadable := 0; ; {
		before := reader.seq
		err := c.upTo(ctx, reader, forever, out)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil || isWriting(err) && reader.seq > before:
			unreadable = 0
		case isWriting(err) && unreadable < tailPatience:
			unreadable++
		default:
			return damaged(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
