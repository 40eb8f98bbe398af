package runtime

import (
	"context"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// GuardIn is the guard of a runtime.
func GuardIn(r *Runtime) gate.Guard { return r.guard }

// GuardAlone is a guard of control files, without skills.
func GuardAlone(corpora []Corpus, files corpus.Patterns) (gate.Guard, error) {
	return rootsOf(corpora, files)
}

// LearnKeys is what a runtime would learn from its log if it started now.
func LearnKeys(ctx context.Context, r *Runtime, keys int, records int64) ([]gate.KnownKey, error) {
	return r.learnt(ctx, keys, records)
}

// The bounds when it starts.
const (
	MaxKeys       = maxKeys
	MaxKeyRecords = maxKeyRecords
)
