package audit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/record"
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
	m := sampling{prepare: prepare, body: body, check: check, every: every * 2 * sparser}
	modes := []durabletest.Mode{durabletest.Crash, durabletest.FailLost, durabletest.FailKept, durabletest.Short, durabletest.ShortFull}
	if every > 8 { // the long ones; what is to catch planted bugs tries all
		modes = modes[:max(len(modes)/sparser, 1)]
	}
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
	t.Parallel()
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
	t.Parallel()
	for _, torn := range []string{"", `{"batch":12,"body":`, "\n\n\x00\x00\xff}\n{"} {
		b := newBook()
		n, err := matrix(crashed(torn), b.again, b.check, 16)
		if err != nil {
			t.Errorf("%q: %v", torn, err)
		}
		t.Logf("%q: %d cases", torn, n)
	}
}

func TestMatrixOfReads(t *testing.T) {
	t.Parallel()
	for _, torn := range []string{"", "\n\n\x00\x00\xff}\n{"} {
		b := newBook()
		looked := 0
		n, err := durabletest.MatrixReads(crashed(torn), b.again, func(c *durabletest.Case) error {
			if looked++; looked%(5*sparser) != 0 && !*everything {
				return nil
			}
			return b.check(c)
		})
		if err != nil {
			t.Errorf("%q: %v", torn, err)
		}
		t.Logf("%q: %d cases", torn, n)
	}
}

// indexed is the body of a matrix with an index: blocks of records are completed before and behind checkpoints.
func (b *book) indexed(fsys durable.FS) error {
	b.reset()
	for i := range 300 {
		b.tried[entryID(record.KindKeyCreated, fmt.Sprint(i))] = true
	}
	store, err := b.open(fsys, file.Open)
	if err != nil {
		return err
	}
	l, _, err := audit.Open(context.Background(), b.watch(store), pin(), rarely(), logKeys()[0])
	if err != nil {
		return errors.Join(err, store.Close())
	}
	err = b.steps(l,
		func() error { return b.append(l, many(0, 200)...) },
		func() error { return b.checkpoint(l) },
		func() error { return b.append(l, many(200, 300)...) },
		func() error { return b.append(l, call(1)[:3]...) },
	)
	return errors.Join(err, l.Close())
}

// many are short records.
func many(from, to int) []record.Entry {
	var out []record.Entry
	for i := range to - from {
		e := small(1)
		e.Request = fmt.Sprint(from + i)
		out = append(out, e)
	}
	return out
}

// before leaves a log with a block of the index, closed.
func before(fsys durable.FS) error {
	b := newBook()
	store, err := file.Create(fsys, "/log", &tiny)
	if err != nil {
		return err
	}
	l, err := audit.Create(context.Background(), b.watch(store), begin(), logKeys()[0], rarely())
	if err != nil {
		return err
	}
	return errors.Join(b.append(l, many(0, 300)...), l.Close())
}

// Whatever becomes of the index, proofs are right.
func TestMatrixOfIndex(t *testing.T) {
	t.Parallel()
	b := newBook()
	n, err := matrix(before, b.indexed, func(c *durabletest.Case) error {
		if err := b.check(c); err != nil {
			return err
		}
		store, err := file.OpenRead(c.Disk, "/log")
		if err != nil {
			return err
		}
		v, err := audit.Read(context.Background(), store, pin(), rarely(), logKeys()[0].Public())
		if err != nil {
			return err
		}
		_, signed := v.Newest()
		for _, seq := range []int64{0, 255, 256, signed - 1} {
			if _, err := v.Receipt(context.Background(), seq); err != nil {
				return fmt.Errorf("receipt %d of %d: %w", seq, signed, err)
			}
		}
		return nil
	}, 16)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", n)
}

// The power fails while many append and the log makes checkpoints of itself.
func TestCrashOfMany(t *testing.T) {
	t.Parallel()
	rounds := 40 / sparser
	if *everything {
		rounds = 5000
	}
	acked := 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBook()
		d := durabletest.New()
		store, err := file.Create(d, "/log", &tiny)
		must(t, err)
		l, err := audit.Create(t.Context(), store, begin(), logKeys()[0], audit.Options{CheckpointEvery: 1 + r.Int64N(60)})
		must(t, err)
		d.Arm(durabletest.Fault{At: r.IntN(200), Mode: durabletest.Crash})
		var mu sync.Mutex // guards b
		var wg sync.WaitGroup
		for w := range 12 {
			wg.Go(func() {
				for i := 0; ; i++ {
					entries := call(100*w + i)[:1+(w+i)%4]
					mu.Lock()
					for _, e := range entries {
						b.tried[entryID(e.Body.Kind(), e.Request)] = true
					}
					mu.Unlock()
					marks, err := l.Append(context.Background(), entries...)
					if err != nil {
						return
					}
					mu.Lock()
					for _, m := range marks {
						b.acked[m.Seq] = m.Hash
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		_ = l.Close() // the machine stopped
		acked += len(b.acked)
		if err := b.holds(d.Restart(durabletest.RandomSectors(seed)), nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := b.holds(d.Restart(durabletest.Random(seed)), nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d records were acknowledged", acked)
}
