package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// A snapshot lets a log be opened without reading all of it: the newest
// checkpoint, the state that it commits to, the right edge of its tree, and
// where its record stands. All of it is checked against the signed note.

const (
	snapshotName = "snapshot"
	maxSnapshot  = 256 << 20
)

// snapshotHead is the first line of a snapshot; the state follows.
type snapshotHead struct {
	Batch        int64    `json:"batch"` // of the last record before the checkpoint
	BlockOffset  int64    `json:"blockOffset"`
	BlockSegment int64    `json:"blockSegment"`
	Edge         []string `json:"edge"`
	Note         string   `json:"note"`
	Offset       int64    `json:"offset"`
	Segment      int64    `json:"segment"`
}

// snapshot is the head of a log at a checkpoint.
type snapshot struct {
	head
	note  string
	at    Position // of the checkpoint's record
	block Position // where the block of the index begins that the next record is in
}

func (s *snapshot) encode(state []byte) ([]byte, error) {
	h := snapshotHead{
		Batch: s.batch, Note: s.note, Segment: s.at.Segment, Offset: s.at.Offset,
		BlockSegment: s.block.Segment, BlockOffset: s.block.Offset, Edge: []string{},
	}
	for _, e := range s.tree.edge {
		h.Edge = append(h.Edge, e.String())
	}
	out, err := canonical.Marshal(h)
	if err != nil {
		return nil, err
	}
	return append(append(out, '\n'), state...), nil
}

var errNoSnapshot = errors.New("there is no snapshot")

// loadSnapshot reads the newest snapshot and checks it: its note is signed by
// the key that its own state names, that key is one of the keys given, and tree
// and state are those of the note.
func loadSnapshot(ctx context.Context, store Store, pin Pin, keys []trust.PublicKey) (*snapshot, error) {
	data, err := store.Load(ctx, snapshotName, maxSnapshot)
	if err != nil {
		return nil, err
	}
	first, state, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return nil, errNoSnapshot
	}
	var h snapshotHead
	if err := canonical.Parse(first, &h, canonical.Limits{Bytes: 64 << 10}); err != nil {
		return nil, err
	}
	s := &snapshot{note: h.Note, at: Position{h.Segment, h.Offset}, block: Position{h.BlockSegment, h.BlockOffset}}
	if s.state, err = record.ParseState(state); err != nil {
		return nil, err
	}
	c, err := s.open(pin, keys)
	if err != nil {
		return nil, err
	}
	s.batch, s.prev, s.tree.size = h.Batch, c.Chain, c.Size
	for _, e := range h.Edge {
		var n record.Hash
		if !unhex(&n, e, "") {
			return nil, errors.New("snapshot: edge: not a hash")
		}
		s.tree.edge = append(s.tree.edge, n)
	}
	if !s.tree.fits() || s.tree.root() != c.Root || record.Hash(s.state.Digest()) != c.State || s.state.Size() != c.Size {
		return nil, errors.New("snapshot: not what its checkpoint commits to")
	}
	return s, nil
}

// open opens the snapshot's note.
func (s *snapshot) open(pin Pin, keys []trust.PublicKey) (Checkpoint, error) {
	origin, key, _ := s.state.Log()
	c, bad := openWith(origin, key, s.note)
	if bad != nil {
		return c, bad
	}
	if pin.Origin != "" && origin != pin.Origin {
		return c, &Error{Reason: OriginOther, Detail: "snapshot of another log"}
	}
	for _, k := range keys {
		if !k.IsZero() && k.String() == key {
			return c, nil
		}
	}
	return c, fmt.Errorf("snapshot: signed by %s, which is not the log's present key", key)
}
