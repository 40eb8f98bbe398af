package audittest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/audit"
)

func empty(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for range 2 {
			if err := b.holds(); err != nil {
				return err
			}
			if end := b.End(); end != (audit.Position{}) {
				return fmt.Errorf("an empty store ends at %v", end)
			}
			if data, err := b.Load(b.ctx, "state", 100); len(data) > 0 || err != nil {
				return fmt.Errorf("loads %q, %v", data, err)
			}
			if err := b.Cut(b.ctx, audit.Position{}); err != nil {
				return fmt.Errorf("cut at the beginning: %w", err)
			}
			if err := b.reopen(false); err != nil {
				return err
			}
		}
		return nil
	})(ctx, t)
}

// sizes of batches, in lines.
var sizes = []int{1, 3, 1, 64, 2, 300, 1, 17}

func (b *bench) addAll() error {
	for _, n := range sizes {
		if err := b.add(n, int64(n)); err != nil {
			return err
		}
	}
	return nil
}

func bytesComeBack(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for range 3 {
			if err := b.addAll(); err != nil {
				return err
			}
			if err := b.holdsAlways(); err != nil {
				return err
			}
		}
		return nil
	})(ctx, t)
}

func longLine(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for range 40 {
			line := sizedLine(b.next, 1<<16)
			if err := b.Append(b.ctx, audit.Batch{First: b.next, Lines: line}); err != nil {
				return err
			}
			b.next++
			b.want = append(b.want, line...)
			if err := b.add(1, 0); err != nil {
				return err
			}
		}
		return b.holdsAlways()
	})(ctx, t)
}

func largeBatches(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for range 3 {
			if err := b.add(5000, 1000); err != nil {
				return err
			}
			if err := b.add(1, 0); err != nil {
				return err
			}
		}
		return b.holdsAlways()
	})(ctx, t)
}

func segmentsRoll(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for len(b.want) < 400<<10 {
			if err := b.add(20, 100); err != nil {
				return err
			}
		}
		parts := map[int64]bool{}
		for block, err := range b.Blocks(b.ctx, audit.Position{}) {
			if err != nil {
				return err
			}
			parts[block.At.Segment] = true
		}
		if b.Segments && len(parts) < 3 {
			return fmt.Errorf("%d bytes lie in %d parts", len(b.want), len(parts))
		}
		return b.holdsAlways()
	})(ctx, t)
}

func theEnd(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for i := range 60 {
			before := b.End()
			from := len(b.want)
			if err := b.add(30, 100); err != nil {
				return err
			}
			begun, end := b.End(), b.End()
			begun.Offset -= int64(len(b.want) - from)
			if begun != before && begun != (audit.Position{Segment: b.next - 30}) {
				return fmt.Errorf("it ended at %v, %d bytes were appended, it ends at %v", before, len(b.want)-from, end)
			}
			if got, err := readFrom(b.ctx, b, begun); err != nil || same(bytes.TrimRight(got, "\n"), b.want[from:]) != nil {
				return fmt.Errorf("%d bytes are read from %v, %d were appended there: %v", len(got), begun, len(b.want)-from, err)
			}
			if i%20 > 0 {
				continue
			}
			if err := b.reopen(false); err != nil || b.End() != end {
				return fmt.Errorf("it ended at %v, reopened it ends at %v: %v", end, b.End(), err)
			}
		}
		return nil
	})(ctx, t)
}

// places are the positions at which lines begin, with the offsets in all bytes, and the end.
func (b *bench) places() (at []audit.Position, offsets []int, err error) {
	done := 0
	last := audit.Position{}
	for block, err := range b.Blocks(b.ctx, audit.Position{}) {
		if err != nil {
			return nil, nil, err
		}
		place := block.At
		for line := range bytes.Lines(block.Data) {
			at, offsets = append(at, place), append(offsets, done)
			place.Offset += int64(len(line))
			done += len(line)
		}
		last = place
	}
	return append(at, last), append(offsets, done), nil
}

func positions(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		if err := b.addAll(); err != nil {
			return err
		}
		at, offsets, err := b.places()
		if err != nil {
			return err
		}
		for i := range at {
			got, err := readFrom(b.ctx, b, at[i])
			if err != nil {
				return err
			}
			if err := same(bytes.TrimRight(got, "\n"), b.want[offsets[i]:]); err != nil {
				return fmt.Errorf("from %v: %w", at[i], err)
			}
		}
		return nil
	})(ctx, t)
}

func noPlaces(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		absent := []audit.Position{{Segment: 1}, {Offset: 1}, {Offset: -1}, {Segment: -1}}
		for range 2 {
			for _, at := range absent {
				if _, err := readFrom(b.ctx, b, at); err == nil {
					return fmt.Errorf("blocks from %v, which does not exist", at)
				}
				if err := b.Cut(b.ctx, at); err == nil {
					return fmt.Errorf("cut at %v, which does not exist", at)
				}
			}
			if err := b.add(3, 1000); err != nil {
				return fmt.Errorf("after refusals: %w", err)
			}
			end := b.End()
			absent = append(absent, audit.Position{Segment: end.Segment, Offset: end.Offset + 1}, audit.Position{Segment: 1 << 40})
		}
		return b.holdsAlways()
	})(ctx, t)
}

func references(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		lines := Lines(0, 20)
		b.want = bytes.Clone(lines)
		if err := b.Append(b.ctx, audit.Batch{Lines: lines}); err != nil {
			return err
		}
		clear(lines)
		for block, err := range b.Blocks(b.ctx, audit.Position{}) {
			if err != nil {
				return err
			}
			clear(block.Data)
			_ = append(block.Data, "more"...)
		}
		kept := []byte("kept")
		if err := b.Save(b.ctx, "state", kept); err != nil {
			return err
		}
		clear(kept)
		if data, err := b.Load(b.ctx, "state", 100); string(data) != "kept" {
			return fmt.Errorf("saved, the slice then cleared: loads %q, %v", data, err)
		}
		return b.holds()
	})(ctx, t)
}

func stoppingEarly(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		if err := b.add(5000, 0); err != nil {
			return err
		}
		for _, err := range b.Blocks(b.ctx, audit.Position{}) {
			if err != nil {
				return err
			}
			break
		}
		ctx, cancel := context.WithCancel(b.ctx)
		var failed error
		for _, err := range b.Blocks(ctx, audit.Position{}) {
			failed = err
			cancel()
		}
		cancel()
		if !errors.Is(failed, context.Canceled) {
			return fmt.Errorf("cancelled while reading: %v", failed)
		}
		if err := b.add(1, 0); err != nil {
			return err
		}
		return b.holdsAlways()
	})(ctx, t)
}

func cancelled(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		if err := b.add(3, 0); err != nil {
			return err
		}
		done, cancel := context.WithCancel(b.ctx)
		cancel()
		batch := audit.Batch{First: b.next, Lines: Lines(b.next, 1)}
		for what, err := range map[string]error{
			"append": b.Append(done, batch),
			"cut":    b.Cut(done, audit.Position{}),
			"save":   b.Save(done, "state", []byte("new")),
			"extend": b.Extend(done, "state", 0, []byte("new")),
		} {
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s, cancelled before: %v", what, err)
			}
		}
		if data, err := b.Load(b.ctx, "state", 100); len(data) > 0 || err != nil {
			return fmt.Errorf("cancelled, and it loads %q, %v", data, err)
		}
		if err := b.add(1, 0); err != nil {
			return fmt.Errorf("after a cancelled append: %w", err)
		}
		return b.holdsAlways()
	})(ctx, t)
}

func closed(ctx context.Context, t Target) error {
	b, err := start(ctx, t)
	if err != nil {
		return err
	}
	if err := errors.Join(b.add(3, 100), b.Store.Close()); err != nil {
		return err
	}
	if err := b.Store.Close(); err != nil {
		return fmt.Errorf("closed twice: %w", err)
	}
	_, reading := readFrom(ctx, b, audit.Position{})
	_, loading := b.Load(ctx, "state", 100)
	for what, err := range map[string]error{
		"append": b.Append(ctx, audit.Batch{First: b.next, Lines: Lines(b.next, 1)}),
		"cut":    b.Cut(ctx, audit.Position{}),
		"save":   b.Save(ctx, "state", nil),
		"extend": b.Extend(ctx, "state", 0, nil),
		"blocks": reading,
		"load":   loading,
	} {
		if err == nil {
			return fmt.Errorf("%s on a closed store", what)
		}
	}
	if b.Store, err = b.Open(); err != nil {
		return err
	}
	return errors.Join(b.holds(), b.Store.Close())
}
