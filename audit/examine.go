package audit

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/iff-run/iff/record"
)

// part is what one block was found to hold. It is made without knowledge of
// the blocks before it; whoever merges parts in order checks that they fit.
type part struct {
	at        Position
	end       Position // behind the last good line
	first     int64    // sequence number that the first line claims
	lines     int64
	prev      record.Hash // of the first line
	last      record.Hash // leaf of the last line
	newBatch  bool        // the first line claims to begin its batch
	batch     int64       // of the first line
	lastBatch int64
	stretches []stretch
	blocks    []Position // where blocks of the index begin
	padding   bool       // newlines alone follow
	problem   *Problem
}

// stretch is a run of records that is folded as a whole, and what stands at
// its end.
type stretch struct {
	pieces  []piece
	records []record.Record
	// special is a record behind the stretch that is checked against all before
	// it: init, a change of key, a checkpoint.
	special *record.Record
	at      Position // of special
}

// examiner reads one block.
type examiner struct {
	skim record.Skimmer
	hash record.Hasher
	part
	run   run
	marks []int64 // sizes at which the root is asked for, sorted
	full  bool    // whole bodies are wanted
	spare *spare
	held  []record.Record
}

// examine hashes and reads the lines of a block.
func examine(b Block, marks []int64, full bool, spare *spare) part {
	x := examiner{part: part{at: b.At}, marks: marks, full: full, spare: spare}
	// What is read off the lines shares the block's memory. That is sound as
	// long as nobody writes to the block, and it is the consumer's (Store).
	text := unsafe.String(unsafe.SliceData(b.Data), len(b.Data))
	for i := 0; i < len(text); {
		at := Position{b.At.Segment, b.At.Offset + int64(i)}
		n := bytes.IndexByte(b.Data[i:], '\n')
		if n < 0 {
			x.fail(LineUnended, at, "there is no newline behind it", nil)
			break
		}
		if n == 0 {
			if rest := bytes.TrimLeft(b.Data[i:], "\n"); len(rest) > 0 {
				x.fail(LineBlank, at, "an empty line", nil)
			}
			x.padding = true
			break
		}
		if !x.line(b.Data[i:i+n], text[i:i+n], at) {
			break
		}
		i += n + 1
		x.end = Position{b.At.Segment, b.At.Offset + int64(i)}
	}
	x.flush(nil, Position{})
	return x.part
}

func (x *examiner) fail(reason Reason, at Position, detail string, err error) {
	x.problem = &Problem{Reason: reason, Seq: x.first + x.lines, At: at, Detail: detail, err: err}
}

// line takes one line; it is false when that does not hold.
func (x *examiner) line(data []byte, text string, at Position) bool {
	read := x.skim.Line
	if x.full {
		read = record.ParseLine
	}
	r, err := read(text)
	if err != nil {
		x.fail(LineInvalid, at, "not a record as it was written", err)
		return false
	}
	if x.lines == 0 {
		x.first, x.prev, x.batch, x.newBatch = r.Seq, r.Prev, r.Batch, r.Batch == r.Seq
		x.run.next = r.Seq
	} else if !x.follows(r, at) {
		return false
	}
	if _, first := r.Body.(record.Init); first != (r.Seq == 0) {
		x.fail(FirstRecord, at, "init is the first record and no other", nil)
		return false
	}
	if r.Seq%blockSize == 0 {
		x.blocks = append(x.blocks, at)
	}
	switch r.Body.(type) {
	case record.Init, record.KeyRotated, record.Checkpoint:
		x.flush(&r, at)
	default:
		if _, asked := slices.BinarySearch(x.marks, r.Seq); asked {
			x.flush(nil, at)
		}
		if x.held == nil {
			x.held = x.spare.get()
		}
		x.held = append(x.held, r)
	}
	x.last, x.lastBatch = x.hash.Leaf(data), r.Batch
	x.run.add(x.last)
	x.lines++
	return true
}

// follows checks a line against the one before it.
func (x *examiner) follows(r record.Record, at Position) bool {
	switch want := x.first + x.lines; {
	case r.Seq != want:
		x.fail(SeqGap, at, fmt.Sprintf("it says it is record %d", r.Seq), nil)
	case r.Prev != x.last:
		x.fail(ChainBroken, at, brokenChain, nil)
	case r.Batch != x.lastBatch && r.Batch != r.Seq:
		x.fail(BatchOrder, at, fmt.Sprintf("it says it is of batch %d", r.Batch), nil)
	default:
		return true
	}
	return false
}

const brokenChain = "its prevHash is not the hash of the line before; one of the two was changed"

func (x *examiner) flush(special *record.Record, at Position) {
	if len(x.run.pieces) == 0 && len(x.held) == 0 && special == nil {
		return
	}
	x.stretches = append(x.stretches, stretch{pieces: x.run.pieces, records: x.held, special: special, at: at})
	x.run.pieces, x.held = nil, nil
}

// spare holds the memory of stretches that were folded.
type spare struct{ pool sync.Pool }

func (s *spare) get() []record.Record {
	if r, ok := s.pool.Get().(*[]record.Record); ok {
		return (*r)[:0]
	}
	return make([]record.Record, 0, 512)
}

func (s *spare) put(r []record.Record) {
	if cap(r) > 0 {
		s.pool.Put(&r)
	}
}
