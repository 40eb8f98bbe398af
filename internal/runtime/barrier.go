package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/level"
	"github.com/iff-run/iff/record"
)

func compare[T cmp.Ordered](a, b T) int { return cmp.Compare(a, b) }

// wholeEvery is after how many barriers whole snapshots are recorded again, so
// that a verdict need not read the log from its beginning.
const wholeEvery = 256

// Barrier reads every corpus at an instant at which nobody holds a lease, and
// records what it saw. A session at level tested or formal whose verdict is not
// PASS then is aborted, and what it did is put back (paper, "Gate policy as a
// function of verification level").
func (r *Runtime) Barrier(ctx context.Context) error {
	if err := r.ready(); err != nil {
		return err
	}
	if err := r.quietly(ctx, changes); err != nil {
		return err
	}
	return r.hold(ctx)
}

// quietly takes a barrier while nobody holds a lease.
func (r *Runtime) quietly(ctx context.Context, how reading) error {
	return r.gate.Barrier(ctx, func(ctx context.Context) error { return r.barrier(ctx, how) })
}

// reading says how a barrier reads, and what it records.
type reading uint8

const (
	changes  reading = iota // what has changed by its fingerprints, as changes
	fully                   // every byte, as changes
	entirely                // every byte, and all of it is recorded
)

// full is an observer that can leave its fingerprints aside.
type full interface {
	Full(ctx context.Context) (*corpus.Snapshot, error)
}

func (how reading) read(ctx context.Context, o corpus.Observer) (*corpus.Snapshot, error) {
	if f, ok := o.(full); ok && how != changes {
		return f.Full(ctx)
	}
	return o.Snapshot(ctx)
}

// barrier reads and records; nobody holds a lease.
func (r *Runtime) barrier(ctx context.Context, how reading) error {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.round++
	r.guard.seeHeights()
	whole := how == entirely
	idle := r.idle()
	if r.since++; r.since >= wholeEvery && idle {
		whole = true
	}
	body := record.Barrier{Fence: r.fence, Idle: idle, Round: r.round, Corpora: []record.CorpusRoot{}}
	now := make(map[string]*corpus.Snapshot)
	for _, c := range r.parts.Corpora {
		s, err := how.read(ctx, c.Observer)
		if err != nil {
			return fmt.Errorf("read corpus %s: %w", c.Name, err)
		}
		root, err := r.corpusRoot(ctx, c, s, whole)
		if err != nil {
			return err
		}
		body.Corpora, now[c.Name] = append(body.Corpora, root), s
	}
	if err := r.guard.seeLinks(r.last, now); err != nil {
		return fmt.Errorf("look for links of control files: %w", err)
	}
	marks, err := r.parts.Log.Append(ctx, record.Of(body))
	if err != nil {
		return fmt.Errorf("record the barrier: %w", err)
	}
	r.counted(now)
	r.last, r.lastSeq, r.lastAt = now, marks[0].Seq, r.parts.Now()
	if whole {
		r.since = 0
	}
	return nil
}

// room says whether a corpus has room for one more object, and counts it: there
// may be as many as its observer reads, less a twentieth for what comes about
// beside iff. What was counted and not made is forgotten at the next barrier.
func (r *Runtime) room(name string) bool {
	for _, c := range r.parts.Corpora {
		if c.Name == name && c.Most > 0 {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.objects[name]++
			return r.objects[name] <= c.Most-c.Most/20
		}
	}
	return true
}

// counted notes how many objects a barrier saw.
func (r *Runtime) counted(now map[string]*corpus.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, s := range now {
		r.objects[name] = s.Len()
	}
}

// idle says whether no call reaches over this barrier: none is under way or in
// doubt, and none that is done can be put back behind it.
func (r *Runtime) idle() bool {
	if r.gate != nil {
		for _, s := range r.gate.Sessions() {
			if s.Open+s.Staged+s.Undo > 0 {
				return false
			}
		}
	}
	return len(r.parts.Log.State().Calls()) == 0
}

// corpusRoot is what a barrier records of a corpus: all of it, or what changed
// since the barrier before.
func (r *Runtime) corpusRoot(ctx context.Context, c Corpus, s *corpus.Snapshot, whole bool) (record.CorpusRoot, error) {
	out := record.CorpusRoot{
		Corpus: c.Name, Objects: int64(s.Len()), Observer: c.Observer.Name(), Place: c.Dir, Root: s.Root(), Unread: int64(s.Unread()), Volatile: c.Volatile.Strings(),
	}
	entries := s.Entries()
	if before := r.last[c.Name]; before != nil && !whole {
		out.Base, entries = before.Root(), nil
		for _, d := range corpus.Diff(before, s) {
			if d.Before != d.After {
				entries = append(entries, corpus.Entry{Object: d.Object, State: d.After})
			}
		}
	}
	if len(entries) == 0 {
		return out, nil
	}
	text, err := listed(c.Name, entries)
	if err == nil {
		out.Snapshot, err = r.parts.Log.Keep(ctx, text)
	}
	return out, err
}

// Listable says whether a whole corpus can be recorded; the error says what to do.
func Listable(name string, s *corpus.Snapshot) error {
	_, err := listed(name, s.Entries())
	return err
}

// listed is what a barrier records of a corpus.
func listed(name string, entries []corpus.Entry) ([]byte, error) {
	text := corpus.Format(entries)
	if len(text) > audit.MaxPayload {
		return nil, &gate.Refusal{Reason: gate.TooMany, Object: corpus.Name(name, "."), Detail: fmt.Sprintf(
			"the list of %d objects has %d bytes, and a record takes %d; name what need not be observed in [corpus.%s].volatile of iff.toml, or make several corpora of it",
			len(entries), len(text), audit.MaxPayload, name)}
	}
	return text, nil
}

// hold judges the sessions that may go on only while their verdict is PASS. One
// that cannot be judged may not.
func (r *Runtime) hold(ctx context.Context) error {
	var errs []error
	aborted := false
	for _, s := range r.gate.Sessions() {
		lv, err := level.Parse(s.Level)
		if err != nil || !lv.AtLeast(level.Tested) || s.State == "ending" {
			continue
		}
		report, err := r.judge(ctx, Case{Session: s.ID})
		if err == nil && report.Result == record.Pass {
			continue
		}
		aborted, errs = true, append(errs, r.abort(ctx, s.ID))
	}
	if aborted {
		errs = append(errs, r.quietly(ctx, changes))
	}
	return errors.Join(errs...)
}

// abort ends a session and puts back what it committed. For calls of the session
// that are under way it waits until ctx ends.
func (r *Runtime) abort(ctx context.Context, id string) error {
	s, err := r.gate.Session(id)
	if err != nil {
		return nil // it has ended
	}
	return sessionOver(s.End(ctx, gate.Aborting, true))
}

// sessionOver is nil where the error says that the session has ended already.
func sessionOver(err error) error {
	if errors.Is(err, &gate.SessionError{Reason: gate.SessionUnknown}) {
		return nil
	}
	return err
}
