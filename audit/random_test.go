package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/record"
)

// machine is a log on a disk that anything may happen to, in any order.
type machine struct {
	*book
	disk  *durabletest.Disk
	log   *audit.Log
	opts  audit.Options
	next  int   // number of the next call
	stage []int // records of the calls that are open, by number; 4 if closed
	key   int
}

// options of a run: how often the log makes checkpoints of itself.
func (m *machine) start(t *rapid.T) {
	m.book = newBook()
	m.disk = durabletest.New()
	m.opts = audit.Options{Now: clock, CheckpointEvery: rapid.Int64Range(1, 40).Draw(t, "every"), Workers: rapid.IntRange(1, 3).Draw(t, "workers")}
	store, err := file.Create(m.disk, "/log", &tiny)
	if err == nil {
		m.log, err = audit.Create(context.Background(), store, begin(), logKeys()[0], m.opts)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Append begins a call, or takes one that is open further.
func (m *machine) Append(t *rapid.T) {
	n := rapid.IntRange(0, m.next).Draw(t, "call")
	if n == m.next {
		m.next++
		m.stage = append(m.stage, 0)
	}
	if m.stage[n] == 4 {
		return
	}
	to := rapid.IntRange(m.stage[n]+1, 4).Draw(t, "to")
	if err := m.append(m.log, call(n)[m.stage[n]:to]...); err != nil {
		t.Fatal(err)
	}
	m.stage[n] = to
}

// Big appends more than a block of the index at once.
func (m *machine) Big(t *rapid.T) {
	var entries []record.Entry
	for range rapid.IntRange(200, 300).Draw(t, "records") {
		entries = append(entries, record.Entry{Request: "big", Body: small(10).Body})
	}
	if err := m.append(m.log, entries...); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) Checkpoint(t *rapid.T) {
	note, err := m.log.Checkpoint(context.Background())
	if err == nil {
		_, key, _ := m.log.State().Log()
		err = m.anchor(note, key)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) Rotate(t *rapid.T) {
	m.key = (m.key + 1) % len(logKeys())
	if err := m.log.Rotate(context.Background(), logKeys()[m.key]); err != nil {
		t.Fatal(err)
	}
	m.rotated = logKeys()[m.key].Public().String()
}

// Reopen closes the log and opens it again. What the writer folded is what verifying folds, and what the snapshot has.
func (m *machine) Reopen(t *rapid.T) {
	if err := m.log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sameStates(m.disk, m.log.State()); err != nil {
		t.Fatal(err)
	}
	m.open(t, m.disk)
}

// Kill ends the process, and the machine runs on.
func (m *machine) Kill(t *rapid.T) {
	next := m.disk.Reopen()
	m.abandon()
	m.open(t, next)
}

// Crash cuts the power, between two calls or at any moment of one.
func (m *machine) Crash(t *rapid.T) {
	if rapid.Bool().Draw(t, "within") {
		m.disk.Arm(durabletest.Fault{At: rapid.IntRange(0, 12).Draw(t, "at"), Mode: durabletest.Crash})
		n := m.next
		m.next, m.stage = m.next+1, append(m.stage, 4)
		_ = m.append(m.log, call(n)...)
		m.violation = nil // that it was refused is not known of a machine that stopped
	}
	next := m.disk.Restart(durabletest.RandomSectors(rapid.Uint64().Draw(t, "sectors")))
	if rapid.Bool().Draw(t, "parts") {
		next = m.disk.Restart(durabletest.Random(rapid.Uint64().Draw(t, "seed")))
	}
	m.abandon()
	m.open(t, next)
}

// abandon ends the goroutines of a log whose process is gone.
func (m *machine) abandon() {
	m.disk.Stop()
	_ = m.log.Close()
}

// open opens the log as the next process does and checks all that was promised.
func (m *machine) open(t *rapid.T, disk *durabletest.Disk) {
	m.disk = disk
	store, err := file.Open(disk, "/log", &tiny)
	if err != nil {
		t.Fatal(err)
	}
	before, err := linesOf(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	l, found, err := openLog(context.Background(), store, m.opts)
	if err != nil {
		t.Fatal(err)
	}
	m.log = l
	whole, err := m.there(before)
	if err != nil {
		t.Fatal(err)
	}
	if err := foundIs(found, whole); err != nil {
		t.Fatal(err)
	}
	if _, key, _ := l.State().Log(); m.rotated != "" && key != m.rotated {
		t.Fatalf("the key is %s, %s was acknowledged", key, m.rotated)
	}
	for i := range m.stage { // those that were closed by the recovery cannot go on
		m.stage[i] = 4
	}
	for _, d := range found.InDoubt {
		if rapid.Bool().Draw(t, "resolve") {
			m.resolve(t, d)
		}
	}
}

func (m *machine) resolve(t *rapid.T, d audit.InDoubt) {
	e := record.Entry{Session: d.Session, Request: d.ID, Body: record.Resolved{By: "recovery", Evidence: "e", Finding: record.FoundNotExecuted}}
	if err := m.append(m.log, e); err != nil {
		t.Fatal(err)
	}
}

// sameStates holds the state that the writer of a closed log has against the others.
func sameStates(disk durable.FS, written *record.State) error {
	store, err := file.OpenRead(disk, "/log")
	if err != nil {
		return err
	}
	rep, err := audit.Verify(context.Background(), store, audit.VerifyOptions{Pin: pin(), Workers: 1})
	if err != nil || !rep.Holds() {
		return errors.Join(fmt.Errorf("verified: %+v", rep.Problem), err)
	}
	if rep.State != written.Digest() {
		return errors.New("the writer folded another state than verifying does")
	}
	snapshot, err := store.Load(context.Background(), "snapshot", 1<<20)
	if err != nil {
		return err
	}
	if len(snapshot) == 0 {
		return nil // killed before the first was saved
	}
	_, text, _ := bytes.Cut(snapshot, []byte("\n"))
	kept, err := record.ParseState(text)
	if err != nil {
		return err
	}
	if kept.Size() < rep.Signed {
		return nil // killed before it was saved, and nothing was appended since
	}
	kept.Apply(record.Record{Seq: rep.Signed, Body: record.Checkpoint{}})
	if kept.Digest() != rep.State {
		return errors.New("the snapshot has another state")
	}
	return nil
}

// Whatever happens in whatever order: see book.holds.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := new(machine)
		m.start(t)
		defer func() { m.abandon() }()
		t.Repeat(map[string]func(*rapid.T){
			"append": m.Append, "append again": m.Append, "append more": m.Append, "big": m.Big,
			"checkpoint": m.Checkpoint, "rotate": m.Rotate, "reopen": m.Reopen, "kill": m.Kill, "crash": m.Crash,
		})
		if err := m.log.Close(); err != nil {
			t.Fatal(err)
		}
		if err := m.verifies(m.disk); err != nil {
			t.Fatal(err)
		}
		if err := m.holds(m.disk.Restart(durabletest.Survivals()[0]), nil); err != nil {
			t.Fatal(err)
		}
	})
}
