package audit

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// head is the end of a log: all that the next line depends on.
type head struct {
	tree  tree
	prev  record.Hash // leaf of the last line
	batch int64       // of the last line
	state *record.State
}

func emptyHead() head { return head{state: new(record.State)} }

// Pin is what is known of a log beforehand. Empty fields are not checked.
type Pin struct {
	Origin string
	Key    trust.PublicKey // the first, that init names
}

// replay reads a store from a place on: it folds what it reads into the head
// and stops at the first problem.
type replay struct {
	head
	pin      Pin
	marks    []int64 // sizes whose roots are asked for, sorted
	workers  int
	progress func(bytes int64)
	each     func(record.Record) error // is asked about every record; may be nil
	forget   bool                      // the index is not wanted
	spare    spare

	end         Position // behind the last good line
	roots       map[int64]record.Hash
	index       []indexEntry // of the blocks that were completed
	starts      []Position   // of the blocks begun and not completed
	checkpoints int64
	signed      int64 // size of the last good checkpoint
	note        string
	keys        []string // all that signed, in order
	bytes       int64
	segments    int
	padded      bool
	problem     *Problem
}

// run reads from a position, whose line is the next after the head.
func (r *replay) run(ctx context.Context, store Store, from Position) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.end = from
	r.roots = make(map[int64]record.Hash)
	r.root()
	type job struct {
		block Block
		out   chan part
	}
	workers := max(r.workers, 1)
	jobs, order := make(chan job), make(chan chan part, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				j.out <- examine(j.block, r.marks, r.each != nil, &r.spare)
			}
		})
	}
	var failed error // read after order was closed
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		for b, err := range store.Blocks(ctx, from) {
			if err != nil {
				failed = err
				return
			}
			j := job{b, make(chan part, 1)}
			select {
			case order <- j.out:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for out := range order {
		select {
		case p := <-out:
			if r.merge(p); r.problem != nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// merge puts a part behind what was read so far.
func (r *replay) merge(p part) {
	if p.lines > 0 || p.problem != nil {
		r.fit(p)
	}
	if r.problem != nil {
		return
	}
	r.starts = append(r.starts, p.blocks...)
	for _, s := range p.stretches {
		if r.fold(s); r.problem != nil {
			return
		}
	}
	if p.lines > 0 {
		r.prev, r.batch, r.end = p.last, p.lastBatch, p.end
		r.bytes += p.end.Offset - p.at.Offset
		if r.progress != nil {
			r.progress(r.bytes)
		}
	}
	if p.problem != nil {
		p.problem.Seq = r.tree.size
		r.problem, r.end = p.problem, p.problem.At
		return
	}
	r.padded = r.padded || p.padding
}

// fit checks the first line of a part against the last before it.
func (r *replay) fit(p part) {
	size := r.tree.size
	fail := func(reason Reason, detail string) {
		r.problem = &Problem{Reason: reason, Seq: size, At: p.at, Detail: detail}
	}
	if r.padded {
		fail(LineBlank, "there are lines behind empty ones")
		r.problem.At = r.end
		return
	}
	if p.at.Offset == 0 {
		r.segments++
		if p.at.Segment != size {
			fail(SegmentName, fmt.Sprintf("the segment is named for record %d; a segment is missing, or was renamed", p.at.Segment))
			return
		}
	}
	if p.lines == 0 {
		return
	}
	switch {
	case p.first != size:
		fail(SeqGap, fmt.Sprintf("it says it is record %d", p.first))
	case p.prev != r.prev:
		fail(ChainBroken, brokenChain)
	case p.batch != r.batch && !p.newBatch || size == 0 && !p.newBatch:
		fail(BatchOrder, fmt.Sprintf("it says it is of batch %d", p.batch))
	}
}

// fold takes a stretch into the head and checks the record behind it.
func (r *replay) fold(s stretch) {
	r.state.ApplyAll(s.records)
	if r.each == nil {
		defer r.spare.put(s.records)
	}
	for _, p := range s.pieces {
		if block, done := r.tree.push(p.level, p.hash); done {
			if !r.forget {
				r.index = append(r.index, indexEntry{block, r.starts[0]})
			}
			r.starts = r.starts[1:]
		}
	}
	r.root()
	for i := 0; r.each != nil && i < len(s.records); i++ {
		if err := r.each(s.records[i]); err != nil {
			r.problem = &Problem{Reason: BlobMissing, Seq: s.records[i].Seq, At: r.end, Detail: "a payload that it names", err: err}
			return
		}
	}
	if s.special == nil {
		return
	}
	if r.special(s); r.problem == nil {
		r.state.ApplyAll([]record.Record{*s.special})
	}
}

// root keeps the root of the present size if it is asked for.
func (r *replay) root() {
	if _, asked := slices.BinarySearch(r.marks, r.tree.size); asked && r.tree.size > 0 {
		r.roots[r.tree.size] = r.tree.root()
	}
}

// special checks a record that vouches for others.
func (r *replay) special(s stretch) {
	fail := func(reason Reason, detail string, err error) {
		r.problem = &Problem{Reason: reason, Seq: s.special.Seq, At: s.at, Detail: detail, err: err}
		r.end = s.at
	}
	origin, key, epoch := r.state.Log()
	switch b := s.special.Body.(type) {
	case record.Init:
		switch {
		case r.pin.Origin != "" && b.Origin != r.pin.Origin:
			fail(OriginOther, fmt.Sprintf("the log calls itself %s, expected was %s", b.Origin, r.pin.Origin), nil)
		case !r.pin.Key.IsZero() && b.LogKey != r.pin.Key.String():
			fail(KeyOther, "the log begins with another key than was expected", nil)
		}
		r.keys = append(r.keys, b.LogKey)
	case record.KeyRotated:
		if b.Old != key || b.Epoch != epoch+1 || !checkRotation(origin, b, s.special.Prev) {
			fail(KeyRotation, "the change of key is not signed by the key before and the new one", nil)
		}
		r.keys = append(r.keys, b.New)
	case record.Checkpoint:
		r.checkpoint(b, s, fail)
	}
}

func (r *replay) checkpoint(b record.Checkpoint, s stretch, fail func(Reason, string, error)) {
	origin, key, _ := r.state.Log()
	c, err := openWith(origin, key, b.Note)
	if err != nil {
		fail(err.Reason, err.Detail, err.Err)
		return
	}
	off := func(what string) { fail(CheckpointOff, "the signed checkpoint has another "+what, nil) }
	switch {
	case c.Size != s.special.Seq:
		off("size")
	case c.Root != r.tree.root():
		off("root than the records before it")
	case c.Chain != s.special.Prev:
		off("chain head than the record before it")
	case c.State != r.state.Digest():
		off("folded state than the records before it make")
	default:
		r.checkpoints++
		r.signed, r.note = c.Size, b.Note
	}
}

// openWith opens a note that the named key of the log signed.
func openWith(origin, key, text string) (Checkpoint, *Error) {
	public, err := ParseKey(key)
	if err != nil {
		return Checkpoint{}, &Error{Reason: KeyOther, Detail: "the log's key is none", Err: err}
	}
	v, err := Verifier(origin, public)
	if err != nil {
		return Checkpoint{}, &Error{Reason: OriginOther, Detail: "the log's name cannot be that of a note", Err: err}
	}
	c, err := OpenCheckpoint([]byte(text), v)
	if e, ok := err.(*Error); ok {
		return Checkpoint{}, e
	}
	if c.Origin != origin {
		return Checkpoint{}, &Error{Reason: OriginOther, Detail: "the checkpoint is of another log"}
	}
	return c, nil
}
