package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/trust"
	"github.com/iff-run/iff/verdict"
)

// ErrNoSession says that the log has no such session, or no session at all.
var ErrNoSession = errors.New("session-unknown")

// Case is what is to be judged. Log, Store and Trust are required.
type Case struct {
	View    *audit.View // of the log, as far as it is judged
	Store   audit.Store
	Trust   *trust.Root
	Session string // id; empty: from the beginning of the newest session on, all sessions
	From    int64  // instead of a session: the first record of the interval, from 1
	To      int64  // with From: behind the last; 0 is the end

	// Final is what the corpora are now, where the interval ends now. Without it
	// it ends at the first barrier behind its last record.
	Final     map[string]*corpus.Snapshot
	At        time.Time // of Final
	Observers map[string]verdict.Observer
	Guarded   func(corpus.Object) bool
	Progress  func(record int64)
}

// Judge says whether the corpora changed exactly as approved, from the log and
// the corpora alone: no runtime is needed.
func Judge(ctx context.Context, c Case) (verdict.Report, error) {
	j := &judging{Case: c, origin: originOf(c.View), size: c.View.Size(), snaps: make(map[string]*corpus.Snapshot)}
	if c.To > 0 && c.Final != nil {
		j.size = min(j.size, c.To)
	}
	first, last, err := j.bounds(ctx)
	if err != nil {
		return verdict.Report{}, err
	}
	base, from, err := j.begin(ctx, first)
	if err != nil {
		return verdict.Report{}, err
	}
	return j.run(ctx, base, from, last)
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
	prev   record.Hash
	next   int64
}

// window is how many records are read at once on the way back.
const window = 4096

// back calls f for records before the end in windows, the newest window first,
// in order within one, until f says that it has what it wants.
func (j *judging) back(ctx context.Context, end int64, f func(records []record.Record) (bool, error)) error {
	for end > 0 {
		start := max(0, end-window)
		var records []record.Record
		err := j.each(ctx, start, end, func(r record.Record) error { records = append(records, r); return nil })
		if err != nil {
			return err
		}
		if done, err := f(records); done || err != nil {
			return err
		}
		end = start
	}
	return nil
}

// errStop ends a walk over records.
var errStop = errors.New("stop")

// each calls f for the records from start up to end, and holds the chain between
// them.
func (j *judging) each(ctx context.Context, start, end int64, f func(record.Record) error) error {
	if start >= end {
		return nil
	}
	first, err := j.View.Find(ctx, start)
	if err != nil {
		return err
	}
	var h record.Hasher
	prev, seq := first.Prev, start
	for s, err := range audit.Records(ctx, j.Store, first.At) {
		if err != nil {
			return err
		}
		if s.Seq != seq || s.Prev != prev {
			return fmt.Errorf("record %d does not follow on the one before it; see iff audit verify", s.Seq)
		}
		if err := f(s.Record); err != nil {
			return err
		}
		if prev, seq = h.Leaf(s.Line), seq+1; seq >= end {
			break
		}
	}
	if seq < end {
		return fmt.Errorf("the log ends at record %d, not %d; see iff audit verify", seq, end)
	}
	return nil
}

// bounds finds the first and the last record of what is judged; last is -1 where
// it goes on to the end.
func (j *judging) bounds(ctx context.Context) (first, last int64, err error) {
	if j.From > 0 {
		switch last = j.size - 1; {
		case j.Final != nil:
			last = -1
		case j.To > 0:
			last = min(last, j.To-1)
		}
		return min(j.From, j.size-1), last, nil
	}
	first, last = -1, -1
	err = j.back(ctx, j.size, func(records []record.Record) (bool, error) {
		for i := len(records) - 1; i >= 0; i-- {
			b, ok := records[i].Body.(record.Session)
			if !ok || records[i].Session == "" || j.Session != "" && records[i].Session != j.Session {
				continue
			}
			switch b.Transition {
			case record.SessionClosed, record.SessionStopped, record.SessionAborted:
				if last < 0 && j.Session != "" {
					last = records[i].Seq
				}
			case record.SessionOpened:
				first = records[i].Seq
				return true, nil
			}
		}
		return false, nil
	})
	if j.Final != nil && last < 0 || j.Session == "" {
		last = -1
	}
	if err == nil && first < 0 {
		err = fmt.Errorf("the log has no session %s: %w", j.Session, ErrNoSession)
	}
	return first, last, err
}

// Opening finds the record that opened a session, or with no id the newest
// session.
func Opening(ctx context.Context, view *audit.View, store audit.Store, session string) (record.Record, error) {
	j := judging{Case: Case{View: view, Store: store}}
	var out record.Record
	err := j.back(ctx, view.Size(), func(records []record.Record) (bool, error) {
		for i := len(records) - 1; i >= 0; i-- {
			b, ok := records[i].Body.(record.Session)
			if ok && b.Transition == record.SessionOpened && (session == "" || records[i].Session == session) {
				out = records[i]
				return true, nil
			}
		}
		return false, nil
	})
	if err == nil && out.Body == nil {
		err = fmt.Errorf("the log has no session %s: %w", session, ErrNoSession)
	}
	return out, err
}

// begin finds the barrier at which the interval begins, and the one before it
// at which nothing was under way and whose snapshots are whole.
func (j *judging) begin(ctx context.Context, first int64) (base, from int64, err error) {
	base, from = -1, -1
	err = j.back(ctx, first+1, func(records []record.Record) (bool, error) {
		for i := len(records) - 1; i >= 0; i-- {
			b, ok := records[i].Body.(record.Barrier)
			if !ok {
				continue
			}
			if from < 0 {
				from = records[i].Seq
			}
			if whole(b) {
				base = records[i].Seq
				return true, nil
			}
		}
		return false, nil
	})
	if err == nil && base < 0 {
		err = errors.New("no snapshot was taken before this, so nobody knows what the corpora were; name a later interval")
	}
	return base, from, err
}

func whole(b record.Barrier) bool {
	for _, c := range b.Corpora {
		if c.Base != (record.Hash{}) {
			return false
		}
	}
	return true
}

// take folds a barrier's snapshots.
func (j *judging) take(ctx context.Context, b record.Barrier) error {
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
	}
	return nil
}

// run judges. The records between base and from are the past.
func (j *judging) run(ctx context.Context, base, from, last int64) (verdict.Report, error) {
	var since time.Time
	var fence int64 // of the runtime at the first record that is judged
	err := j.each(ctx, base, from+1, func(r record.Record) error {
		if b, ok := r.Body.(record.Barrier); ok {
			if since = r.Time; r.Seq == base {
				fence = b.Fence
			}
			return j.take(ctx, b)
		}
		return nil
	})
	if err != nil {
		return verdict.Report{}, err
	}
	judge := verdict.New(verdict.Options{
		From: from, Since: since, Start: clone(j.snaps), Observers: j.Observers, Fence: fence, Session: j.Session,
		Guarded: j.Guarded, Check: j.signed,
	})
	end, at := j.Final, j.At
	err = j.each(ctx, base, j.size, func(r record.Record) error {
		rest, err := j.rest(ctx, r.Body)
		if err != nil {
			return fmt.Errorf("record %d: %w", r.Seq, err)
		}
		judge.Add(r, rest)
		if j.Progress != nil {
			j.Progress(r.Seq)
		}
		b, ok := r.Body.(record.Barrier)
		if !ok || r.Seq <= from {
			return nil
		}
		if err := j.take(ctx, b); err != nil {
			return err
		}
		if last >= 0 && r.Seq >= last {
			end, at = clone(j.snaps), r.Time
			return errStop
		}
		for name, s := range j.snaps {
			judge.Snapshot(name, s)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return verdict.Report{}, err
	}
	if end == nil {
		return verdict.Report{}, errors.New("nothing was read after the interval; it ends only with a reading of what the corpora are now")
	}
	return judge.End(end, at), nil
}

func clone(m map[string]*corpus.Snapshot) map[string]*corpus.Snapshot {
	out := make(map[string]*corpus.Snapshot, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// rest reads the changes that did not fit in the line.
func (j *judging) rest(ctx context.Context, b record.Body) ([]corpus.Change, error) {
	p := restOf(b)
	if p == (record.Payload{}) {
		return nil, nil
	}
	data, err := audit.Fetch(ctx, j.Store, p)
	if err != nil {
		return nil, err
	}
	return record.ParseChanges(data)
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
// since the newest session began, up to now.
func (r *Runtime) Verdict(ctx context.Context, session string) (verdict.Report, error) {
	err := r.gate.Barrier(ctx, func(ctx context.Context) error { return r.barrier(ctx, fully) })
	if err != nil {
		return verdict.Report{}, err
	}
	report, err := r.judge(ctx, session)
	if err != nil {
		return report, err
	}
	return report, Record(ctx, r.parts.Log, report)
}

// judge judges up to the newest barrier.
func (r *Runtime) judge(ctx context.Context, session string) (verdict.Report, error) {
	r.mu.Lock()
	final, at, to, root := clone(r.last), r.lastAt, r.lastSeq+1, r.trust
	r.mu.Unlock()
	view, err := r.view(ctx)
	if err != nil {
		return verdict.Report{}, err
	}
	return Judge(ctx, Case{
		View: view, Store: r.parts.Log.Store(), Trust: root, Session: session, To: to,
		Final: final, At: at, Observers: Observers(r.parts.Corpora), Guarded: r.guard.guards,
	})
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
