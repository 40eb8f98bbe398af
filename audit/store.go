package audit

import (
	"context"
	"fmt"
	"iter"
)

// ErrFull says that the store has no room for a batch. Nothing of it was
// written, and the store can go on.
var ErrFull error = &Error{Reason: LogFull}

// ErrEmptySegment is what Blocks ends with where a segment has no lines and
// another one stands behind it.
var ErrEmptySegment error = &Error{Reason: SegmentName, Detail: "a segment without lines, with another one behind it"}

// Position is a place between two lines in a store. The zero value is the
// beginning.
type Position struct {
	// Segment is the sequence number of the first line of the part of the store
	// that the position lies in. A store in one part has only segment 0.
	Segment int64
	// Offset is in bytes from the beginning of that part.
	Offset int64
}

// Less says whether p lies before q.
func (p Position) Less(q Position) bool {
	return p.Segment < q.Segment || p.Segment == q.Segment && p.Offset < q.Offset
}

// String is for example "00000000000000000000.jsonl byte 4711".
func (p Position) String() string { return fmt.Sprintf("%020d.jsonl byte %d", p.Segment, p.Offset) }

// Batch is what is made durable together.
type Batch struct {
	// First is the sequence number of the first line.
	First int64
	// Lines are whole lines, each with its newline. The store keeps no
	// reference to them.
	Lines []byte
	// Reserve is how many bytes must still fit behind the batch, whatever
	// happens to the disk meanwhile: room for outcomes of what the batch admits.
	Reserve int64
}

// Block is a run of bytes of a store. All of it lies in one segment.
type Block struct {
	// At is where it begins.
	At Position
	// Data are whole lines with their newlines. Only at the end of a segment
	// something without a newline may follow them: what a crash or somebody left
	// there. Runs of newlines, or of the zeros that a crash made of them, may be
	// left out or given at the end of the last segment: they are the room that was
	// prepared for lines to come.
	Data []byte
}

// Store keeps the lines of one log, in order, and gives them back byte for
// byte. It knows nothing of what is in them. One owner appends; reading may go
// on beside it. Package audittest has the contract as tests.
type Store interface {
	// Append makes a batch durable behind all before it, and returns only then.
	// One call at a time. [ErrFull], or an error of a ctx that had ended before,
	// means that nothing was written and the next call may succeed. Any other
	// error is final: what the store holds behind its last good batch is unknown,
	// and every later Append fails too.
	Append(ctx context.Context, b Batch) error
	// End is where the lines end: behind the last that Append made durable, or
	// that was found when the store was opened. A batch lies in one segment, so
	// after an Append it began len(Lines) before the end.
	End() Position
	// Blocks gives the stored bytes from a position on, in order, as far as they
	// went when it was called or further. A block is at most about a megabyte
	// unless one line is longer. The consumer owns the data. An error ends the
	// sequence; a position that does not exist is an error, the end of a segment
	// is not.
	Blocks(ctx context.Context, from Position) iter.Seq2[Block, error]
	// Cut makes at the end of the store, durably, and forgets what lies behind it.
	Cut(ctx context.Context, at Position) error
	// Load gives what was last saved under a name (up to 80 of a-z, 0-9 and -), or nothing if nothing was,
	// and an error if it is longer than max bytes.
	Load(ctx context.Context, name string, max int) ([]byte, error)
	// Save replaces what is kept under a name, durably and as a whole. It may run
	// beside Append.
	Save(ctx context.Context, name string, data []byte) error
	// Extend writes at an offset of what is kept under a name and cuts off what
	// was behind; the beginning is kept. It need not be durable: only what can be
	// computed again is kept this way. It may run beside Append.
	Extend(ctx context.Context, name string, at int64, data []byte) error
	// Close gives the store up; room that was prepared and not used is given
	// back. It is safe to call twice.
	Close() error
}
