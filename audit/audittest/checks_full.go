package audittest

import (
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/audit"
)

// isFull appends what must be refused for want of room.
func (b *bench) isFull(lines int, reserve int64) error {
	before := b.End()
	err := b.add(lines, reserve)
	if err == nil {
		return errors.New("the disk is full, and a batch was taken")
	}
	if !errors.Is(err, audit.ErrFull) {
		return fmt.Errorf("the disk is full, and the error is not audit.ErrFull: %w", err)
	}
	if b.End() != before {
		return fmt.Errorf("the disk is full, and the end moved from %v to %v", before, b.End())
	}
	return b.holds()
}

// withFree runs a check that fills the disk. It is not run on a target that cannot.
func withFree(run func(*bench) error) func(*bench) error {
	return func(b *bench) error {
		if b.Free == nil {
			return nil
		}
		err := run(b)
		b.Free(-1)
		return err
	}
}

func full(ctx context.Context, t Target) error {
	return started(withFree(func(b *bench) error {
		b.Free(0)
		if err := b.isFull(1, 0); err != nil {
			return fmt.Errorf("a new store: %w", err)
		}
		b.Free(-1)
		if err := b.add(3, 0); err != nil {
			return fmt.Errorf("after audit.ErrFull: %w", err)
		}
		for _, free := range []int64{0, 1, 100, 2000} {
			b.Free(free)
			if err := b.isFull(5000, 0); err != nil {
				return err
			}
			if err := b.isFull(1, 1<<22); err != nil {
				return err
			}
		}
		b.Free(-1)
		if err := b.add(5000, 0); err != nil {
			return fmt.Errorf("after audit.ErrFull: %w", err)
		}
		return b.holdsAlways()
	}))(ctx, t)
}

// reserve fills the disk behind a batch: what it reserved can be had, line by line.
func reserve(ctx context.Context, t Target) error {
	return started(withFree(func(b *bench) error {
		for range 3 {
			b.Free(-1)
			if err := b.add(2, 20_000); err != nil {
				return err
			}
			b.Free(0)
			from := len(b.want)
			for len(b.want)+1100-from <= 20_000 {
				if err := b.add(1, 0); err != nil {
					return fmt.Errorf("%d of 20000 reserved bytes used: %w", len(b.want)-from, err)
				}
			}
			if err := b.isFull(1, 1<<22); err != nil {
				return err
			}
		}
		return b.holdsAlways()
	}))(ctx, t)
}

// reserveOverSegments has the disk full when a new part is due.
func reserveOverSegments(ctx context.Context, t Target) error {
	return started(withFree(func(b *bench) error {
		for len(b.want) < 300<<10 {
			b.Free(-1)
			if err := b.add(9, 3300); err != nil {
				return err
			}
			b.Free(2000)
			for range 3 {
				if err := b.add(1, 0); err != nil {
					return fmt.Errorf("within the reserve, %d bytes in all: %w", len(b.want), err)
				}
			}
		}
		return b.holdsAlways()
	}))(ctx, t)
}
