package audit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Options of a [Log] and of reading one. The zero value is what programs use.
type Options struct {
	// Now is the clock. time.Now.
	Now func() time.Time
	// CheckpointEvery is how many records at most lie between two checkpoints.
	// 32768.
	CheckpointEvery int64
	// Published is told of every checkpoint once it and its snapshot are
	// durable, one at a time, from a goroutine of the log: the newest, should
	// several have come: with the log as it was then. It must not wait for long.
	Published func(*View)
	// Progress is told, while much is read, how many bytes were.
	Progress func(bytes int64)
	// Workers is how many blocks are read at once. The number of processors.
	Workers int
}

func (o Options) orDefault() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CheckpointEvery <= 0 {
		o.CheckpointEvery = 1 << 15
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o
}

const (
	// MaxAppend bounds the lines of one Append, in bytes.
	MaxAppend = 1 << 20
	// maxBatch is how much is written before it is made durable.
	maxBatch = 4 << 20
	// queued is how many Appends wait before further ones are held up.
	queued = 512
)

// Log is an open log: the one owner of its head. Appends of any number of
// goroutines queue, are written as one batch, and return when it is durable.
// It owns its store and two goroutines, which Close ends.
type Log struct {
	store Store
	opts  Options
	state *record.State
	// background is for what nobody may interrupt half-way.
	background context.Context

	queue   chan *pending // never closed
	closing chan struct{} // closed when Close is called
	done    chan struct{} // closed when the writer has ended
	keeper  *keeper
	closer  sync.Once
	closed  error // what Close returns

	// turn is held by who writes: the writer, or who appends alone. It guards what
	// is below, once the writer runs.
	turn sync.Mutex
	gatherer
	head   head
	key    trust.Signer
	origin string
	block  Position // where the present block of the index begins
	signed int64    // size of the last checkpoint
	renew  bool     // there is no snapshot that holds
	blocks []indexEntry
	// buf, records and lines are of the batch that is written, for use again.
	buf     []byte
	records []record.Record
	lines   []written
	hash    record.Hasher
	poison  error
	failed  error // of the last checkpoint that nobody had asked for

	newest sync.Mutex // guards view
	view   View       // at the newest checkpoint
}

// pending is one Append that waits.
type pending struct {
	entries []record.Encoded
	room    [3]record.Encoded // of entries, where they are few
	size    int
	intents int // that it admits
	// special makes a body that depends on the head, in the writer; of a checkpoint
	// also the state that it signs, in canonical form.
	special func() (record.Body, []byte, error)
	next    trust.Signer // the log's key from here on, nil to keep it
	own     bool         // a record of the log's own, while nobody else appends
	marks   []record.Mark
	err     error      // what came of it
	done    chan error // where who waits for the writer is told so; else nil
}

// end says what came of an append.
func (p *pending) end(err error) {
	p.err = err
	if p.done != nil {
		p.done <- err
	}
}

// start makes a log of what was read: view has everything in it but the head,
// and all blocks of the index.
func start(ctx context.Context, store Store, key trust.Signer, h head, view *View, opts Options) *Log {
	l := &Log{
		store: store, opts: opts, key: key, state: h.state, background: context.WithoutCancel(ctx),
		head: h, block: view.tail, signed: view.signed, renew: view.whole, blocks: slices.Clip(view.blocks), view: *view,
		queue: make(chan *pending, queued), closing: make(chan struct{}), done: make(chan struct{}),
		gatherer: gatherer{timer: time.NewTimer(time.Hour)},
	}
	l.head.tree = h.tree.clone() // the view has the other
	l.origin, _, _ = h.state.Log()
	l.keeper = startKeeper(l.background, store, view.stored, opts.Published)
	go l.run()
	return l
}

// Append makes records durable, in order and next to one another, and says
// where they stand. On an error nothing may be done on their strength:
//
//   - [ErrFull]: there is no room. Nothing was written; records that close what
//     is open still have room.
//   - [ErrUnknown]: ctx ended while the disk was at work; the records may
//     become durable.
//   - an *Error, log-poisoned: a write failed, now or before. Nothing is
//     written any more; close the log and open it anew.
//   - an *Error, log-closed.
//   - what [record.Encode] refuses.
//
// init, key.rotated and checkpoint are the log's own to write.
func (l *Log) Append(ctx context.Context, entries ...record.Entry) ([]record.Mark, error) {
	p, err := prepare(entries)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	if err := l.do(ctx, p); err != nil {
		return nil, err
	}
	return p.marks, nil
}

func prepare(entries []record.Entry) (*pending, error) {
	p := new(pending)
	p.entries = slices.Grow(p.room[:0], len(entries))
	for _, e := range entries {
		switch e.Body.(type) {
		case record.Init, record.KeyRotated, record.Checkpoint:
			return nil, fmt.Errorf("record %s: only the log itself writes it: %w", e.Body.Kind(), record.ErrLine)
		}
		enc, err := record.Encode(e)
		if err != nil {
			return nil, err
		}
		if enc.Kind.Intends() {
			p.intents++
		}
		p.entries = append(p.entries, enc)
		p.size += enc.Size()
	}
	if p.size > MaxAppend {
		return nil, fmt.Errorf("append of %d bytes, at most %d: %w", p.size, MaxAppend, record.ErrTooLong)
	}
	return p, nil
}

// do writes p, or has the writer take it and waits for it.
func (l *Log) do(ctx context.Context, p *pending) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.isClosing() {
		return errClosed
	}
	p.err = errNotEnded
	if l.alone(ctx, p) {
		return p.err
	}
	p.done = make(chan error, 1)
	select {
	case l.queue <- p:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.closing:
		return errClosed
	}
	var gone error
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		gone = fmt.Errorf("%w: %w", ErrUnknown, ctx.Err())
	case <-l.done:
		gone = errClosed // the writer ended and had not taken it
	}
	select {
	case err := <-p.done:
		return err
	default:
		return gone
	}
}

func (l *Log) isClosing() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

var errNotEnded = errors.New("bug: an append came back that was not ended")

var errClosed = &Error{Reason: LogClosed, Detail: "the log is closed"}

// State is the state folded from the log. It moves on with every append, a
// moment before that is durable.
func (l *Log) State() *record.State { return l.state }

// View is the log at its newest checkpoint. Its state moves on, as that of the
// log does.
func (l *Log) View() *View {
	l.newest.Lock()
	defer l.newest.Unlock()
	v := l.view
	v.nodes = nil // nothing that changes is shared
	return &v
}

// Checkpoint makes a checkpoint of all records so far, unless the newest is
// one, and returns its note.
func (l *Log) Checkpoint(ctx context.Context) ([]byte, error) {
	p := &pending{special: l.checkpointBody}
	if err := l.do(ctx, p); err != nil && !errors.Is(err, errNothingNew) {
		return nil, err
	}
	note, _ := l.View().Newest()
	return note, nil
}

// Rotate makes next the log's key: the change is recorded, signed by both.
// When it returns nil the key before signs nothing any more and can be erased.
func (l *Log) Rotate(ctx context.Context, next trust.Signer) error {
	p := &pending{special: func() (record.Body, []byte, error) { return l.rotationBody(next) }, next: next}
	if err := l.do(ctx, p); err != nil {
		return err
	}
	_, err := l.Checkpoint(ctx)
	return err
}

// Keep makes a payload of data, as [Log.Append] takes it: in the line where it
// is short text, else durably in the store under its digest.
func (l *Log) Keep(ctx context.Context, data []byte) (record.Payload, error) {
	return keep(ctx, l.store, data)
}

// Store is the store that the log owns, for reading.
func (l *Log) Store() Store { return l.store }

// Close writes a last checkpoint, waits until all is durable and gives the
// store up. What did not go well is returned; the records that were
// acknowledged are durable all the same. It is safe to call twice.
func (l *Log) Close() error {
	l.closer.Do(func() {
		close(l.closing)
		<-l.done
		failed := l.poison
		if failed == nil && l.failed != nil {
			failed = fmt.Errorf("%w: no checkpoint could be made: %w", ErrUnkept, l.failed)
		}
		l.closed = errors.Join(failed, l.keeper.close(), l.store.Close())
	})
	return l.closed
}
