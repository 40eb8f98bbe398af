package runtime

import (
	"context"
	"slices"

	"github.com/iff-run/iff/record"
	"github.com/iff-run/iff/verdict"
)

// stretch is a part of the log in which at every instant a session was open,
// as its first and its last record; last is -1 where it goes on to the end.
type stretch struct{ first, last int64 }

// maxStretches bounds how many are judged together, the newest.
const maxStretches = 64

// all judges every stretch since the newest verdict over all sessions, and the
// newest one in any case, which goes on to the end: nobody who opens another
// session takes an older one out of the verdict. Of several the worst is what is
// told; what changes while no session is open is in none.
func (j *judging) all(ctx context.Context) (verdict.Report, error) {
	stretches, err := j.stretches(ctx)
	if err != nil {
		return verdict.Report{}, err
	}
	var worst verdict.Report
	for i, w := range stretches {
		report, err := j.over(ctx, w)
		if err != nil && i > 0 {
			break // from before the corpora were what they are
		}
		if err != nil {
			return verdict.Report{}, err
		}
		if i == 0 || graver(report.Result, worst.Result) {
			worst = report
		}
	}
	return worst, nil
}

func graver(a, b record.Result) bool {
	order := []record.Result{record.Pass, record.Open, record.Fail}
	return slices.Index(order, a) > slices.Index(order, b)
}

// stretches finds them, the newest first.
func (j *judging) stretches(ctx context.Context) ([]stretch, error) {
	w := walk{open: make(map[string]bool), inside: true, at: stretch{-1, -1}}
	for _, s := range j.View.State().Sessions() {
		if s.Opened < j.size {
			w.open[s.ID] = true
		}
	}
	err := j.back(ctx, j.size, func(records []record.Record) (bool, error) {
		for _, r := range slices.Backward(records) {
			if w.take(r) {
				return true, nil
			}
		}
		return false, nil
	})
	if err == nil && len(w.out) == 0 {
		err = noSession("")
	}
	return w.out, err
}

// walk looks for stretches on the way back.
type walk struct {
	open   map[string]bool // sessions that were open at this point
	inside bool
	at     stretch
	judged bool // a verdict was given before this point
	out    []stretch
}

// take says whether enough was found.
func (w *walk) take(r record.Record) bool {
	switch b := r.Body.(type) {
	case record.Verdict:
		w.judged = w.judged || r.Session == "" && b.To+nearVerdict >= r.Seq
		return w.judged && !w.inside
	case record.Session:
		switch {
		case r.Session == "":
		case ends(b.Transition):
			if !w.inside {
				w.inside, w.at = true, stretch{-1, r.Seq}
			}
			w.open[r.Session] = true
		case b.Transition == record.SessionOpened:
			w.at.first = r.Seq
			if delete(w.open, r.Session); len(w.open) == 0 {
				w.out, w.inside = append(w.out, w.at), false
			}
		}
	}
	return !w.inside && (w.judged || len(w.out) >= maxStretches)
}

// nearVerdict is how many records may stand between what a verdict is over and
// the verdict, where it is one up to its own time.
const nearVerdict = 64

func ends(t record.Transition) bool {
	return t == record.SessionClosed || t == record.SessionStopped || t == record.SessionAborted
}
