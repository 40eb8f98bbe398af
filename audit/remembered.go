package audit

import (
	"bytes"
	"context"
	"fmt"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
)

// Remembered is the newest checkpoint that a store remembers beside the lines,
// so that the log can be opened fast. A log that was cut back by somebody who
// overlooked it is found out by it, though nobody outside vouches for the log.
// The zero value remembers nothing.
type Remembered struct {
	note string
	size int64
	at   Position // of the checkpoint's record
}

// Size is how many records the checkpoint covers; 0 if there is none.
func (m Remembered) Size() int64 { return m.size }

// Remember reads what a store remembers. Where that is nothing, or damaged, it
// is the zero value: it can always be made again from the lines.
func Remember(ctx context.Context, store Store) (Remembered, error) {
	data, err := store.Load(ctx, snapshotName, maxSnapshot)
	if err != nil {
		return Remembered{}, ctx.Err()
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	var h snapshotHead
	if canonical.Parse(first, &h, canonical.Limits{Bytes: 64 << 10}) != nil {
		return Remembered{}, nil
	}
	c, err := parseNote(h.Note)
	if err != nil {
		return Remembered{}, nil
	}
	return Remembered{note: h.Note, size: c.Size, at: Position{h.Segment, h.Offset}}, nil
}

// Hold holds a report, of a log that was read after m was, against m. A
// checkpoint that the log signed and does not have becomes the report's
// problem, if it has no other. The error is of reading.
func (m Remembered) Hold(ctx context.Context, store Store, out *Report) error {
	if m.size == 0 || out.Problem != nil || !m.signed(out) {
		return nil
	}
	if m.size >= out.Records {
		out.Problem = &Problem{Reason: RolledBack, Seq: out.Records, At: store.End(), Detail: fmt.Sprintf("the log has %d records, and signed a checkpoint that was record %d: the end is missing", out.Records, m.size)}
		return nil
	}
	for s, err := range Records(ctx, store, m.at) {
		if c, ok := s.Body.(record.Checkpoint); err == nil && ok && s.Seq == m.size && c.Note == m.note {
			return nil
		}
		break
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out.Problem = &Problem{Reason: Forked, Seq: m.size, At: m.at, Detail: fmt.Sprintf("the log signed another checkpoint of %d records than the one it has", m.size)}
	return nil
}

// signed says whether a key of the log signed the checkpoint; anybody can write
// another one there.
func (m Remembered) signed(out *Report) bool {
	for _, key := range out.Keys {
		if _, err := openWith(out.Origin, key, m.note); err == nil {
			return true
		}
	}
	return false
}

// ReadCheckpoint reads a signed note without looking at who signed it: for
// finding out which log and size it is of. The error is an *Error, note-invalid.
func ReadCheckpoint(data []byte) (Checkpoint, error) {
	if len(data) <= maxNote {
		c, err := parseNote(string(data))
		if err == nil {
			return c, nil
		}
		return c, &Error{Reason: NoteInvalid, Detail: "not a checkpoint of a log of ours", Err: err}
	}
	return Checkpoint{}, &Error{Reason: NoteInvalid, Detail: fmt.Sprintf("a checkpoint has at most %d bytes", maxNote)}
}
