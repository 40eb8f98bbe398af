package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
	"github.com/iff-run/iff/verdict"
)

// ErrNoSession says that the log has no such session, or no session at all.
var ErrNoSession = errors.New("session-unknown")

// ErrNoSnapshot says that an interval has no snapshot to begin or to end with.
var ErrNoSnapshot = errors.New("no snapshot")

// Case is what is to be judged. Log, Store and Trust are required.
type Case struct {
	View    *audit.View // of the log, as far as it is judged
	Store   audit.Store
	Trust   *trust.Root
	Session string // id; empty: all sessions since the newest verdict over all of them, and at least the newest one
	From    int64  // instead of a session: the first record of the interval, from 1
	To      int64  // with From: behind the last; 0 is the end

	// Final is what the corpora are now, where the interval ends now. Without it
	// it ends at the first barrier behind its last record.
	Final     map[string]*corpus.Snapshot
	At        time.Time // of Final
	Observers map[string]verdict.Observer
	Places    map[string]string // directories of the corpora now, by name; may be nil
	Guarded   func(corpus.Object) bool
	Progress  func(record int64)
	Hear      func(record.Record) error // every record that is looked at, in their order; nil hears nothing
}

// Judge says whether the corpora changed exactly as approved, from the log and
// the corpora alone: no runtime is needed.
func Judge(ctx context.Context, c Case) (verdict.Report, error) {
	if err := c.check(); err != nil {
		return verdict.Report{}, err
	}
	j := &judging{Case: c, origin: originOf(c.View), size: c.View.Size(), snaps: make(map[string]*corpus.Snapshot)}
	if c.To > 0 && c.Final != nil {
		j.size = min(j.size, c.To)
	}
	if c.Session == "" && c.From == 0 {
		return j.all(ctx)
	}
	first, last, err := j.bounds(ctx)
	if err != nil {
		return verdict.Report{}, err
	}
	return j.over(ctx, stretch{first, last})
}

// over judges one interval.
func (j *judging) over(ctx context.Context, w stretch) (verdict.Report, error) {
	one := *j
	one.snaps = make(map[string]*corpus.Snapshot)
	base, from, err := one.begin(ctx, w.first)
	if err != nil {
		return verdict.Report{}, err
	}
	return one.run(ctx, base, from, w.last)
}

// check refuses what would judge something else than was asked for.
func (c Case) check() error {
	switch {
	case c.View == nil || c.Store == nil || c.Trust == nil:
		return errors.New("a verdict needs a log and a trust root")
	case c.From < 0 || c.To < 0 || c.From > 0 && c.To > 0 && c.To <= c.From:
		return fmt.Errorf("from %d to %d is no interval; it begins at 1 or more, and ends behind that", c.From, c.To)
	case c.From >= c.View.Size():
		return fmt.Errorf("there is no record %d; the log has %d", c.From, c.View.Size())
	case c.From > 0 && c.Session != "":
		return errors.New("a session and an interval are two things; name one of them")
	}
	return nil
}

func originOf(v *audit.View) string {
	origin, _, _ := v.State().Log()
	return origin
}

type judging struct {
	Case
	origin string
	size   int64
	snaps  map[string]*corpus.Snapshot
	found  place // see there
}

func whole(b record.Barrier) bool {
	for _, c := range b.Corpora {
		if c.Base != (record.Hash{}) {
			return false
		}
	}
	return true
}

// same says whether a corpus is the directory that it was at a barrier, and leaves
// out what it left out then; otherwise the two cannot be compared.
func (j *judging) same(c record.CorpusRoot) error {
	was, now := slices.Sorted(slices.Values(c.Volatile)), slices.Sorted(slices.Values(j.Observers[c.Corpus].Volatile))
	what := ""
	place, known := j.Places[c.Corpus]
	if differs := known && place != c.Place; differs && c.Corpus == ControlCorpus {
		what = "other control files are named now by guard.home than when a snapshot was taken"
	} else if differs {
		what = "it is another directory now than when a snapshot was taken"
	} else if !slices.Equal(was, now) {
		what = "it has other volatile patterns now than when a snapshot was taken"
	}
	if what == "" {
		return nil
	}
	return &gate.Refusal{Reason: gate.Reconfigured, Object: corpus.Name(c.Corpus, "."), Detail: what + ", so nothing can be said of the time between; ask about a session since then, or put iff.toml back"}
}

// take folds a barrier's snapshots. Those that are judged by have to be of the
// corpora as they are configured.
func (j *judging) take(ctx context.Context, b record.Barrier, judged bool) error {
	for _, c := range b.Corpora {
		var entries []corpus.Entry
		if c.Snapshot != (record.Payload{}) {
			data, err := audit.Fetch(ctx, j.Store, c.Snapshot)
			if err != nil {
				return fmt.Errorf("the snapshot of %s in round %d: %w", c.Corpus, b.Round, err)
			}
			if entries, err = corpus.Parse(data); err != nil {
				return fmt.Errorf("the snapshot of %s in round %d: %w", c.Corpus, b.Round, err)
			}
		}
		s := corpus.NewSnapshot(entries)
		if c.Base != (record.Hash{}) {
			before := j.snaps[c.Corpus]
			if before == nil || before.Root() != c.Base {
				return fmt.Errorf("the snapshot of %s in round %d builds on one that is not in the log", c.Corpus, b.Round)
			}
			s = before.Apply(entries)
		}
		if s.Root() != c.Root {
			return fmt.Errorf("the snapshot of %s in round %d is not the one whose root was recorded", c.Corpus, b.Round)
		}
		j.snaps[c.Corpus] = s
		if j.Observers == nil {
			j.Observers = make(map[string]verdict.Observer)
		}
		if _, ok := j.Observers[c.Corpus]; !ok {
			j.Observers[c.Corpus] = verdict.Observer{Name: c.Observer, Volatile: c.Volatile}
		}
		if err := j.same(c); judged && err != nil {
			return err
		}
	}
	return nil
}

// past folds the records from a base up to the barrier at which the interval
// begins: when that was, the fence of the runtime then, and what calls had staged.
func (j *judging) past(ctx context.Context, base, from int64) (since time.Time, fence int64, open stages, err error) {
	open = make(stages)
	err = j.each(ctx, base, from+1, func(r record.Record) error {
		rest, err := j.rest(ctx, r)
		if err != nil {
			return err
		}
		open.fold(r, rest)
		b, ok := r.Body.(record.Barrier)
		if !ok {
			return nil
		}
		if since = r.Time; r.Seq == base {
			fence = b.Fence
		}
		return j.take(ctx, b, r.Seq == from)
	})
	return since, fence, open, err
}

// run judges. The records between base and from are the past.
func (j *judging) run(ctx context.Context, base, from, last int64) (verdict.Report, error) {
	since, fence, open, err := j.past(ctx, base, from)
	if err != nil {
		return verdict.Report{}, err
	}
	judge := verdict.New(verdict.Options{
		From: from, Since: since, Start: open.without(j.snaps), Observers: j.Observers, Fence: fence, Session: j.Session,
		Guarded: j.Guarded, Check: j.signed,
	})
	end, at, over := j.Final, j.At, false
	clear(open)
	err = j.each(ctx, base, j.size, func(r record.Record) error {
		if over {
			return nil // the chain up to the end of the log vouches for what is before
		}
		rest, err := j.rest(ctx, r)
		if err != nil {
			return err
		}
		if j.Hear != nil {
			if err := j.Hear(r); err != nil {
				return err
			}
		}
		judge.Add(r, rest)
		open.fold(r, rest)
		if j.Progress != nil {
			j.Progress(r.Seq)
		}
		b, ok := r.Body.(record.Barrier)
		if !ok || r.Seq <= from {
			return nil
		}
		if err := j.take(ctx, b, true); err != nil {
			return err
		}
		if last >= 0 && r.Seq >= last {
			end, at, over = maps.Clone(j.snaps), r.Time, true
			return nil
		}
		for name, s := range open.without(j.snaps) {
			judge.Snapshot(name, s)
		}
		return nil
	})
	if err != nil {
		return verdict.Report{}, err
	}
	if end == nil {
		return verdict.Report{}, fmt.Errorf("%w was taken after the interval; it ends only with a reading of what the corpora are now", ErrNoSnapshot)
	}
	return judge.End(open.without(end), at), nil
}

// rest reads the changes that did not fit in the line of a record.
func (j *judging) rest(ctx context.Context, r record.Record) ([]corpus.Change, error) {
	p := restOf(r.Body)
	if p == (record.Payload{}) {
		return nil, nil
	}
	data, err := audit.Fetch(ctx, j.Store, p)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", r.Seq, err)
	}
	out, err := record.ParseChanges(data)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w", r.Seq, err)
	}
	return out, nil
}

func restOf(b record.Body) record.Payload {
	switch b := b.(type) {
	case record.Request:
		return b.Rest
	case record.ReversibleRequest:
		return b.Rest
	case record.Intent:
		return b.Rest
	case record.CommitIntent:
		return b.Rest
	case record.RollbackIntent:
		return b.Rest
	case record.Executed:
		return b.Rest
	case record.Error:
		return b.Rest
	case record.Committed:
		return b.Rest
	case record.RolledBack:
		return b.Rest
	case record.Staged:
		return b.Rest
	case record.Resolved:
		return b.Rest
	}
	return record.Payload{}
}

// signed checks again what an approver signed.
func (j *judging) signed(s verdict.Signed) error {
	return approval.CheckRecord(approval.Recorded{
		Log: j.origin, Fence: s.Fence, Session: s.Session, Request: s.ID, Seq: s.Seq, Asked: s.Request, Decision: s.Decision, At: s.Decided,
	}, j.Trust)
}

// Verdict reads the corpora whole and judges a session, or with no id everybody
// since the newest session began, up to now. The verdict is recorded.
func (r *Runtime) Verdict(ctx context.Context, session string) (verdict.Report, error) {
	if err := r.ready(); err != nil {
		return verdict.Report{}, err
	}
	if err := r.quietly(ctx, fully); err != nil {
		return verdict.Report{}, err
	}
	return r.recordOf(ctx, Case{Session: session})
}

// judge judges up to the newest barrier, unless the case says where it ends.
func (r *Runtime) judge(ctx context.Context, c Case) (verdict.Report, error) {
	if c.To == 0 {
		r.reading.Lock()
		c.Final, c.At, c.To = maps.Clone(r.last), r.lastAt, r.lastSeq+1
		r.reading.Unlock()
	}
	var err error
	if c.View, err = r.view(ctx); err != nil {
		return verdict.Report{}, err
	}
	c.Store, c.Trust, c.Observers, c.Guarded = r.parts.Log.Store(), r.Trust(), Observers(r.parts.Corpora), r.guard.guards
	c.Places = Places(r.parts.Corpora)
	return Judge(ctx, c)
}

// view is the log as it is now, signed.
func (r *Runtime) view(ctx context.Context) (*audit.View, error) {
	if _, err := r.parts.Log.Checkpoint(ctx); err != nil {
		return nil, err
	}
	return r.parts.Log.View(), nil
}

// Observers are the observers of corpora, as verdicts name them.
func Observers(corpora []Corpus) map[string]verdict.Observer {
	out := make(map[string]verdict.Observer)
	for _, c := range corpora {
		out[c.Name] = verdict.Observer{Name: c.Observer.Name(), Blind: c.Observer.Blind(), Volatile: c.Volatile.Strings()}
	}
	return out
}

// Places are the directories of corpora, by name.
func Places(corpora []Corpus) map[string]string {
	out := make(map[string]string)
	for _, c := range corpora {
		out[c.Name] = c.Dir
	}
	return out
}

// Record puts a verdict into the log.
func Record(ctx context.Context, log *audit.Log, report verdict.Report) error {
	form, err := report.Form()
	if err != nil {
		return err
	}
	kept, err := log.Keep(ctx, form)
	if err != nil {
		return err
	}
	body := record.Verdict{Corpora: []string{}, Findings: int64(len(report.Findings)), From: report.From, To: report.To, Report: kept, Result: report.Result}
	for _, c := range report.Corpora {
		body.Corpora = append(body.Corpora, c.Name)
	}
	_, err = log.Append(ctx, record.Entry{Session: report.Session, Body: body})
	return err
}
