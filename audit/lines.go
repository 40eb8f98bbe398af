package audit

import (
	"bytes"
	"context"
	"iter"

	"github.com/iff-run/iff/record"
)

// line is one line as it lies in a store, without its newline.
type line struct {
	at   Position
	data []byte
	rest []byte // of the block, from the line on
}

// linesFrom gives the lines from a position on, as they are, up to the first
// empty or unended one.
func linesFrom(ctx context.Context, store Store, from Position) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for b, err := range store.Blocks(ctx, from) {
			if err != nil {
				yield(line{}, err)
				return
			}
			at := b.At
			for rest := b.Data; len(rest) > 0; {
				n := bytes.IndexByte(rest, '\n')
				if n <= 0 || !yield(line{at, rest[:n], rest}, nil) {
					return
				}
				rest = rest[n+1:]
				at.Offset += int64(n) + 1
			}
		}
	}
}

// mostTogether is about how much text is copied at once. Who keeps a string of a
// record keeps all of it.
const mostTogether = 4 << 10

// together are whole lines from the beginning of a block on, with their newlines:
// the first, and as many more as are copied with it.
func together(block []byte, first int) []byte {
	n := bytes.LastIndexByte(block[:min(len(block), mostTogether)], '\n')
	return block[:max(n, first)+1]
}

// Stored is a record with the line it was read from.
type Stored struct {
	record.Record
	At   Position
	Line []byte // without its newline
}

// Records gives the records from a position on, as far as they can be read. It
// checks each line by itself and nothing between them: that is what verifying
// is for. A line that cannot be read ends the sequence with a *Problem's error.
func Records(ctx context.Context, store Store, from Position) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		text := "" // of the lines from this one on
		for l, err := range linesFrom(ctx, store, from) {
			if err != nil {
				yield(Stored{}, err)
				return
			}
			if text == "" {
				text = string(together(l.rest, len(l.data)))
			}
			r, err := record.ParseLine(text[:len(l.data)])
			text = text[len(l.data)+1:]
			if err != nil {
				p := Problem{Reason: LineInvalid, Seq: l.at.Segment, At: l.at, Detail: "not a record as it was written", err: err}
				yield(Stored{At: l.at, Line: l.data}, p.Error())
				return
			}
			if !yield(Stored{r, l.at, l.data}, nil) {
				return
			}
		}
	}
}
