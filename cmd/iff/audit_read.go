package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/record"
)

// follower reads a log's records in order and checks that each continues the
// one before. It can go on where it stopped.
type follower struct {
	store  audit.Store
	at     audit.Position // of the next record
	seq    int64          // its number
	prev   record.Hash    // leaf of the record before
	linked bool           // prev is known
	meter  *meter
	bytes  int64
}

// follow reads from record seq on. A number behind the last one stands there.
func (a *app) follow(h *home.Home, seq int64) (*follower, error) {
	f := &follower{store: h.LogStore()}
	if seq <= 0 {
		f.linked = true // the first record follows nothing
		return f, nil
	}
	v := h.View()
	if seq < v.Size() {
		s, err := v.Find(a.ctx, seq)
		f.at, f.seq = s.At, seq
		return f, err
	}
	s, err := v.Find(a.ctx, v.Size()-1)
	if err != nil {
		return nil, err
	}
	f.passed(s)
	return f, nil
}

func (f *follower) passed(s audit.Stored) {
	n := int64(len(s.Line)) + 1
	f.at, f.seq = audit.Position{Segment: s.At.Segment, Offset: s.At.Offset + n}, s.Seq+1
	f.prev, f.linked = record.Leaf(s.Line), true
	f.bytes += n
}

// until gives the records before number end, or as far as they go. Where they
// do not go on as they must, the last element is an error.
func (f *follower) until(ctx context.Context, end int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		if f.seq >= end {
			return
		}
		for s, err := range audit.Records(ctx, f.store, f.at) {
			if err == nil {
				err = f.check(s)
			}
			if err != nil {
				yield(s, err)
				return
			}
			f.passed(s)
			f.meter.at(f.bytes)
			if !yield(s, nil) || f.seq >= end {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(audit.Stored{}, err)
		}
	}
}

func (f *follower) check(s audit.Stored) error {
	bad := func(reason audit.Reason, detail string) error {
		return &audit.Error{Reason: reason, Detail: fmt.Sprintf("%s: %s", s.At, detail)}
	}
	switch {
	case s.Seq != f.seq:
		return bad(audit.SeqGap, fmt.Sprintf("record %d should be here, and it is %d", f.seq, s.Seq))
	case f.linked && s.Prev != f.prev:
		return bad(audit.ChainBroken, fmt.Sprintf("record %d does not follow from the one before it", s.Seq))
	}
	return nil
}

// each calls do with the records that a filter asks for, of those that the log
// had when it was opened.
func (a *app) each(h *home.Home, f *filter, do func(audit.Stored) error) error {
	end := h.View().Size()
	reader, err := a.follow(h, min(f.start(), end))
	if err != nil {
		return err
	}
	reader.meter = a.meter("reading", logBytes(h.LogDir()))
	defer reader.meter.done()
	found := int64(0)
	for s, err := range reader.until(a.ctx, min(end, f.to)) {
		if err != nil {
			return damaged(err)
		}
		if !f.match(s) {
			continue
		}
		reader.meter.done()
		if err := do(s); err != nil {
			return err
		}
		if found++; found == f.limit {
			return nil
		}
	}
	if reader.seq < min(end, f.to) {
		return damaged(&audit.Error{Reason: audit.RolledBack, Detail: fmt.Sprintf("the log had %d records a moment ago and ends behind record %d", end, reader.seq-1)})
	}
	return nil
}

// isWriting says whether an error of reading can come from a batch that another
// process is writing just now.
func isWriting(err error) bool {
	var e *audit.Error
	return errors.As(err, &e) && e.Reason == audit.LineInvalid
}
