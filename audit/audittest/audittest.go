// Package audittest is the contract of [audit.Store] as tests, for any store, and a store in memory for the tests of others. It
// is for tests only.
//
// [Run] takes a [Target]: how to open the store under test and what can be done to it. What a target cannot do is not tried:
// one that cannot be killed shows nothing about crashes, one whose disk cannot be filled nothing about audit.ErrFull.
//
// [Pour] appends to a store until something stops it, and [Poured] says afterwards, perhaps in another process, whether
// everything that was acknowledged is there.
package audittest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/iff-run/iff/audit"
)

// Target is a store under test. Open must be set.
type Target struct {
	// Open opens the store: first a new one without lines, later what is there. It is called again only after the one before was
	// closed or killed.
	Open func() (audit.Store, error)
	// Kill ends the use of an open store as the end of its process would, or a power cut. Nil: never done.
	Kill func(audit.Store)
	// Free says how many bytes the disk has room for from now on, besides what the store holds or prepared; negative: as many
	// as it likes. Nil: never done.
	Free func(bytes int64)
	// Segments says that the store begins a new part after at most 64 KiB.
	Segments bool
}

// Run runs the contract, each check on a new target.
func Run(t *testing.T, target func(*testing.T) Target) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), target(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

type check struct {
	name string
	run  func(context.Context, Target) error
}

var checks = []check{
	{"empty", empty},
	{"bytes come back", bytesComeBack},
	{"line of 64 KiB", longLine},
	{"large batches", largeBatches},
	{"segments", segmentsRoll},
	{"the end", theEnd},
	{"positions", positions},
	{"places that are none", noPlaces},
	{"references", references},
	{"stopping early", stoppingEarly},
	{"cut", cut},
	{"cut in an earlier part", cutEarlier},
	{"killed", killed},
	{"killed after a cut", killedAfterCut},
	{"cancelled", cancelled},
	{"closed", closed},
	{"save", save},
	{"save is whole", saveIsWhole},
	{"extend", extend},
	{"full", full},
	{"reserve", reserve},
	{"reserve over segments", reserveOverSegments},
	{"reading beside writing", beside},
}

// bench is an open store and what it should hold.
type bench struct {
	Target
	audit.Store
	ctx  context.Context
	next int64 // the number of the next line
	want []byte
}

func start(ctx context.Context, t Target) (*bench, error) {
	s, err := t.Open()
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return &bench{Target: t, Store: s, ctx: ctx}, nil
}

// started runs a check on an open store, then closes it.
func started(run func(*bench) error) func(context.Context, Target) error {
	return func(ctx context.Context, t Target) error {
		b, err := start(ctx, t)
		if err != nil {
			return err
		}
		if err := run(b); err != nil {
			return errors.Join(err, b.Store.Close())
		}
		if err := b.Store.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
		return nil
	}
}

// add appends lines numbered on, and remembers them if they were taken.
func (b *bench) add(lines int, reserve int64) error {
	batch := audit.Batch{First: b.next, Lines: Lines(b.next, lines), Reserve: reserve}
	if err := b.Append(b.ctx, batch); err != nil {
		return fmt.Errorf("append of %d lines from %d: %w", lines, b.next, err)
	}
	b.next += int64(lines)
	b.want = append(b.want, batch.Lines...)
	return nil
}

// reopen closes the store, or kills it, and opens it again.
func (b *bench) reopen(kill bool) error {
	if kill {
		b.Kill(b.Store)
	} else if err := b.Store.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	s, err := b.Open()
	if err != nil {
		return fmt.Errorf("open again: %w", err)
	}
	b.Store = s
	return nil
}

// holds says whether the store holds exactly what it should.
func (b *bench) holds() error {
	got, err := ReadAll(b.ctx, b.Store)
	if err != nil {
		return err
	}
	if err := same(got, b.want); err != nil {
		return err
	}
	return nil
}

// holdsAlways is holds, and again after closing and opening.
func (b *bench) holdsAlways() error {
	if err := b.holds(); err != nil {
		return err
	}
	if err := b.reopen(false); err != nil {
		return err
	}
	if err := b.holds(); err != nil {
		return fmt.Errorf("after reopening: %w", err)
	}
	return nil
}
