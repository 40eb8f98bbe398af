package audit

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// View is a log at one moment, for reading. Its records can be found and
// proved. It owns nothing. It is not safe for concurrent use, nor is a copy
// beside it; [View.In] makes an independent one.
type View struct {
	store Store
	opts  Options
	state *record.State
	tree  tree // of all records that the view knows

	note   string
	signed int64 // size of the checkpoint that note is
	torn   *Problem

	blocks  []indexEntry
	tail    Position
	whole   bool // it was read without a snapshot
	indexed bool
	stored  int    // entries of the index that the store has
	nodes   *nodes // of blocks, once they were asked for
}

// Read reads a log without owning it: from its newest snapshot, or the whole
// where none holds. A torn tail, or a batch that is being written, is left out
// and told by Torn. Everything else that does not hold is an *Error. One of keys,
// or the pin's, should be the log's key now; if none is, everything is read.
func Read(ctx context.Context, store Store, pin Pin, opts Options, keys ...trust.PublicKey) (*View, error) {
	opts = opts.orDefault()
	for tries := 0; ; tries++ {
		r, err := read(ctx, store, pin, append(keys, pin.Key), opts)
		if err != nil {
			return nil, err
		}
		if r.problem == nil {
			return r.view(store, opts), nil
		}
		if _, err = torn(ctx, store, r.problem); err == nil {
			return r.view(store, opts), nil
		}
		// What was being written when it was read may be whole by now, with more
		// behind it.
		if tries == 3 || ctx.Err() != nil {
			return nil, err
		}
	}
}

func (r *reading) view(store Store, opts Options) *View {
	return &View{store: store, opts: opts, state: r.state, tree: r.tree, note: r.note, signed: r.signed, torn: r.problem, blocks: r.index, tail: r.tail(), whole: r.whole}
}

// tail is where the lines behind the last whole block begin.
func (r *reading) tail() Position {
	if len(r.starts) > 0 {
		return r.starts[0]
	}
	return r.end
}

// In is the same view of the same log, read from another store that holds it.
func (v *View) In(store Store) *View {
	mine := *v
	mine.store, mine.nodes = store, nil
	return &mine
}

// State is the state folded from the records.
func (v *View) State() *record.State { return v.state }

// Size is the number of records.
func (v *View) Size() int64 { return v.tree.size }

// Newest is the newest checkpoint in the log, and its size; nil and 0 if there
// is none.
func (v *View) Newest() ([]byte, int64) {
	if v.signed == 0 {
		return nil, 0
	}
	return []byte(v.note), v.signed
}

// Torn is what stands behind the last good record; nil if nothing does.
func (v *View) Torn() *Problem { return v.torn }

// Root is the root of the tree over the first size records.
func (v *View) Root(ctx context.Context, size int64) (record.Hash, error) {
	var root tlog.Hash
	err := v.with(ctx, func(n *nodes) (err error) {
		root, err = tlog.TreeHash(size, n)
		return err
	})
	return record.Hash(root), err
}

// Consistency proves that the tree of the first old records is a prefix of
// that of the first size (RFC 6962 section 2.1.2).
func (v *View) Consistency(ctx context.Context, old, size int64) ([]tlog.Hash, error) {
	if old < 1 || old > size || size > v.tree.size {
		return nil, &Error{Reason: NoRecord, Detail: fmt.Sprintf("no proof from %d to %d records: there are %d", old, size, v.tree.size)}
	}
	var proof []tlog.Hash
	err := v.with(ctx, func(n *nodes) (err error) {
		proof, err = tlog.ProveTree(size, old, n)
		return err
	})
	return proof, err
}

// Find gives one record.
func (v *View) Find(ctx context.Context, seq int64) (Stored, error) {
	if seq < 0 || seq >= v.tree.size {
		return Stored{}, &Error{Reason: NoRecord, Detail: fmt.Sprintf("there is no record %d; there are %d", seq, v.tree.size)}
	}
	var found Stored
	err := v.with(ctx, func(n *nodes) error {
		from, err := n.start(seq / blockSize)
		if err != nil {
			return err
		}
		at := seq / blockSize * blockSize
		for l, err := range linesFrom(ctx, v.store, from) {
			if err != nil {
				return fmt.Errorf("%w: %w", errIndex, err)
			}
			if at < seq {
				at++
				continue
			}
			r, err := record.ParseLine(string(l.data))
			if err != nil || r.Seq != seq {
				return fmt.Errorf("record %d: %w", seq, errIndex)
			}
			found = Stored{r, l.at, l.data}
			return nil
		}
		return fmt.Errorf("record %d: %w", seq, errIndex)
	})
	return found, err
}

// Receipt proves that a record is in the log, against its newest checkpoint.
// Records behind that have none yet: reason no-record.
func (v *View) Receipt(ctx context.Context, seq int64) (Receipt, error) {
	if seq >= v.signed {
		return Receipt{}, &Error{Reason: NoRecord, Detail: fmt.Sprintf("record %d is not under a checkpoint yet; the newest covers %d", seq, v.signed)}
	}
	s, err := v.Find(ctx, seq)
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Seq: seq, Leaf: record.Leaf(s.Line), Note: []byte(v.note)}
	err = v.with(ctx, func(n *nodes) error {
		proof, err := tlog.ProveRecord(v.signed, seq, n)
		if err != nil {
			return err
		}
		r.Proof = proof
		c, err := parseNote(v.note)
		if err != nil {
			return err
		}
		if err := tlog.CheckRecord(proof, v.signed, tlog.Hash(c.Root), seq, tlog.Hash(r.Leaf)); err != nil {
			return fmt.Errorf("%w: %w", errIndex, err)
		}
		return nil
	})
	return r, err
}

// parseNote reads a note whose signature was checked before.
func parseNote(text string) (Checkpoint, error) {
	n, err := note.Open([]byte(text), nil)
	var unverified *note.UnverifiedNoteError
	if errors.As(err, &unverified) {
		n, err = unverified.Note, nil
	}
	if err != nil {
		return Checkpoint{}, err
	}
	return parseCheckpoint(n.Text)
}

// with gives f the nodes of the tree, and makes the index anew where it turns
// out not to be of the lines.
func (v *View) with(ctx context.Context, f func(*nodes) error) error {
	if !v.indexed {
		if err := v.load(ctx); err != nil {
			return err
		}
	}
	err := f(v.reader(ctx))
	if !errors.Is(err, errIndex) || ctx.Err() != nil {
		return err
	}
	if err := v.rebuild(ctx); err != nil {
		return err
	}
	return f(v.reader(ctx))
}

func (v *View) reader(ctx context.Context) *nodes {
	if v.nodes == nil || v.nodes.store != v.store {
		v.nodes = newNodes(v.store, v.blocks, v.tail)
	}
	v.nodes.ctx = ctx
	return v.nodes
}

// load reads the index that is kept and checks that it is of the tree.
func (v *View) load(ctx context.Context) error {
	whole := int(v.tree.size / blockSize)
	kept := whole - len(v.blocks) // the others were read with the view
	if kept > 0 {
		data, err := v.store.Load(ctx, indexName, maxIndex)
		if err != nil {
			return err
		}
		have := parseIndex(data)
		if len(have) < kept {
			return v.rebuild(ctx)
		}
		v.blocks, v.stored = append(have[:kept:kept], v.blocks...), kept
	}
	if v.indexed = v.reader(ctx).of(&v.tree); !v.indexed {
		return v.rebuild(ctx)
	}
	return nil
}

// rebuild makes the index from all lines.
func (v *View) rebuild(ctx context.Context) error {
	r := reading{replay: replay{head: emptyHead(), workers: v.opts.Workers, progress: v.opts.Progress}}
	if err := r.run(ctx, v.store, Position{}); err != nil {
		return err
	}
	if r.tree.size < v.tree.size && r.problem != nil {
		return r.problem.Error()
	}
	whole := v.tree.size / blockSize
	if int64(len(r.index)) < whole {
		return &Error{Reason: RolledBack, Detail: fmt.Sprintf("the log has %d records now, and had %d", r.tree.size, v.tree.size)}
	}
	v.tail = r.tail()
	if int64(len(r.index)) > whole { // it has grown since
		v.tail = r.index[whole].at
	}
	v.blocks, v.stored, v.indexed, v.nodes = r.index[:whole], 0, true, nil
	if !v.reader(ctx).of(&v.tree) {
		return &Error{Reason: Forked, Detail: "the records are not those that were read before"}
	}
	return nil
}
