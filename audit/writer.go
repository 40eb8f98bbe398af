package audit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// errNothingNew says that the newest record is a checkpoint already.
var errNothingNew = errors.New("nothing to do")

// run writes what is queued until the log is closed.
func (l *Log) run() {
	defer close(l.done)
	for first := l.first(); first != nil; first = l.first() {
		l.turn.Lock()
		l.gather(l.queue, first)
		began := time.Now()
		l.take(l.batch)
		l.taken(l.queue, time.Since(began))
		l.turn.Unlock()
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	defer l.timer.Stop()
	if l.poison == nil && !l.endsInCheckpoint() {
		l.failed = l.special(l.checkpointBody, nil)
	}
}

// alone writes p at once, here, and says whether it did. It does where nobody else
// appends, no checkpoint is due and nothing ends the waiting for the disk: to have
// the writer do it costs two wake-ups, which beside others cost nothing.
func (l *Log) alone(ctx context.Context, p *pending) bool {
	if ctx.Done() != nil || p.special != nil || !l.turn.TryLock() {
		return false
	}
	defer l.turn.Unlock()
	if l.expected > 1 || len(l.queue) > 0 || l.due(int64(len(p.entries))) || l.isClosing() {
		return false
	}
	l.batch = append(l.batch[:0], p)
	l.take(l.batch)
	l.taken(l.queue, 0) // who came meanwhile need not wait for anybody
	return true
}

// due says whether a checkpoint is due after so many more records.
func (l *Log) due(more int64) bool {
	return l.head.tree.size+more-l.signed > l.opts.CheckpointEvery
}

// first waits for an append; nil once the log is being closed and none is
// left.
func (l *Log) first() *pending {
	select {
	case p := <-l.queue:
		return p
	case <-l.closing:
	}
	select {
	case p := <-l.queue:
		return p
	default:
		return nil
	}
}

// gatherer makes batches. A batch costs about the same however many appends it
// makes durable, and those that the last one released are about to come again:
// it waits for as many as were under way then, for at most half of the time that
// the last batch took. One writer alone never waits, nor does who comes behind it.
type gatherer struct {
	batch    []*pending
	expected int
	patience time.Duration
	timer    *time.Timer
}

const maxPatience = time.Millisecond

func (g *gatherer) gather(queue <-chan *pending, first *pending) {
	g.batch = append(g.batch[:0], first)
	size, waiting := first.size, false
	for size < maxBatch {
		var p *pending
		select {
		case p = <-queue:
		default:
			if len(g.batch) >= g.expected {
				return
			}
			if !waiting {
				waiting = true
				g.timer.Reset(g.patience)
				defer g.timer.Stop()
			}
			select {
			case p = <-queue:
			case <-g.timer.C:
				return
			}
		}
		g.batch = append(g.batch, p)
		size += p.size
	}
}

// taken learns from a batch that was made durable.
func (g *gatherer) taken(queue <-chan *pending, took time.Duration) {
	g.expected = len(g.batch) + len(queue)
	g.patience = min(took/2, maxPatience)
	clear(g.batch)
}

// take writes a batch: runs of ordinary appends together, each special alone.
func (l *Log) take(batch []*pending) {
	for len(batch) > 0 {
		if p := batch[0]; p.special != nil {
			p.end(l.special(p.special, p))
			batch = batch[1:]
			continue
		}
		n := 0
		for n < len(batch) && batch[n].special == nil {
			n++
		}
		l.write(batch[:n])
		batch = batch[n:]
	}
	if l.poison == nil && l.due(0) {
		l.failed = l.special(l.checkpointBody, nil)
	}
}

// write writes ordinary appends. Where there is no room for all, those that
// close what is open go first, into the room that was kept for them.
func (l *Log) write(batch []*pending) {
	reserve := l.reserve(batch)
	if batch[0].own {
		reserve = max(reserve-reserved, 0)
	}
	err := l.commit(batch, reserve)
	if !errors.Is(err, ErrFull) {
		release(batch, err)
		return
	}
	var closing, other []*pending
	closed := make(map[string]bool)
	for _, p := range batch {
		if l.closes(p, closed) {
			closing = append(closing, p)
		} else {
			other = append(other, p)
		}
	}
	release(other, err)
	if len(closing) > 0 {
		release(closing, l.commit(closing, 0))
	}
}

func release(batch []*pending, err error) {
	for _, p := range batch {
		p.end(err)
	}
}

// closes says whether all of an append has a right to the reserve: each of its
// records closes a call that has an intent, once.
func (l *Log) closes(p *pending, closed map[string]bool) bool {
	for i := range p.entries {
		e := &p.entries[i]
		if !e.Kind.Closes() || closed[e.Request] || !l.state.Intended(e.Request) {
			return false
		}
		closed[e.Request] = true
	}
	return true
}

// reserve is the room that must stay behind a batch: one line for the outcome
// of every intent, and one for the log's own records.
func (l *Log) reserve(batch []*pending) int64 {
	intents := l.state.Intents()
	for _, p := range batch {
		intents += p.intents
	}
	if intents == 0 {
		return 0
	}
	return int64(intents+1) * reserved
}

// reserved is what is kept free for one record, in bytes.
const reserved = record.MaxLine + 1

// commit makes the records of a batch durable and only then part of the head.
func (l *Log) commit(batch []*pending, reserve int64) error {
	if l.poison != nil {
		return l.poison
	}
	first, prev := l.head.tree.size, l.head.prev
	when := record.StampOf(l.opts.Now())
	l.buf, l.records, l.lines = l.buf[:0], l.records[:0], l.lines[:0]
	for _, p := range batch {
		p.marks = make([]record.Mark, len(p.entries))
		for i := range p.entries {
			e := &p.entries[i]
			seq, from := first+int64(len(l.lines)), len(l.buf)
			l.buf = e.AppendLine(l.buf, seq, first, prev, when)
			prev = l.hash.Leaf(l.buf[from:])
			l.buf = append(l.buf, '\n')
			p.marks[i] = record.Mark{Seq: seq, Hash: prev}
			l.records = append(l.records, record.Record{Seq: seq, Batch: first, Session: e.Session, Request: e.Request, Body: e.Body})
			l.lines = append(l.lines, written{from, prev})
		}
	}
	err := l.store.Append(l.background, Batch{First: first, Lines: l.buf, Reserve: reserve})
	if errors.Is(err, ErrFull) {
		return fmt.Errorf("%w: the disk has no room for more records; free some", ErrFull)
	}
	if err != nil {
		l.poison = &Error{Reason: LogPoisoned, Detail: "a record could not be made durable, so nothing more is recorded; check the disk, then start again", Err: err}
		return l.poison
	}
	l.grow(first)
	l.head.state.ApplyAll(l.records)
	clear(l.records)
	return nil
}

// written is a line of the batch at hand.
type written struct {
	offset int // in the batch
	leaf   record.Hash
}

// grow takes the lines of a batch that is durable into the head, and notes where
// blocks of the index begin and which it completed.
func (l *Log) grow(batch int64) {
	begin := l.store.End()
	begin.Offset -= int64(len(l.buf))
	for _, line := range l.lines {
		if l.head.tree.size%blockSize == 0 {
			l.block = Position{begin.Segment, begin.Offset + int64(line.offset)}
		}
		if node, done := l.head.tree.push(0, line.leaf); done {
			l.blocks = append(l.blocks, indexEntry{node, l.block})
		}
		l.head.prev, l.head.batch = line.leaf, batch
	}
}

// special writes one record that the log makes itself.
func (l *Log) special(body func() (record.Body, []byte, error), p *pending) error {
	if l.poison != nil {
		return l.poison
	}
	before := snapshot{head: l.head, at: l.store.End(), block: l.block}
	before.tree = l.head.tree.clone()
	b, state, err := body()
	if err != nil {
		return err
	}
	e, err := record.Encode(record.Of(b))
	if err != nil {
		return err
	}
	checkpoint, isCheckpoint := b.(record.Checkpoint)
	if p == nil {
		p = new(pending)
	}
	p.entries = []record.Encoded{e}
	reserve := l.reserve(nil)
	if isCheckpoint {
		reserve = max(reserve-reserved, 0)
	}
	if err := l.commit([]*pending{p}, reserve); err != nil {
		return err
	}
	if p.next != nil {
		l.key = p.next
	}
	if !isCheckpoint {
		return nil
	}
	l.signed, l.renew = before.tree.size, false
	before.note = checkpoint.Note
	if l.signed%blockSize == 0 {
		before.block = l.block // the block begins with the checkpoint itself
	}
	view := View{
		store: l.store, opts: l.opts, state: l.state, tree: before.tree, note: checkpoint.Note, signed: l.signed,
		blocks: l.blocks[:l.signed/blockSize], tail: before.block, indexed: true,
	}
	l.newest.Lock()
	l.view = view
	l.newest.Unlock()
	l.keeper.keep(&kept{&before, state, view})
	return nil
}

// endsInCheckpoint says whether there is nothing to make a checkpoint of. A log
// that was read as a whole gets one all the same, for the snapshot's sake.
func (l *Log) endsInCheckpoint() bool {
	return l.head.tree.size == 0 || l.signed > 0 && l.head.tree.size == l.signed+1 && !l.renew
}

// checkpointBody signs the present head. A log that ends in a checkpoint
// needs no other.
func (l *Log) checkpointBody() (record.Body, []byte, error) {
	if l.endsInCheckpoint() {
		return nil, nil, errNothingNew
	}
	size, state := l.head.tree.size, l.head.state.Canonical()
	c := Checkpoint{Origin: l.origin, Size: size, Root: l.head.tree.root(), Chain: l.head.prev, State: sha256.Sum256(state)}
	text, err := c.sign(l.key)
	if err != nil {
		return nil, nil, err
	}
	return record.Checkpoint{Note: text}, state, nil
}

func (l *Log) rotationBody(next trust.Signer) (record.Body, []byte, error) {
	_, old, epoch := l.head.state.Log()
	b := record.KeyRotated{Epoch: epoch + 1, Old: old, New: next.Public().String()}
	message := rotation(l.origin, b.Epoch, b.Old, b.New, l.head.prev)
	for _, s := range []struct {
		key trust.Signer
		to  *string
	}{{l.key, &b.OldSignature}, {next, &b.NewSignature}} {
		sig, err := trust.Sign(s.key, trust.DomainLogKey, message)
		if err != nil {
			return nil, nil, fmt.Errorf("rotate the log's key: %w", err)
		}
		*s.to = base64.StdEncoding.EncodeToString(sig[:])
	}
	return b, nil, nil
}
