package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// tiny has a log of a dozen records begin several segments.
var tiny = file.Options{SegmentBytes: 3000, Pad: 1000, PadAfter: 2000}

// rarely makes checkpoints only where they are asked for.
func rarely() audit.Options {
	return audit.Options{Now: clock, CheckpointEvery: 1 << 30, Workers: 1}
}

// book is what the process knows that appends to a log: what has to be there after anything that can happen to it.
type book struct {
	acked     map[int64]record.Hash // by sequence number
	tried     map[string]bool       // every entry that was given to Append, see entryID
	anchors   []audit.Anchored      // checkpoints that were acknowledged
	rotated   string                // key of the last Rotate that was acknowledged
	violation error                 // of what the process itself can see
	saved     chan struct{}
	bug       bug
}

// bug is planted below the log, for checks that have to catch it. The zero value is none.
type bug struct {
	files func(durable.FS) durable.FS
	store func(audit.Store) audit.Store
}

func newBook(bugs ...bug) *book {
	b := new(book)
	if len(bugs) > 0 {
		b.bug = bugs[0]
	}
	b.reset()
	return b
}

// reset forgets everything but the bug.
func (b *book) reset() {
	*b = book{acked: map[int64]record.Hash{}, tried: map[string]bool{}, saved: make(chan struct{}, 100), bug: b.bug}
}

// open opens or creates the store in /log.
func (b *book) open(fsys durable.FS, open func(durable.FS, string, *file.Options) (*file.Store, error)) (audit.Store, error) {
	if b.bug.files != nil {
		fsys = b.bug.files(fsys)
	}
	store, err := open(fsys, "/log", &tiny)
	if err != nil {
		return nil, err
	}
	if b.bug.store != nil {
		return b.bug.store(store), nil
	}
	return store, nil
}

func entryID(kind record.Kind, request string) string { return string(kind) + " " + request }

// watch has the book hear of every snapshot that was saved or not, so that what the log does in the background can be waited for: the calls
// that a disk sees are the same each time.
func (b *book) watch(store audit.Store) audit.Store {
	return &hooked{Store: store, save: func(ctx context.Context, name string, data []byte) error {
		err := store.Save(ctx, name, data)
		if name == "snapshot" {
			b.saved <- struct{}{}
		}
		return err
	}}
}

func (b *book) append(l *audit.Log, entries ...record.Entry) error {
	for _, e := range entries {
		b.tried[entryID(e.Body.Kind(), e.Request)] = true
	}
	marks, err := l.Append(context.Background(), entries...)
	for _, m := range marks {
		b.acked[m.Seq] = m.Hash
	}
	b.refused(l, err)
	return err
}

// refused: once a log failed for good it takes nothing more.
func (b *book) refused(l *audit.Log, err error) {
	if err == nil || errors.Is(err, audit.ErrFull) {
		return
	}
	_, again := l.Append(context.Background(), record.Of(record.KeyCreated{Name: "after an error"}))
	if reasonOf(again) != audit.LogPoisoned {
		b.violation = fmt.Errorf("an Append failed (%w), and the next one gave %w", err, again)
	}
}

func (b *book) checkpoint(l *audit.Log) error {
	note, err := l.Checkpoint(context.Background())
	if err != nil {
		b.refused(l, err)
		return err
	}
	<-b.saved
	_, key, _ := l.State().Log()
	return b.anchor(note, key)
}

// anchor remembers a checkpoint as somebody outside would.
func (b *book) anchor(note []byte, key string) error {
	public, err := audit.ParseKey(key)
	if err != nil {
		return err
	}
	v, err := audit.Verifier(origin, public)
	if err != nil {
		return err
	}
	c, err := audit.OpenCheckpoint(note, v)
	if err == nil {
		b.anchors = append(b.anchors, audit.Anchored{By: "book", Size: c.Size, Root: c.Root})
	}
	return err
}

func (b *book) rotate(l *audit.Log, next trusttest.Key) error {
	err := l.Rotate(context.Background(), next)
	if err != nil {
		return err
	}
	<-b.saved
	b.rotated = next.Public().String()
	return nil
}

// holds is the promise: whatever the disk went through, the log opens, has every acknowledged record in its place, nothing foreign, says
// exactly what a crash left, goes on, and verifies. lost gives the disk after a power cut; nil leaves that out.
func (b *book) holds(disk durable.FS, lost func() durable.FS) error {
	if b.violation != nil {
		return b.violation
	}
	store, err := b.open(disk, file.Open)
	if errors.Is(err, fs.ErrNotExist) && len(b.acked) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	before, err := linesOf(context.Background(), store)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	l, found, err := openLog(context.Background(), store, rarely())
	if err != nil {
		if len(b.acked) == 0 && slices.Contains([]audit.Reason{audit.LogEmpty, audit.LineInvalid, audit.LineUnended, audit.LineBlank}, reasonOf(err)) {
			return nil // the log was never created
		}
		return fmt.Errorf("it does not open: %w", err)
	}
	whole, err := b.there(before)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := foundIs(found, whole); err != nil {
		return errors.Join(err, l.Close())
	}
	if _, key, _ := l.State().Log(); b.rotated != "" && key != b.rotated {
		return errors.Join(fmt.Errorf("the key is %s, and %s was acknowledged", key, b.rotated), l.Close())
	}
	next := *b
	next.acked, next.tried = maps.Clone(b.acked), maps.Clone(b.tried)
	if err := errors.Join(next.append(l, call(1000)...), l.Close()); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	if err := next.verifies(disk); err != nil {
		return fmt.Errorf("gone on: %w", err)
	}
	if lost != nil {
		if err := next.verifies(lost()); err != nil {
			return fmt.Errorf("gone on, and after a power cut: %w", err)
		}
	}
	return nil
}

// there checks the lines that a store has: each acknowledged one, and no foreign one. It gives the records up to the first line that is none.
func (b *book) there(lines [][]byte) ([]record.Record, error) {
	var whole []record.Record
	prev := record.Hash{}
	for i, line := range lines {
		r, err := record.ParseLine(string(line))
		if err != nil || r.Seq != int64(i) || r.Prev != prev {
			break
		}
		prev = record.Leaf(line)
		switch r.Body.(type) {
		case record.Init, record.Checkpoint, record.Recovery, record.KeyRotated:
		default:
			if !b.tried[entryID(r.Body.Kind(), r.Request)] {
				return nil, fmt.Errorf("record %d is foreign: %s", i, line)
			}
		}
		whole = append(whole, r)
	}
	for seq, hash := range b.acked {
		if seq >= int64(len(whole)) {
			return nil, fmt.Errorf("record %d was acknowledged; %d can be read", seq, len(whole))
		}
		if got := record.Leaf(lines[seq]); got != hash {
			return nil, fmt.Errorf("record %d is another one than was acknowledged", seq)
		}
	}
	return whole, nil
}

// foundIs holds what opening found against the records: in doubt are exactly the calls with an intent and no outcome.
func foundIs(found audit.Recovered, records []record.Record) error {
	type stage struct{ requested, decided, intended, done, closed bool }
	calls := map[string]*stage{}
	at := func(id string) *stage {
		if calls[id] == nil {
			calls[id] = new(stage)
		}
		return calls[id]
	}
	for _, r := range records {
		switch b := r.Body.(type) {
		case record.Request:
			at(r.Request).requested = true
		case record.Decision:
			at(r.Request).decided = true
		case record.Intent:
			at(r.Request).intended = true
		case record.Executed, record.Resolved:
			at(r.Request).done = true
		case record.Recovery:
			for _, id := range slices.Concat(b.Denied, b.Expired) {
				at(id).closed = true
			}
		}
	}
	var want, got []string
	for id, s := range calls {
		switch {
		case s.done || s.closed:
		case s.intended:
			want = append(want, "in doubt "+id)
		case s.decided:
			want = append(want, "expired "+id)
		default:
			want = append(want, "denied "+id)
		}
	}
	for _, d := range found.InDoubt {
		got = append(got, "in doubt "+d.ID)
		if len(d.Records) != 3 {
			return fmt.Errorf("%s is in doubt with %d records", d.ID, len(d.Records))
		}
	}
	for _, id := range found.Expired {
		got = append(got, "expired "+id)
	}
	for _, id := range found.Denied {
		got = append(got, "denied "+id)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("found was %q; the records say %q", got, want)
	}
	return nil
}

// verifies reads everything: the chain, the tree and all that was acknowledged.
func (b *book) verifies(disk durable.FS) error {
	store, err := file.OpenRead(disk, "/log")
	if err != nil {
		return err
	}
	rep, err := audit.Verify(context.Background(), store, audit.VerifyOptions{Pin: pin(), Anchors: b.anchors, Blobs: true, Workers: 1})
	if err != nil {
		return err
	}
	if !rep.Holds() {
		return rep.Problem.Error()
	}
	lines, err := linesOf(context.Background(), store)
	if err != nil {
		return err
	}
	if whole, err := b.there(lines); err != nil || len(whole) != len(lines) {
		return errors.Join(fmt.Errorf("%d of %d lines can be read", len(whole), len(lines)), err)
	}
	root, err := plainRoot(lines)
	if err != nil || root != rep.Root {
		return errors.Join(errors.New("the root is not that of a plain tree"), err)
	}
	return nil
}

// plainRoot is the root of the tree over lines, computed with all hashes stored.
func plainRoot(lines [][]byte) (record.Hash, error) {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			out[i] = stored[x]
		}
		return out, nil
	})
	for i, line := range lines {
		hashes, err := tlog.StoredHashes(int64(i), line, read)
		if err != nil {
			return record.Hash{}, err
		}
		stored = append(stored, hashes...)
	}
	root, err := tlog.TreeHash(int64(len(lines)), read)
	return record.Hash(root), err
}

// tear puts something behind the lines of the last segment.
func tear(fsys durable.FS, what string) error {
	names, err := fsys.List("/log")
	if err != nil {
		return err
	}
	last := ""
	for _, name := range names {
		if strings.HasSuffix(name, ".jsonl") {
			last = "/log/" + name
		}
	}
	r, err := fsys.Open(last)
	if err != nil {
		return err
	}
	size, err := r.Size()
	data := make([]byte, size)
	if err == nil && size > 0 {
		_, err = r.ReadAt(data, 0)
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	f, err := fsys.OpenAt(last)
	if err != nil {
		return err
	}
	end := int64(len(bytes.TrimRight(data, "\n")) + 1)
	_, err = f.WriteAt([]byte(what), end)
	return errors.Join(err, f.Close())
}
