package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/record"
)

// window is how many records are read at once on the way back.
const window = 4096

// back calls f for records before the end in windows, the newest window first,
// in order within one, until f says that it has what it wants.
func (j *judging) back(ctx context.Context, end int64, f func(records []record.Record) (bool, error)) error {
	for end > 0 {
		start := max(0, end-window)
		records := make([]record.Record, 0, end-start)
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

// place is where a record stands, and the hash of the line before it.
type place struct {
	seq  int64
	at   audit.Position
	prev record.Hash
}

// place finds a record. The first stands where every log begins; the one that was
// asked for last is remembered, for an interval is read twice from its base on.
func (j *judging) place(ctx context.Context, seq int64) (place, error) {
	if seq == j.found.seq { // of the zero value, that of the first
		return j.found, nil
	}
	s, err := j.View.Find(ctx, seq)
	if err != nil {
		return place{}, err
	}
	j.found = place{seq, s.At, s.Prev}
	return j.found, nil
}

// each calls f for the records from start up to end, and holds the chain between
// them.
func (j *judging) each(ctx context.Context, start, end int64, f func(record.Record) error) error {
	if start >= end {
		return nil
	}
	first, err := j.place(ctx, start)
	if err != nil {
		return err
	}
	var h record.Hasher
	prev, seq := first.prev, start
	for s, err := range audit.Records(ctx, j.Store, first.at) {
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
	first, last, err = j.session(ctx)
	if j.Final != nil && last < 0 || j.Session == "" {
		last = -1
	}
	return first, last, err
}

// session finds the records that opened and ended a session. One that a crash
// interrupted and that was taken up again was opened once. One that left a call
// in doubt ends where somebody said what became of that.
func (j *judging) session(ctx context.Context) (first, last int64, err error) {
	first, last = -1, -1
	settled := int64(-1)
	err = j.back(ctx, j.size, func(records []record.Record) (bool, error) {
		for _, r := range slices.Backward(records) {
			if _, ok := r.Body.(record.Resolved); ok && r.Session == j.Session {
				settled = max(settled, r.Seq)
			}
			b, ok := r.Body.(record.Session)
			if !ok || r.Session == "" || j.Session != "" && r.Session != j.Session {
				continue
			}
			switch b.Transition {
			case record.SessionClosed, record.SessionStopped, record.SessionAborted:
				if last < 0 && j.Session != "" {
					last = max(r.Seq, settled)
				}
			case record.SessionOpened:
				first = r.Seq
				return true, nil
			}
		}
		return false, nil
	})
	if err == nil && first < 0 {
		err = noSession(j.Session)
	}
	return first, last, err
}

func noSession(id string) error {
	if id == "" {
		return fmt.Errorf("the log has no session yet: %w", ErrNoSession)
	}
	return fmt.Errorf("the log has no session %s: %w", id, ErrNoSession)
}

// FirstOpening finds the first record from a number on that opened a session.
func FirstOpening(ctx context.Context, view *audit.View, store audit.Store, from int64) (record.Record, error) {
	first, err := view.Find(ctx, from)
	if err != nil {
		return record.Record{}, err
	}
	for s, err := range audit.Records(ctx, store, first.At) {
		if err != nil {
			return record.Record{}, err
		}
		if b, ok := s.Body.(record.Session); ok && b.Transition == record.SessionOpened {
			return s.Record, nil
		}
		if s.Seq+1 >= view.Size() {
			break
		}
	}
	return record.Record{}, noSession("")
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
		err = noSession(session)
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
			if b.Idle && whole(b) {
				base = records[i].Seq
				return true, nil
			}
		}
		return false, nil
	})
	if err == nil && base < 0 {
		err = fmt.Errorf("%w was taken before this, so nobody knows what the corpora were; name a later interval", ErrNoSnapshot)
	}
	return base, from, err
}
