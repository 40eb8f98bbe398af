package audit_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/record"
)

// below plants a bug in the files that a store writes.
func below(sync func(durable.FileAt) error) bug {
	return bug{files: func(fsys durable.FS) durable.FS {
		return hookedFS{fsys, func(f durable.FileAt) durable.FileAt { return syncer{f, sync} }}
	}}
}

// within plants a bug in the store.
func within(plant func(*hooked)) bug {
	return bug{store: func(s audit.Store) audit.Store {
		h := &hooked{Store: s}
		plant(h)
		return h
	}}
}

// lagging acknowledges the batches that late picks before they are in the store: with the next one, or when it is closed.
func lagging(late func(audit.Batch) bool) bug {
	return within(func(h *hooked) {
		var behind []audit.Batch
		catchUp := func(ctx context.Context) error {
			var err error
			for _, b := range behind {
				err = errors.Join(err, h.Store.Append(ctx, b))
			}
			behind = nil
			return err
		}
		h.append = func(ctx context.Context, b audit.Batch) error {
			if err := catchUp(ctx); err != nil {
				return err
			}
			if late(b) {
				b.Lines = bytes.Clone(b.Lines)
				behind = append(behind, b)
				return nil
			}
			return h.Store.Append(ctx, b)
		}
		h.close = func() error { return errors.Join(catchUp(context.Background()), h.Store.Close()) }
	})
}

func isCheckpoint(b audit.Batch) bool { return bytes.Contains(b.Lines, []byte(`"kind":"checkpoint"`)) }

// oldNote has the store keep, in place of a checkpoint, one that is signed as well and older.
func oldNote(h *hooked) {
	var first *record.Checkpoint
	h.append = func(ctx context.Context, b audit.Batch) error {
		if !isCheckpoint(b) {
			return h.Store.Append(ctx, b)
		}
		r, err := record.ParseLine(strings.TrimSuffix(string(b.Lines), "\n"))
		if err != nil {
			return err
		}
		c := r.Body.(record.Checkpoint)
		if first == nil {
			first = &c
		}
		if r.Body, err = resized(*first, c); err != nil {
			return err
		}
		line, err := r.Line()
		if err != nil {
			return err
		}
		b.Lines = append(line, '\n')
		return h.Store.Append(ctx, b)
	}
}

// resized is the older checkpoint, claiming the newer one's size, signed anew.
func resized(older, newer record.Checkpoint) (record.Body, error) {
	lines, size := strings.Split(older.Note, "\n"), strings.Split(newer.Note, "\n")[1]
	lines[1] = size
	text := strings.Join(lines[:5], "\n") + "\n"
	for _, key := range logKeys() {
		skey, err := audit.VerifierKey(origin, key.Public())
		if err != nil {
			return nil, err
		}
		if !strings.Contains(newer.Note, strings.Split(skey, "+")[0]) {
			continue
		}
		v, err := note.NewVerifier(skey)
		if err != nil {
			return nil, err
		}
		if _, err := audit.OpenCheckpoint([]byte(newer.Note), v); err != nil {
			continue
		}
		signed, err := note.Sign(&note.Note{Text: text}, noteKey{v, key})
		return record.Checkpoint{Note: string(signed)}, err
	}
	return nil, errors.New("no key of these tests signed it")
}

// What is wrong below the log is found by the fault matrix.
func TestMatrixCatches(t *testing.T) {
	t.Parallel()
	for what, planted := range map[string]bug{
		"sync dropped": below(func(durable.FileAt) error { return nil }),
		"a failed sync is repeated": below(func(f durable.FileAt) error {
			if f.Sync() == nil {
				return nil
			}
			return f.Sync()
		}),
		"released before sync":          lagging(func(audit.Batch) bool { return true }),
		"snapshot before batch":         lagging(isCheckpoint),
		"checkpoint over an older head": within(oldNote),
		"torn tail not cut": within(func(h *hooked) {
			h.cut = func(context.Context, audit.Position) error { return nil }
		}),
		"cut at the beginning of the last segment": within(func(h *hooked) {
			h.cut = func(ctx context.Context, at audit.Position) error {
				return h.Store.Cut(ctx, audit.Position{Segment: at.Segment})
			}
		}),
	} {
		b := newBook(planted)
		n, err := matrix(nil, b.life, b.check, 8)
		if err == nil {
			b = newBook(planted)
			n, err = matrix(crashed("{\n\x00"), b.again, b.check, 8)
		}
		if err == nil {
			t.Errorf("%s: not caught in %d cases", what, n)
			continue
		}
		text := err.Error()
		t.Logf("%s: caught after %d cases: …%s", what, n, text[max(0, len(text)-200):])
	}
}

// A cut that takes a later batch: it does not look at what stands behind the line that is broken. A changed byte in the middle shows it.
func TestCorruptionIsNotCut(t *testing.T) {
	corrupt := func(planted func(audit.Store) audit.Store) error {
		b := newBook()
		m := newLog(t, b, 20)
		must(t, m.Edit(0, func(data []byte) []byte {
			data[len(data)/2] = '\n'
			return data
		}))
		keep(t, m, "snapshot", nil)
		store, err := m.Open()
		must(t, err)
		l, _, err := openLog(t.Context(), planted(store), rarely())
		if err != nil {
			return err
		}
		must(t, l.Close())
		return nil
	}
	if err := corrupt(func(s audit.Store) audit.Store { return s }); err == nil {
		t.Error("a log with a broken line in the middle was opened")
	}
	mutant := within(func(h *hooked) {
		h.blocks = func(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
			if from == (audit.Position{}) {
				return h.Store.Blocks(ctx, from)
			}
			return func(yield func(audit.Block, error) bool) {
				for b, err := range h.Store.Blocks(ctx, from) {
					first, _, _ := bytes.Cut(b.Data, []byte("\n"))
					b.Data = slices.Clip(first)
					yield(b, err)
					return
				}
			}
		}
	})
	if err := corrupt(mutant.store); err != nil {
		t.Errorf("the planted bug does not do what it should: %v", err)
	}
}
