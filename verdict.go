package iff

import (
	"context"
	"errors"
	"time"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/runtime"
)

// Asked is what a verdict is asked about. The zero value is all sessions since the
// newest verdict over all of them, and in any case the newest one, up to now.
type Asked struct {
	Session  string // one session, to its end
	From, To int64  // or records, from 1; To is behind the last, 0 is now
	Progress func(record int64)
}

// Judge says of a home in which no runtime runs whether its corpora changed
// exactly as approved, from the log and the corpora. It records no
// verdict.
func Judge(ctx context.Context, h *home.Home, asked Asked, now time.Time) (Report, error) {
	if h == nil {
		return Report{}, errors.New("a verdict needs a home")
	}
	if log := h.Log(); log != nil { // what a home for writing shows ends at a checkpoint
		if _, err := log.Checkpoint(ctx); err != nil {
			return Report{}, err
		}
	}
	c := runtime.Case{
		View: h.View(), Store: h.LogStore(), Trust: h.Root(), Session: asked.Session, From: asked.From, To: asked.To, Progress: asked.Progress,
	}
	corpora, shut, err := observers(h)
	if err != nil {
		return Report{}, err
	}
	c.Observers, c.Places = runtime.Observers(corpora), runtime.Places(corpora)
	if c.Guarded, err = runtime.GuardOf(corpora, h.Config().Guarded, skillDirs(h)); err == nil && asked.To == 0 {
		c.Final, err = snapshots(ctx, corpora)
		c.At = now
	}
	var report Report
	if err == nil {
		report, err = runtime.Judge(ctx, c)
	}
	return report, errors.Join(err, shut())
}

// snapshots reads whole corpora.
func snapshots(ctx context.Context, corpora []runtime.Corpus) (map[string]*corpus.Snapshot, error) {
	out := make(map[string]*corpus.Snapshot)
	for _, c := range corpora {
		s, err := c.Observer.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		out[c.Name] = s
	}
	return out, nil
}

// skillDirs are the directories of the skills that the home knows, by name.
func skillDirs(h *home.Home) map[string]string {
	out := make(map[string]string)
	for _, dir := range h.Skills() {
		k, _ := h.State().Placed(dir)
		named(out, k.Name, dir)
	}
	return out
}
