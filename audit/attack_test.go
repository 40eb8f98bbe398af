package audit_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// A torn batch that is longer than a block of the store can have a hole of newlines over the end of a block. It is cut behind the last
// good line and not at the next block: else empty lines stay in the middle, and a later Open refuses what was acknowledged since.
func TestTornHoleOverBlocks(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	must(t, l.Close())
	var before int
	must(t, m.Edit(0, func(b []byte) []byte { before = len(b); return b }))
	rare := options()
	rare.CheckpointEvery = 1 << 20
	l, _ = reopen(t, m, rare)
	var entries []record.Entry
	for range 250 {
		entries = append(entries, small(1000))
	}
	_, err := l.Append(t.Context(), entries...)
	must(t, err)
	torn := m.Copy() // while the batch is the last
	must(t, l.Close())

	const hole = 64 << 10 // a block of Memory
	must(t, torn.Edit(0, func(b []byte) []byte {
		from := before + bytes.IndexByte(b[before:], '\n') + 1
		copy(b[from:], bytes.Repeat([]byte("\n"), 2*hole))
		return b
	}))
	l, found := reopen(t, torn, options())
	if found.Torn == 0 {
		t.Error("nothing was torn")
	}
	marks, err := l.Append(t.Context(), call(1)...)
	must(t, err)
	must(t, l.Close())
	store, err := torn.Open()
	must(t, err)
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin()})
	must(t, err)
	if !rep.Holds() {
		t.Errorf("records %v were acknowledged, and now: %v", marks, rep.Problem.Error())
	}
	must(t, store.Close())
	keep(t, torn, "snapshot", nil) // it hides the hole
	if store, err = torn.Open(); err != nil {
		t.Fatal(err)
	}
	if l, _, err = openLog(t.Context(), store, options()); err != nil {
		t.Fatal(err)
	}
	must(t, l.Close())
}

// Extend is not synced, so a power cut may take the index while the snapshot, which was saved, stays. Then the index is made anew, and checkpoints
// are published all the same.
func TestIndexLost(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	for i := range 200 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
	}
	must(t, l.Close())
	if len(kept(t, m, "index")) == 0 {
		t.Fatal("there is no index")
	}
	keep(t, m, "index", nil)
	for i := range 3 {
		opts := audit.Options{Now: clock, CheckpointEvery: 300}
		published := 0
		opts.Published = func(*audit.View) { published++ }
		l, _ := reopen(t, m, opts)
		for j := range 100 {
			_, err := l.Append(t.Context(), call(1000+100*i+j)...)
			must(t, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("opened %d times: %v", i+1, err)
		}
		if published == 0 {
			t.Errorf("opened %d times: no checkpoint was published", i+1)
		}
	}
	if len(kept(t, m, "index")) == 0 {
		t.Error("the index was not made anew")
	}
}

// One failure to extend the index, for want of room perhaps, is made good with the next checkpoint, and holds up no publishing.
func TestIndexFailsOnce(t *testing.T) {
	m := &audittest.Memory{}
	inner, err := m.Open()
	must(t, err)
	once := errors.New("no room")
	store := &hooked{Store: inner}
	store.extend = func(ctx context.Context, name string, at int64, data []byte) error {
		if err := once; err != nil {
			once = nil
			return err
		}
		return inner.Extend(ctx, name, at, data)
	}
	opts := audit.Options{Now: clock, CheckpointEvery: 300}
	published := 0
	opts.Published = func(*audit.View) { published++ }
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), opts)
	must(t, err)
	for i := range 400 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("the last checkpoint could be kept: %v", err)
	}
	if published == 0 {
		t.Error("nothing was published")
	}
}

// A line has invalid UTF-8 escaped, so two names that differ for the writer can be one name for every reader. The writer folds what the line
// says: else the log signs a state that is not of its records, and never opens again. Whoever may name two directories could do it.
func TestStateOfInvalidUTF8(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	for _, dir := range []string{"skills/\xff", `skills/\x{ff}`, "skills/\xfe"} {
		_, err := l.Append(t.Context(), record.Of(record.SkillAdopted{Directory: dir, Skill: record.Skill{Name: "n" + dir, Signer: "s", Version: 1}}))
		must(t, err)
	}
	must(t, l.Close())
	store, err := m.Open()
	must(t, err)
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin()})
	must(t, err)
	if !rep.Holds() {
		t.Error(rep.Problem.Error())
	}
	l, _, err = openLog(t.Context(), store, options())
	if err != nil {
		t.Fatal(err)
	}
	must(t, l.Close())
}

// A pointer to a body is a Body too, and is refused: it would pass the check that keeps init, key.rotated and checkpoint for the log
// itself, and would not be folded, so that the log signs a state that is not of its records.
func TestPointerBodies(t *testing.T) {
	for what, body := range map[string]record.Body{
		"init":       &record.Init{Origin: "x"},
		"checkpoint": &record.Checkpoint{Note: "x"},
		"rotation":   &record.KeyRotated{},
		"request":    &record.Request{Agent: "a", Plan: []record.Change{}},
	} {
		m := &audittest.Memory{}
		l := create(t, m, options())
		_, err := l.Append(t.Context(), record.Entry{Session: "s", Request: "r", Body: body})
		if err == nil && what != "request" {
			t.Errorf("%s: the log took it", what)
		}
		must(t, l.Close())
		store, err := m.Open()
		must(t, err)
		if l, _, err = openLog(t.Context(), store, options()); err != nil {
			t.Errorf("%s: the log does not open any more: %v", what, err)
			continue
		}
		must(t, l.Close())
	}
}

// The name of a payload, blob- and 64 digits, is one that the store in files takes. Without it Keep fails for what does not stand in a
// line; and after a power cut that tore anything long, or anything that is no text, Open refuses for ever, because it cannot keep what it
// is about to cut off.
func TestBlobNames(t *testing.T) {
	store, err := file.Create(durabletest.New(), "/log", nil)
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), options())
	must(t, err)
	if _, err := l.Keep(t.Context(), make([]byte, record.MaxInline+1)); err != nil {
		t.Error(err)
	}
	must(t, l.Close())
}

// The reserve of many open calls is written as newlines behind the batch and in one sync with it, and a power cut can leave zeros there. 75
// open calls make more than the 5 MiB that Open takes for a torn tail, 260 more than the 16 MiB that the store looks for a
// newline in: neither may make the log refuse to open.
func TestTornReserve(t *testing.T) {
	t.Parallel()
	rare := options()
	rare.CheckpointEvery = 1 << 20
	for _, intents := range []int{1, 90, 300} {
		d := durabletest.New()
		store, err := file.Create(d, "/log", nil)
		must(t, err)
		l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), rare)
		must(t, err)
		_, err = l.Append(t.Context(), call(-1)...)
		must(t, err)
		var entries []record.Entry
		for i := range intents {
			entries = append(entries, call(i)[:3]...)
		}
		d.Arm()
		_, err = l.Append(t.Context(), entries...)
		must(t, err)
		sync := slices.IndexFunc(d.Calls(), func(c durabletest.Call) bool { return c.Op == durabletest.Sync })
		must(t, l.Close())

		// Again, and the power fails at that sync.
		d = durabletest.New()
		store, err = file.Create(d, "/log", nil)
		must(t, err)
		l, err = audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), rare)
		must(t, err)
		_, err = l.Append(t.Context(), call(-1)...)
		must(t, err)
		d.Arm(durabletest.Fault{At: sync, Mode: durabletest.Crash})
		if _, err := l.Append(t.Context(), entries...); err == nil {
			t.Fatal("acknowledged in spite of a crash")
		}
		_ = l.Close()
		size := int64(intents+1) * (record.MaxLine + 1)
		last := durabletest.Survival{Name: "the last write", Keep: func(_ int, p durabletest.Pending) []durabletest.Span {
			if p.Off+int64(p.Bytes) < size {
				return nil
			}
			return []durabletest.Span{{From: 0, To: p.Bytes}}
		}}
		for _, s := range append(durabletest.Survivals()[2:4], last) {
			store, err := file.Open(d.Restart(s), "/log", nil)
			must(t, err)
			l, _, err := openLog(t.Context(), store, rare)
			if err != nil {
				t.Errorf("%d intents, %s: %.300v", intents, s.Name, err)
				continue
			}
			if err := l.Close(); err != nil {
				t.Errorf("%d intents, %s: close: %v", intents, s.Name, err)
			}
		}
	}
}

// More than 16,383 open calls need a larger reserve than the store in files makes. That is ErrFull and does not poison the log.
func TestManyIntents(t *testing.T) {
	store, err := file.Create(durabletest.New(), "/log", nil)
	must(t, err)
	mostReserve := int64(1 << 30)
	l, err := audit.Create(t.Context(), &hooked{Store: store, append: func(ctx context.Context, b audit.Batch) error {
		if b.Reserve < mostReserve {
			b.Reserve = 0 // a gigabyte of newlines in memory would only take time
		}
		return store.Append(ctx, b)
	}}, begin(), trusttest.NewKey(1), options())
	must(t, err)
	for i := 0; i < 17_000; i += 500 {
		var entries []record.Entry
		for j := range 500 {
			entries = append(entries, call(i + j)[:3]...)
		}
		if _, err := l.Append(t.Context(), entries...); reasonOf(err) == audit.LogPoisoned {
			t.Fatalf("%d open calls: %v", i, err)
		}
	}
	must(t, l.Close())
}
