package audit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
)

// everything has tests try all of what they otherwise take a sample of.
var everything = flag.Bool("log.everything", false, "try every case of the fault matrix, every cut and every flipped bit; takes an hour")

// life is the body of a matrix: a log is created, has calls in every stage, checkpoints, and another key.
func (b *book) life(fsys durable.FS) error {
	b.reset()
	store, err := b.open(fsys, file.Create)
	if err != nil {
		return err
	}
	l, err := audit.Create(context.Background(), b.watch(store), begin(), logKeys()[0], rarely())
	if err != nil {
		return errors.Join(err, store.Close())
	}
	err = b.steps(l,
		func() error { return b.append(l, call(0)...) },
		func() error { return b.append(l, call(1)[:3]...) },
		func() error { return b.checkpoint(l) },
		func() error { return b.append(l, call(1)[3:]...) },
		func() error { return b.append(l, call(2)[:2]...) },
		func() error { return b.rotate(l, logKeys()[1]) },
		func() error { return b.append(l, call(3)[:3]...) },
		func() error { return b.append(l, call(4)[:1]...) },
	)
	return errors.Join(err, l.Close())
}

func (b *book) steps(l *audit.Log, steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// again is the body of a matrix on a disk where a log lies: it is opened and goes on.
func (b *book) again(fsys durable.FS) error {
	b.reset()
	for i := range 5 {
		for _, e := range call(i) {
			b.tried[entryID(e.Body.Kind(), e.Request)] = true
		}
	}
	store, err := b.open(fsys, file.Open)
	if err != nil {
		return err
	}
	k := logKeys()
	l, _, err := audit.Open(context.Background(), b.watch(store), pin(), rarely(), k[0], k[1])
	if err != nil {
		return errors.Join(err, store.Close())
	}
	err = b.steps(l,
		func() error { return b.append(l, call(10)...) },
		func() error { return b.checkpoint(l) },
		func() error { return b.append(l, call(11)[:3]...) },
	)
	return errors.Join(err, l.Close())
}

// check is for a matrix. The one thing that nobody can make good is left out: that the disk lost what a sync was to write, said
// so, and the machine ran on.
func (b *book) check(c *durabletest.Case) error {
	disk := c.Disk.Reopen()
	lost := func() durable.FS { return disk.Restart(durabletest.Survivals()[0]) }
	if c.Survival == "" && (c.Struck(durabletest.Sync) || c.Struck(durabletest.SyncDir)) {
		lost = nil
	}
	return b.holds(disk, lost)
}

// matrix is durabletest.Matrix, or a sample of it: every fault at every call, and of the crashes behind a fault and of the disks that
// may follow from each every so many. It ends with the first case that does not hold.
func matrix(prepare, body func(durable.FS) error, check func(*durabletest.Case) error, every int) (cases int, err error) {
	if *everything {
		return durabletest.Matrix(prepare, body, check)
	}
	m := sampling{prepare: prepare, body: body, check: check, every: every}
	modes := []durabletest.Mode{durabletest.Crash, durabletest.FailLost, durabletest.FailKept, durabletest.Short, durabletest.ShortFull}
	for calls := m.try(); m.err == nil && len(modes) > 0; modes = modes[1:] {
		for i := 0; i < calls && m.err == nil; i++ {
			first := durabletest.Fault{At: i, Mode: modes[0]}
			later := m.try(first)
			if m.n++; later > i+1 && modes[0] != durabletest.Crash {
				m.try(first, durabletest.Fault{At: i + 1 + m.n%(later-i-1), Mode: durabletest.Crash})
			}
		}
	}
	return m.cases, m.err
}

type sampling struct {
	prepare, body func(durable.FS) error
	check         func(*durabletest.Case) error
	every         int
	n, cases      int
	err           error
}

// try runs the body under faults and says how many calls it made.
func (m *sampling) try(faults ...durabletest.Fault) (calls int) {
	d := durabletest.New()
	if m.prepare != nil {
		if m.err = m.prepare(d); m.err != nil {
			return 0
		}
		d.Settle()
	}
	d.Arm(faults...)
	c := durabletest.Case{Disk: d, Err: m.body(d)}
	c.Faults, c.Calls, c.Crashed = d.Fired(), d.Calls(), d.Crashed()
	if len(c.Faults) < len(faults) {
		return len(c.Calls)
	}
	if !c.Crashed {
		m.one(c)
	}
	for _, s := range durabletest.Survivals() {
		if m.n++; m.n%m.every == 0 {
			next := c
			next.Survival, next.Disk = s.Name, d.Restart(s)
			m.one(next)
		}
	}
	return len(c.Calls)
}

func (m *sampling) one(c durabletest.Case) {
	if m.err != nil {
		return
	}
	m.cases++
	if err := m.check(&c); err != nil {
		m.err = fmt.Errorf("%v: %w", &c, err)
	}
}

func TestMatrixOfLife(t *testing.T) {
	b := newBook()
	n, err := matrix(nil, b.life, b.check, 8)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", n)
}

// crashed leaves on a disk what a crash leaves of a life: calls in every stage, and a tail that is torn.
func crashed(torn string) func(durable.FS) error {
	return func(fsys durable.FS) error {
		b := newBook()
		store, err := file.Create(fsys, "/log", &tiny)
		if err != nil {
			return err
		}
		failing := false
		watched := b.watch(store).(*hooked)
		watched.append = func(ctx context.Context, batch audit.Batch) error {
			if failing {
				return errors.New("the process ends here")
			}
			return store.Append(ctx, batch)
		}
		l, err := audit.Create(context.Background(), watched, begin(), logKeys()[0], rarely())
		if err != nil {
			return err
		}
		err = b.steps(l,
			func() error { return b.append(l, call(0)...) },
			func() error { return b.checkpoint(l) },
			func() error { return b.append(l, call(1)[:3]...) },
			func() error { return b.append(l, call(2)[:2]...) },
			func() error { return b.append(l, call(3)[:1]...) },
		)
		failing = true
		_ = l.Close()
		if err == nil && torn != "" {
			err = tear(fsys, torn)
		}
		return err
	}
}

func TestMatrixOfRecovery(t *testing.T) {
	for _, torn := range []string{"", `{"batch":12,"body":`, "\n\n\x00\x00\xff}\n{"} {
		b := newBook()
		n, err := matrix(crashed(torn), b.again, b.check, 8)
		if err != nil {
			t.Errorf("%q: %v", torn, err)
		}
		t.Logf("%q: %d cases", torn, n)
	}
}

func TestMatrixOfReads(t *testing.T) {
	for _, torn := range []string{"", `{"batch":12,"body":`, "\n\n\x00\x00\xff}\n{"} {
		b := newBook()
		n, err := durabletest.MatrixReads(crashed(torn), b.again, b.check)
		if err != nil {
			t.Errorf("%q: %v", torn, err)
		}
		t.Logf("%q: %d cases", torn, n)
	}
}
