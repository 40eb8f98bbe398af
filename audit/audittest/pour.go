package audittest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/iff-run/iff/audit"
)

// Pour appends batches of [Line]'s lines, beginning with the one numbered next, until an Append or acks fails or ctx is done. After each Append it
// writes to acks how many lines were acknowledged in all, as 8 bytes, big endian. Batches have 1 to 100 lines, most of them few.
func Pour(ctx context.Context, s audit.Store, next int64, acks io.Writer) error {
	r := rand.New(rand.NewPCG(uint64(next), 3))
	for {
		n := 1 + r.IntN(1+r.IntN(100))
		if err := s.Append(ctx, audit.Batch{First: next, Lines: Lines(next, n), Reserve: int64(r.IntN(4000))}); err != nil {
			return err
		}
		next += int64(n)
		if _, err := acks.Write(binary.BigEndian.AppendUint64(nil, uint64(next))); err != nil {
			return err
		}
	}
}

// Acked is what a Pour has acknowledged last, by what it wrote to acks; 0 if nothing.
func Acked(acks []byte) int64 {
	whole := len(acks) / 8 * 8
	if whole == 0 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(acks[whole-8:]))
}

// Poured checks what Pours left in a store: the first acked lines, exactly. Behind them whole lines may follow, and then anything.
// It gives the number of the next line to pour and where it must be: cut the store there first.
func Poured(ctx context.Context, s audit.Store, acked int64) (next int64, at audit.Position, err error) {
	for block, err := range s.Blocks(ctx, audit.Position{}) {
		if err != nil {
			return next, at, err
		}
		place := block.At
		if place != at && (place != audit.Position{Segment: next}) {
			break // what is between does not count any more
		}
		for line := range bytes.Lines(block.Data) {
			if !bytes.Equal(line, Line(next)) {
				return next, at, lost(next, acked, at)
			}
			next++
			place.Offset += int64(len(line))
			at = place
		}
	}
	return next, at, lost(next, acked, at)
}

func lost(next, acked int64, at audit.Position) error {
	if next < acked {
		return fmt.Errorf("line %d is not at %v, and %d were acknowledged", next, at, acked)
	}
	return nil
}
