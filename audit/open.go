package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
)

// Recovered is what an opener found that a crash had left.
type Recovered struct {
	// Torn is how many bytes were cut off the end: the batch that was being
	// written, which nobody had been told was durable. They are kept; the
	// recovery record has their digest.
	Torn int64
	// RolledBack are calls that were staged in memory, decided or not. Of the
	// others Denied are those that had no decision, Expired those with a decision
	// and no intent. Nothing of them happened. They are closed by the recovery
	// record.
	Denied, Expired, RolledBack []string
	// InDoubt are calls with an intent and no outcome, new and old ones. They
	// stay open until a resolved record closes them.
	InDoubt []InDoubt
}

// InDoubt is a call of which nobody knows whether it happened.
type InDoubt struct {
	record.Call
	// Records are its request, decision, staged and intent as far as they were
	// recorded, in order; of a rollback its intent alone.
	Records []record.Record
}

// Create begins a log in an empty store. The origin and the key in init are
// set by it. The log has a checkpoint once it is closed.
func Create(ctx context.Context, store Store, init record.Init, key trust.Signer, opts Options) (*Log, error) {
	opts = opts.orDefault()
	init.LogKey = key.Public().String()
	if _, err := Verifier(init.Origin, key.Public()); err != nil {
		return nil, fmt.Errorf("create log: origin %q: %w", init.Origin, err)
	}
	for _, err := range store.Blocks(ctx, Position{}) {
		if err != nil {
			return nil, err
		}
		return nil, &Error{Reason: FirstRecord, Detail: "there is a log here already"}
	}
	enc, err := record.Encode(record.Of(init))
	if err != nil {
		return nil, err
	}
	h := emptyHead()
	h.state.Apply(record.Record{Body: init})
	l := start(ctx, store, key, h, &View{store: store, opts: opts, state: h.state, indexed: true}, opts)
	p := &pending{entries: []record.Encoded{enc}, size: enc.Size()}
	if err := l.do(ctx, p); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Open opens a log for writing: it reads what stands behind the newest
// snapshot, or everything if there is none that holds, cuts off what a crash
// tore, and records what it found. Everything else that does not hold is
// refused with its place, as an *Error; nothing is changed then. One of keys
// has to be the log's present one. The store is the log's only if there is no
// error.
func Open(ctx context.Context, store Store, pin Pin, opts Options, keys ...trust.Signer) (*Log, Recovered, error) {
	opts = opts.orDefault()
	public := []trust.PublicKey{pin.Key}
	for _, k := range keys {
		public = append(public, k.Public())
	}
	r, err := read(ctx, store, pin, public, opts)
	if err != nil {
		return nil, Recovered{}, err
	}
	_, present, _ := r.state.Log()
	at := slices.IndexFunc(keys, func(k trust.Signer) bool { return k.Public().String() == present })
	if at < 0 {
		return nil, Recovered{}, &Error{Reason: KeyOther, Detail: "the key that the log signs with now is not at hand"}
	}
	var found Recovered
	if r.problem != nil {
		if err := cut(ctx, store, r.problem); err != nil {
			return nil, Recovered{}, err
		}
		r.problem = nil
	}
	torn, err := keptTorn(ctx, store)
	if err != nil {
		return nil, Recovered{}, err
	}
	found.Torn = torn.Size
	if end := store.End(); end.Offset == 0 && end.Segment != r.tree.size {
		return nil, Recovered{}, &Error{Reason: SegmentName, Detail: fmt.Sprintf("the log has %d records, and then an empty segment named for record %d; remove it", r.tree.size, end.Segment)}
	}
	doubts := sortOut(r.state.Calls(), &found)
	view := r.view(store, opts)
	if err := view.load(ctx); err != nil {
		return nil, Recovered{}, err
	}
	l := start(ctx, store, keys[at], r.head, view, opts)
	for _, body := range recoveries(found, doubts, torn) {
		if err := l.appendOwn(ctx, body); err != nil {
			return nil, Recovered{}, errors.Join(err, l.Close())
		}
	}
	if torn.Size > 0 {
		err = store.Save(ctx, tornName, nil) // it is recorded now
	}
	if err == nil {
		found.InDoubt, err = view.inDoubt(ctx)
	}
	if err != nil {
		return nil, Recovered{}, errors.Join(err, l.Close())
	}
	return l, found, nil
}

// reading is a log as far as it could be read.
type reading struct {
	replay
	first int64 // number of the first entry of replay.index
	whole bool  // there was no snapshot that holds
}

// read reads a log from its newest snapshot that holds, or from the start.
func read(ctx context.Context, store Store, pin Pin, keys []trust.PublicKey, opts Options) (*reading, error) {
	s, err := loadSnapshot(ctx, store, pin, keys)
	if err == nil {
		r := &reading{replay: replay{head: s.head, pin: pin, workers: opts.Workers, progress: opts.Progress}, first: s.tree.size / blockSize}
		if s.tree.size%blockSize != 0 {
			r.starts = []Position{s.block}
		}
		if err := r.run(ctx, store, s.at); err == nil && r.tree.size > s.tree.size {
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// What the snapshot says does not stand in the log. The whole is read, to
		// say what is wrong with it.
	}
	r := &reading{whole: true, replay: replay{head: emptyHead(), pin: pin, workers: opts.Workers, progress: opts.Progress}}
	if err := r.run(ctx, store, Position{}); err != nil {
		return nil, err
	}
	if r.tree.size == 0 {
		if r.problem != nil {
			return nil, r.problem.Error()
		}
		return nil, &Error{Reason: LogEmpty, Detail: "there are no records; restore the log"}
	}
	if s != nil && r.tree.size <= s.tree.size {
		if r.problem != nil {
			return nil, r.problem.Error()
		}
		return nil, &Error{Reason: RolledBack, Detail: fmt.Sprintf("the log has %d records, but a checkpoint of %d was signed; restore what is missing", r.tree.size, s.tree.size)}
	}
	return r, nil
}

// maxTorn bounds what can be a torn batch.
const maxTorn = maxBatch + MaxAppend + record.MaxLine

// tornName is what a torn tail is kept under from before it is cut off until it
// is recorded, whatever happens between.
const tornName = "torn"

// cut takes a torn tail off.
func cut(ctx context.Context, store Store, p *Problem) error {
	tail, err := torn(ctx, store, p)
	if err != nil {
		return err
	}
	// What an opener cut off that was killed before it could record it stays.
	before, err := store.Load(ctx, tornName, 2*maxTorn)
	if err != nil {
		return err
	}
	if len(before)+len(tail) > 2*maxTorn {
		before = nil
	}
	if !bytes.HasSuffix(before, tail) { // else it was killed before it could cut
		if err := store.Save(ctx, tornName, append(before, tail...)); err != nil {
			return err
		}
	}
	return store.Cut(ctx, p.At)
}

// keptTorn is the torn tail that was cut off, now or by an opener that was
// killed, and is not recorded yet.
func keptTorn(ctx context.Context, store Store) (record.Payload, error) {
	tail, err := store.Load(ctx, tornName, 2*maxTorn)
	if err != nil || len(tail) == 0 {
		return record.Payload{}, err
	}
	return keep(ctx, store, tail)
}

// torn gives the bytes of a torn tail: bytes that are no line, with no line of a
// later batch behind them. For anything else there is an *Error.
func torn(ctx context.Context, store Store, p *Problem) ([]byte, error) {
	refuse := func(why string) error {
		return &Error{Reason: p.Reason, Detail: fmt.Sprintf("%s, line %d, record %d: %s. %s: restore the log from a copy, or keep it as evidence", p.At, p.Line(), p.Seq, p.Detail, why), Err: p.err}
	}
	if p.Reason != LineInvalid && p.Reason != LineUnended && p.Reason != LineBlank {
		return nil, refuse("This is no torn tail")
	}
	var tail []byte
	for b, err := range store.Blocks(ctx, p.At) {
		if err != nil {
			return nil, err
		}
		if b.At.Segment != p.At.Segment || laterBatch(b.Data, p.Seq) {
			return nil, refuse("Records that were written later stand behind it, so it was whole once")
		}
		if tail = append(tail, b.Data...); len(tail) > maxTorn {
			return nil, refuse("More stands behind it than is ever written at once")
		}
	}
	return bytes.TrimRight(tail, "\n"), nil
}

// laterBatch says whether there is a line of a batch that began behind seq.
func laterBatch(data []byte, seq int64) bool {
	for l := range bytes.Lines(data) {
		text := strings.TrimSuffix(string(l), "\n")
		if r, err := record.ParseLine(text); err == nil && r.Batch > seq {
			return true
		}
	}
	return false
}

// inDoubt gives the calls that are in doubt with their records.
func (v *View) inDoubt(ctx context.Context) ([]InDoubt, error) {
	var out []InDoubt
	for _, c := range v.state.Calls() {
		if c.Intent < 0 {
			continue
		}
		d := InDoubt{Call: c}
		seqs := []int64{c.Request, c.Decision, c.Staged, c.Intent}
		slices.Sort(seqs) // what waited for a barrier was staged before it was decided
		for _, seq := range seqs {
			if seq < 0 {
				continue
			}
			s, err := v.Find(ctx, seq)
			if err != nil {
				return nil, err
			}
			d.Records = append(d.Records, s.Record)
		}
		out = append(out, d)
	}
	return out, nil
}

// sortOut tells apart what a crash left of the calls that are open, and gives
// the ids of those that are newly in doubt.
func sortOut(calls []record.Call, found *Recovered) (doubts []string) {
	for _, c := range calls {
		switch {
		case c.InDoubt:
		case c.Intent >= 0:
			doubts = append(doubts, c.ID)
		case c.Staged >= 0:
			found.RolledBack = append(found.RolledBack, c.ID)
		case c.Decision >= 0:
			found.Expired = append(found.Expired, c.ID)
		default:
			found.Denied = append(found.Denied, c.ID)
		}
	}
	return doubts
}

// appendOwn writes a recovery record, into the reserve if it has to be.
func (l *Log) appendOwn(ctx context.Context, body record.Body) error {
	p, err := prepare([]record.Entry{record.Of(body)})
	if err != nil {
		return err
	}
	p.own = true
	return l.do(ctx, p)
}

// perRecovery is how many ids fit in one record.
const perRecovery = 200

// recoveries are the records that say what was found; none if nothing was.
func recoveries(found Recovered, doubts []string, torn record.Payload) []record.Body {
	var out []record.Body
	empty := record.Recovery{Denied: []string{}, Expired: []string{}, InDoubt: []string{}, RolledBack: []string{}}
	if torn != (record.Payload{}) {
		b := empty
		b.Torn = torn
		out = append(out, b)
	}
	each := func(ids []string, set func(*record.Recovery, []string)) {
		for len(ids) > 0 {
			n := min(len(ids), perRecovery)
			b := empty
			set(&b, ids[:n])
			out = append(out, b)
			ids = ids[n:]
		}
	}
	each(found.Denied, func(b *record.Recovery, ids []string) { b.Denied = ids })
	each(found.Expired, func(b *record.Recovery, ids []string) { b.Expired = ids })
	each(found.RolledBack, func(b *record.Recovery, ids []string) { b.RolledBack = ids })
	each(doubts, func(b *record.Recovery, ids []string) { b.InDoubt = ids })
	return out
}
