package audit_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// Read leaves out a torn tail, and refuses a broken line that other batches stand behind.
func TestReadOfCorruptMiddle(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	for i := range 100 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
	}
	must(t, l.Close())
	keep(t, m, "snapshot", nil)
	must(t, m.Edit(0, func(b []byte) []byte { b[5000] = '\n'; return b }))
	store, err := m.Open()
	must(t, err)
	defer store.Close()
	v, err := audit.Read(t.Context(), store, pin(), options(), trusttest.NewKey(1).Public())
	if err == nil {
		t.Errorf("a line of another batch is broken, and Read gives the first %d records and says %v", v.Size(), v.Torn().Error())
	}
}

// An index with the right nodes and a wrong place (a power cut can take half an entry, for Extend is not synced) is made anew.
func TestIndexPlaces(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	for i := range 300 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
	}
	must(t, l.Close())
	index := kept(t, m, "index")
	for _, at := range []int{39, 40, 46, 47, 48 + 47} {
		next := m.Copy()
		changed := bytes.Clone(index)
		changed[at] ^= 0x41
		keep(t, next, "index", changed)
		store, err := next.Open()
		must(t, err)
		v, err := audit.Read(t.Context(), store, pin(), options(), trusttest.NewKey(1).Public())
		must(t, err)
		for _, seq := range []int64{0, 3, 255, 256, 300, 511, 512, 600} {
			if _, err := v.Find(t.Context(), seq); err != nil {
				t.Errorf("byte %d of the index: Find(%d): %v", at, seq, err)
			}
			if _, err := v.Receipt(t.Context(), seq); err != nil {
				t.Errorf("byte %d of the index: Receipt(%d): %v", at, seq, err)
			}
		}
		must(t, store.Close())
	}
}

// blockSegment and blockOffset of a snapshot are signed by nobody. If they are wrong the log opens all the same, and calls in doubt are read.
func TestSnapshotBlockPlace(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	for i := range 100 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
	}
	_, err := l.Append(t.Context(), call(1000)[:3]...)
	must(t, err)
	must(t, l.Close())
	snapshot := string(kept(t, m, "snapshot"))
	const field = `"blockOffset":`
	i := strings.Index(snapshot, field) + len(field)
	if snapshot[i] == '0' {
		t.Fatal("the block begins at 0")
	}
	for _, other := range []string{"-1", "1", "0", "900000000"} {
		next := m.Copy()
		end := i + strings.IndexByte(snapshot[i:], ',')
		keep(t, next, "snapshot", []byte(snapshot[:i]+other+snapshot[end:]))
		store, err := next.Open()
		must(t, err)
		l, found, err := openLog(t.Context(), store, options())
		if err != nil {
			t.Errorf("block offset %s: %v", other, err)
			continue
		}
		if len(found.InDoubt) != 1 {
			t.Errorf("block offset %s: %v", other, found)
		}
		must(t, l.Close())
	}
}

// On a full disk records of a closing kind that close nothing, and changes of the key, take nothing from the reserve.
func TestReserveIsTaken(t *testing.T) {
	for what, take := range map[string]func(*audit.Log) error{
		"outcomes of other calls": func(l *audit.Log) error {
			_, err := l.Append(context.Background(), record.Entry{Session: "s", Request: "other", Body: record.Error{Outcome: record.Outcome{Detail: strings.Repeat("x", 5000)}}})
			return err
		},
		"changes of the key": func(l *audit.Log) error { return l.Rotate(context.Background(), trusttest.NewKey(1)) },
	} {
		m := &audittest.Memory{}
		l := create(t, m, options())
		_, err := l.Append(t.Context(), call(1)[:3]...)
		must(t, err)
		m.Free(0)
		for range 1000 {
			if err := take(l); err != nil {
				break
			}
		}
		outcome := call(1)[3]
		outcome.Body = record.Executed{Outcome: record.Outcome{Detail: strings.Repeat("x", 60_000)}}
		if _, err := l.Append(t.Context(), outcome); err != nil {
			t.Errorf("%s: the outcome of a call that was admitted: %v", what, err)
		}
		m.Free(-1)
		_ = l.Close()
	}
}

// Append heeds its context also while Close waits for an Append that waits for a disk that hangs.
func TestAppendHeedsContextBesideClose(t *testing.T) {
	hang, waiting := make(chan struct{}), make(chan struct{}, 1)
	m := &audittest.Memory{}
	first := true
	m.Before = func(context.Context, audit.Batch) error {
		if first {
			first = false
			return nil
		}
		select {
		case waiting <- struct{}{}:
		default:
		}
		<-hang
		return nil
	}
	l := create(t, m, options())
	done := make(chan struct{})
	for range 600 { // more than the queue takes
		go func() {
			_, _ = l.Append(context.Background(), call(1)...)
			done <- struct{}{}
		}()
	}
	<-waiting
	time.Sleep(100 * time.Millisecond) // until the queue is full
	closed := make(chan struct{})
	go func() {
		_ = l.Close()
		close(closed)
	}()
	returned := make(chan error, 1)
	time.Sleep(200 * time.Millisecond) // until Close waits
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	go func() {
		_, err := l.Append(ctx, call(2)...)
		returned <- err
	}()
	select {
	case <-returned:
	case <-time.After(time.Minute):
		t.Error("Append did not return a minute after its deadline of 50 ms")
	}
	close(hang)
	for range 600 {
		<-done
	}
	<-closed
}

// The second of two Closes returns when the store is closed.
func TestCloseTwiceAtOnce(t *testing.T) {
	m := &audittest.Memory{}
	inner, err := m.Open()
	must(t, err)
	closing, goOn := make(chan struct{}), make(chan struct{})
	store := &hooked{Store: inner, close: func() error {
		close(closing)
		<-goOn
		return inner.Close()
	}}
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), options())
	must(t, err)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- l.Close() }()
	<-closing
	go func() { second <- l.Close() }()
	select {
	case <-second:
		t.Error("closed, says the second Close, and the store is still open")
	case <-time.After(100 * time.Millisecond):
	}
	close(goOn)
	must(t, <-first)
}

// A view of a log that was just recovered tells of no torn tail.
func TestTornIsCut(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	must(t, l.Close())
	must(t, m.Edit(0, func(b []byte) []byte { return append(b, `{"batch":2,"bo`...) }))
	l, found := reopen(t, m, options())
	if found.Torn == 0 {
		t.Fatal("nothing torn was found")
	}
	if p := l.View().Torn(); p != nil {
		t.Errorf("the tail was cut, and the view says: %v", p.Error())
	}
	must(t, l.Close())
}

// An error of reading while Create looks whether there is a log is told.
func TestCreateTellsErrors(t *testing.T) {
	m := &audittest.Memory{}
	inner, err := m.Open()
	must(t, err)
	defer inner.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := audit.Create(ctx, inner, begin(), trusttest.NewKey(1), options()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An empty file named like a segment that is not due is found when the log is opened or verified, and does not poison the first Append.
func TestEmptySegmentAdded(t *testing.T) {
	d := durabletest.New()
	store, err := file.Create(d, "/log", nil)
	must(t, err)
	l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), options())
	must(t, err)
	_, err = l.Append(t.Context(), call(1)...)
	must(t, err)
	must(t, l.Close())
	f, err := d.Create("/log/00000000000000000900.jsonl", 0o600)
	must(t, err)
	must(t, f.Close())
	store, err = file.Open(d, "/log", nil)
	must(t, err)
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin()})
	must(t, err)
	l, _, err = openLog(t.Context(), store, options())
	if err != nil && !rep.Holds() {
		return // refused and named
	}
	if rep.Holds() {
		t.Error("verified")
	}
	if err == nil {
		_, err = l.Append(t.Context(), call(2)...)
		t.Errorf("opened; the next append: %v", err)
		_ = l.Close()
	}
}

// The line of the last checkpoint is under no checkpoint: what stands around its note, the time for example, can be changed, and the
// report says so.
func TestLastCheckpointIsNamed(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	_, err := l.Append(t.Context(), call(1)...)
	must(t, err)
	must(t, l.Close())
	must(t, m.Edit(0, func(b []byte) []byte {
		i := bytes.LastIndex(b, []byte(`"time":"2026`))
		b[i+len(`"time":"202`)] = '7'
		return b
	}))
	store, err := m.Open()
	must(t, err)
	defer store.Close()
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Pin: pin()})
	must(t, err)
	if rep.Holds() && !strings.Contains(strings.Join(rep.Unchecked, "\n"), "no checkpoint covers") {
		t.Errorf("the time of record %d was changed, and what was not checked is: %q", rep.Records-1, rep.Unchecked)
	}
}

// A log holds against an anchor that saw it empty, as a witness may have.
func TestAnchorOfNothing(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	must(t, l.Close())
	store, err := m.Open()
	must(t, err)
	defer store.Close()
	empty := record.Hash{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55}
	rep, err := audit.Verify(t.Context(), store, audit.VerifyOptions{Anchors: []audit.Anchored{{By: "w", Root: empty}}})
	must(t, err)
	if !rep.Holds() {
		t.Error(rep.Problem.Error())
	}
}

// What is torn is kept before it is cut off. Openers that are killed between the two keep it once: else it grows until it is longer than what
// is read, and the log refuses to open for ever.
func TestTornKeptAgain(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	must(t, l.Close())
	must(t, m.Edit(0, func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), 3<<20)...) }))
	for range 4 {
		inner, err := m.Open()
		must(t, err)
		killed := &hooked{Store: inner, cut: func(context.Context, audit.Position) error { return errors.New("killed") }}
		if l, _, err := openLog(t.Context(), killed, options()); err == nil {
			must(t, l.Close())
			t.Fatal("opened, though it could not cut")
		}
	}
	l, found := reopen(t, m, options())
	must(t, l.Close())
	if found.Torn != 3<<20 {
		t.Errorf("%d bytes were torn, %d are recorded", 3<<20, found.Torn)
	}
}

// Views made by In are independent, also of one that was asked before.
func TestCopiesOfViews(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	for i := range 200 {
		_, err := l.Append(t.Context(), call(i)...)
		must(t, err)
	}
	must(t, l.Close())
	store, err := m.Open()
	must(t, err)
	defer store.Close()
	v, err := audit.Read(t.Context(), store, pin(), options(), trusttest.NewKey(1).Public())
	must(t, err)
	_, err = v.Receipt(t.Context(), 1)
	must(t, err)
	var wg sync.WaitGroup
	for n := range int64(4) {
		mine := v.In(store)
		wg.Go(func() {
			for seq := n; seq < 700; seq += 50 {
				if _, err := mine.Receipt(context.Background(), seq); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// A Create that fails before anything is written tries to sign a checkpoint of no records, and blames the key.
func TestCreateOnFullDisk(t *testing.T) {
	m := &audittest.Memory{}
	m.Free(0)
	store, err := m.Open()
	must(t, err)
	_, err = audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), options())
	if !errors.Is(err, audit.ErrFull) || strings.Contains(err.Error(), "signature") {
		t.Error(err)
	}
}

// A log that was read in full, for it had no snapshot, used to get none unless something is appended: each Open reads all of it again.
func TestSnapshotIsMadeAnew(t *testing.T) {
	m := &audittest.Memory{}
	l := create(t, m, options())
	_, err := l.Append(t.Context(), call(1)...)
	must(t, err)
	must(t, l.Close())
	keep(t, m, "snapshot", nil)
	l, _ = reopen(t, m, options())
	must(t, l.Close())
	if len(kept(t, m, "snapshot")) == 0 {
		t.Error("there is no snapshot")
	}
}
