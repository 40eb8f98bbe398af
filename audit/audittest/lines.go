package audittest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/iff-run/iff/audit"
)

// Line is the line numbered seq of every log that this package writes, with its newline: the number, a space, and up to 1,000
// bytes of any other value, and a full stop. It is the same each time.
func Line(seq int64) []byte {
	r := rand.New(rand.NewPCG(uint64(seq), 1))
	return sizedLine(seq, r.IntN(1000))
}

func sizedLine(seq int64, size int) []byte {
	line := append(make([]byte, 0, size+32), strconv.FormatInt(seq, 10)+" "...)
	text := len(line)
	for r := rand.NewPCG(uint64(seq), 2); len(line) < text+size; {
		line = binary.LittleEndian.AppendUint64(line, r.Uint64())
	}
	line = line[:text+size]
	for i, c := range line {
		if c == '\n' {
			line[i] = 0
		}
	}
	return append(line, ".\n"...)
}

// Lines is n lines from the one numbered first.
func Lines(first int64, n int) []byte {
	all := make([]byte, 0, n*600)
	for i := range n {
		all = append(all, Line(first+int64(i))...)
	}
	return all
}

// aboutMegabyte is what a block may have.
const aboutMegabyte = 2 << 20

// ReadAll is all that a store holds but the newlines at its end, and an error if it does not come as the contract says: in order,
// without a gap, no block empty or too long. Only at the end of a part something may lack its newline. That a part is
// named by its first line is checked if that line is one of [Line]'s.
func ReadAll(ctx context.Context, s audit.Store) ([]byte, error) {
	all, err := readFrom(ctx, s, audit.Position{})
	return bytes.TrimRight(all, "\n"), err
}

func readFrom(ctx context.Context, s audit.Store, from audit.Position) ([]byte, error) {
	var all []byte
	next, open := from, false
	for block, err := range s.Blocks(ctx, from) {
		if err != nil {
			return all, fmt.Errorf("behind %d bytes from %v: %w", len(all), from, err)
		}
		if err := follows(block, next, open); err != nil {
			return all, err
		}
		next = audit.Position{Segment: block.At.Segment, Offset: block.At.Offset + int64(len(block.Data))}
		open = block.Data[len(block.Data)-1] != '\n'
		all = append(all, block.Data...)
	}
	return all, nil
}

// follows says whether a block may come at next, or begin a new part.
func follows(block audit.Block, next audit.Position, open bool) error {
	lines := bytes.Count(block.Data, []byte("\n"))
	switch {
	case len(block.Data) == 0:
		return fmt.Errorf("%v: an empty block", block.At)
	case len(block.Data) > aboutMegabyte && lines > 1:
		return fmt.Errorf("%v: a block of %d bytes", block.At, len(block.Data))
	case block.At == next && !open:
		return nil
	case block.At.Segment < next.Segment || block.At.Segment == next.Segment && next != (audit.Position{}):
		return fmt.Errorf("%v: a block is there, the one before ended at %v, without a newline: %v", block.At, next, open)
	case block.At.Offset != 0:
		return fmt.Errorf("%v: a part begins there", block.At)
	}
	number, _, _ := bytes.Cut(block.Data, []byte(" "))
	if seq, err := strconv.ParseInt(string(number), 10, 64); err == nil && seq != block.At.Segment {
		return fmt.Errorf("%v: a part begins there with line %d", block.At, seq)
	}
	return nil
}

// same compares what was read with what was written, without the last newline of either.
func same(got, want []byte) error {
	want = bytes.TrimRight(want, "\n")
	if bytes.Equal(got, want) {
		return nil
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	return fmt.Errorf("%d bytes come back, %d were written; they differ at %d", len(got), len(want), i)
}
