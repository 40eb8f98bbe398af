package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iff-run/iff/record"
)

// Anchored is what somebody outside vouches for: that the log had these
// records at that size.
type Anchored struct {
	By   string // who, for people
	Size int64
	Root record.Hash
	Time time.Time // of the word; zero if it says none
}

// VerifyOptions say how to verify. The zero value checks the log against
// itself.
type VerifyOptions struct {
	// Pin is what the log is expected to be.
	Pin Pin
	// Anchors are held against the log.
	Anchors []Anchored
	// Blobs has every payload that lies beside the log read and hashed too.
	Blobs    bool
	Workers  int
	Progress func(bytes int64)
}

// Report says what verifying found. The log holds if Problem is nil; what was
// not checked, and which records nobody outside vouches for, is said beside it.
type Report struct {
	Origin      string
	Keys        []string // base64 public keys that signed, in order
	Records     int64
	Bytes       int64
	Segments    int
	Checkpoints int64
	Signed      int64 // records under the newest checkpoint
	Root        record.Hash
	Chain       record.Hash // leaf of the last record
	State       record.Hash // digest of the folded state
	Calls       []record.Call
	Anchors     []Anchored // that the log holds against
	AnchoredTo  int64      // the largest of their sizes
	Blobs       int64      // payloads hashed, those in lines too
	Unchecked   []string   // what could not be checked, or was not asked for
	Problem     *Problem   // the first
}

// Holds says whether no problem was found.
func (r *Report) Holds() bool { return r.Problem == nil }

// Verify reads a whole log and checks every line, link, leaf, checkpoint,
// signature and folded state. A log that does not hold is not an error: the
// report says where. An error is of reading, or of ctx.
func Verify(ctx context.Context, store Store, o VerifyOptions) (*Report, error) {
	opts := Options{Workers: o.Workers}.orDefault()
	r := &replay{head: emptyHead(), pin: o.Pin, workers: opts.Workers, progress: o.Progress, forget: true}
	for _, a := range o.Anchors {
		r.marks = append(r.marks, a.Size)
	}
	end := store.End()
	slices.Sort(r.marks)
	r.marks = slices.Compact(r.marks)
	var blobs *blobCheck
	if o.Blobs {
		blobs = &blobCheck{ctx: ctx, store: store}
		r.each = blobs.check
	}
	err := r.run(ctx, store, Position{})
	if errors.Is(err, ErrEmptySegment) {
		r.problem, err = &Problem{Reason: SegmentName, Seq: r.tree.size, At: r.end, Detail: "behind it comes a segment without lines, and then another one"}, nil
	}
	if err != nil {
		return nil, err
	}
	out := r.report()
	if end.Offset == 0 && end.Segment > out.Records && out.Problem == nil {
		out.Problem = &Problem{Reason: SegmentName, Seq: out.Records, At: end, Detail: "an empty segment that is named for a record to come"}
	}
	if blobs != nil {
		out.Blobs = blobs.count
	}
	out.anchor(r, o.Anchors)
	out.unchecked(o)
	return out, nil
}

func (r *replay) report() *Report {
	out := &Report{
		Keys: r.keys, Records: r.tree.size, Bytes: r.bytes, Segments: r.segments, Checkpoints: r.checkpoints, Signed: r.signed,
		Root: r.tree.root(), Chain: r.prev, State: r.state.Digest(), Calls: r.state.Calls(), Problem: r.problem,
	}
	out.Origin, _, _ = r.state.Log()
	if out.Records == 0 && out.Problem == nil {
		out.Problem = &Problem{Reason: LogEmpty, Detail: "there are no records"}
	}
	return out
}

// anchor holds the log against what others vouch for. Where the log does not
// hold by itself, that comes first.
func (out *Report) anchor(r *replay, anchors []Anchored) {
	for _, a := range anchors {
		root, have := r.roots[a.Size]
		if a.Size == 0 {
			var nothing tree
			root, have = nothing.root(), true
		}
		switch {
		case have && root == a.Root:
			out.Anchors = append(out.Anchors, a)
			out.AnchoredTo = max(out.AnchoredTo, a.Size)
		case have:
			out.fail(Forked, a, Position{}, fmt.Sprintf("%s vouches for other records: the first %d are not those that it saw", a.By, a.Size))
		case out.Problem == nil:
			out.fail(RolledBack, a, r.end, fmt.Sprintf("%s vouches for %d records, the log has %d: the end is missing", a.By, a.Size, out.Records))
		}
	}
}

func (out *Report) fail(reason Reason, a Anchored, at Position, detail string) {
	if out.Problem == nil {
		out.Problem = &Problem{Reason: reason, Seq: min(a.Size, out.Records), At: at, Detail: detail}
	}
}

func (out *Report) unchecked(o VerifyOptions) {
	add := func(format string, args ...any) { out.Unchecked = append(out.Unchecked, fmt.Sprintf(format, args...)) }
	if o.Pin.Origin == "" || o.Pin.Key.IsZero() {
		add("which log this is: its name and first key are its own word, for none were given to compare")
	}
	switch {
	case out.AnchoredTo == 0:
		add("all %d records: nobody outside vouches for them, so a log cut back or rewritten as a whole would look like this", out.Records)
	case out.AnchoredTo < out.Records:
		add("records %d to %d: nobody outside vouches for them yet", out.AnchoredTo, out.Records-1)
	}
	switch {
	case out.Signed < out.Records-1:
		add("records %d to %d: no checkpoint covers them yet, not even the log's own", out.Signed, out.Records-1)
	case out.Signed < out.Records:
		add("record %d: it holds the newest checkpoint, and no checkpoint covers its own line, such as the time in it", out.Signed)
	}
	if !o.Blobs {
		add("payloads: whether they are what their digests say")
	}
}

// blobCheck reads the payloads that records name.
type blobCheck struct {
	ctx   context.Context
	store Store
	count int64
}

func (b *blobCheck) check(r record.Record) error {
	for _, p := range record.Payloads(r.Body) {
		if p == (record.Payload{}) {
			continue
		}
		b.count++
		if _, err := Fetch(b.ctx, b.store, p); err != nil {
			return err
		}
	}
	return nil
}

// Hold says whether a view holds against an anchor: that it has as many records
// and that the first of them are those that the anchor saw. The error is an
// *Error, log-rolled-back or log-forked.
func (v *View) Hold(ctx context.Context, a Anchored) error {
	if a.Size > v.tree.size {
		return &Error{Reason: RolledBack, Detail: fmt.Sprintf("%s vouches for %d records, the log has %d: the end is missing; restore it", a.By, a.Size, v.tree.size)}
	}
	if a.Size == 0 {
		return nil
	}
	root, err := v.Root(ctx, a.Size)
	if err != nil {
		return err
	}
	if root != a.Root {
		return &Error{Reason: Forked, Detail: fmt.Sprintf("%s vouches for other records: the first %d are not those that it saw; restore the log from a copy", a.By, a.Size)}
	}
	return nil
}
