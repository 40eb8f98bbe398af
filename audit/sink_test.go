package audit_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/store/file"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

// patience is what an Append has while the disk hangs.
const patience = 10 * time.Millisecond

// impatient appends with deadlines. It gives the errors that are neither of the context nor nil.
func (b *book) impatient(l *audit.Log) error {
	do := func(f func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := f(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	}
	var failed error
	for i := range 3 {
		for _, part := range [][]record.Entry{call(i)[:3], call(i)[3:]} {
			failed = errors.Join(failed, do(func(ctx context.Context) error {
				for _, e := range part {
					b.tried[entryID(e.Body.Kind(), e.Request)] = true
				}
				marks, err := l.Append(ctx, part...)
				for _, m := range marks {
					b.acked[m.Seq] = m.Hash
				}
				if err != nil && !errors.Is(err, audit.ErrUnknown) && ctx.Err() == nil {
					return err
				}
				return nil
			}))
		}
		failed = errors.Join(failed, do(func(ctx context.Context) error {
			_, err := l.Checkpoint(ctx)
			return err
		}))
	}
	return failed
}

// A disk that hangs at any call holds up nobody beyond the deadline; when it goes on, so does the log, and nothing was lost.
func TestHang(t *testing.T) {
	t.Parallel()
	cases := 0
	for i, ended := 0, false; !ended; i++ {
		for _, then := range []durabletest.Mode{0, durabletest.FailLost, durabletest.Crash} {
			d := durabletest.New()
			d.Arm(durabletest.Fault{At: i, Mode: durabletest.Hang})
			struck, err := hang(t, d, then)
			if err != nil {
				t.Fatalf("call %d hangs, then %v: %v", i, then, err)
			}
			if !struck {
				ended = true
				break
			}
			cases++
		}
	}
	if cases < 50 {
		t.Errorf("only %d cases", cases)
	}
	t.Logf("%d cases", cases)
}

// hang makes a log on a disk, appends, and closes it; what hangs is released when the appends are over, or at once where there is
// nobody whose deadline could pass.
func hang(t *testing.T, d *durabletest.Disk, then durabletest.Mode) (struck bool, err error) {
	t.Helper()
	appending, appended, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b := newBook()
	released := make(chan bool, 1)
	go func() {
		select {
		case <-d.Hung():
			select {
			case <-appending:
				<-appended
			default:
			}
			d.Release(then)
			released <- true
		case <-done:
			released <- false
		}
	}()
	store, err := file.Create(d, "/log", &tiny)
	var l *audit.Log
	if err == nil {
		if l, err = audit.Create(t.Context(), store, begin(), logKeys()[0], rarely()); err != nil {
			_ = store.Close()
		}
	}
	if err == nil {
		close(appending)
		err = b.impatient(l) // it would never end if it waited for the disk: that goes on only now
		close(appended)
		_ = l.Close() // what hung may have failed
	}
	close(done)
	if struck = <-released; !struck && err != nil {
		return struck, err
	}
	if d.Crashed() {
		d = d.Restart(durabletest.Survivals()[0])
	}
	return struck, b.holds(d.Reopen(), nil)
}

// fullable is a file system that can get full: then no file grows.
type fullable struct {
	durable.FS
	full atomic.Bool
}

func (f *fullable) Create(path string, perm fs.FileMode) (durable.File, error) {
	file, err := f.FS.Create(path, perm)
	if err != nil {
		return nil, err
	}
	return fullFile{file, f}, nil
}

func (f *fullable) OpenAt(path string) (durable.FileAt, error) {
	file, err := f.FS.OpenAt(path)
	if err != nil {
		return nil, err
	}
	return fullFileAt{file, f}, nil
}

type fullFile struct {
	durable.File
	fs *fullable
}

func (f fullFile) Write(p []byte) (int, error) {
	if f.fs.full.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.Write(p)
}

type fullFileAt struct {
	durable.FileAt
	fs *fullable
}

func (f fullFileAt) WriteAt(p []byte, off int64) (int, error) {
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	if f.fs.full.Load() && off+int64(len(p)) > size {
		return 0, syscall.ENOSPC
	}
	return f.FileAt.WriteAt(p, off)
}

// outcome is the longest that a call can have.
func outcome(i int) record.Entry {
	e := call(i)[3]
	e.Body = record.Executed{Outcome: record.Outcome{Detail: strings.Repeat("x", record.MaxLine-700), Readings: []record.Change{}}}
	return e
}

// On a full disk nothing more is admitted, and every call that was admitted gets its outcome, the longest there is; also where
// checkpoints and changes of the key come in between. When there is room again the log goes on.
func fullDisk(t testing.TB, l *audit.Log, intents int, fill func(full bool)) error {
	ctx := context.Background()
	for i := range intents {
		if _, err := l.Append(ctx, call(i)[:3]...); err != nil {
			return err
		}
	}
	fill(true)
	refused := false
	for range 2000 { // what room there is beyond the reserve
		_, err := l.Append(ctx, small(0))
		if refused = errors.Is(err, audit.ErrFull); refused {
			break
		}
		if err != nil {
			return err
		}
	}
	if !refused {
		return errors.New("the disk never got full")
	}
	for i := range intents {
		if _, err := l.Append(ctx, call(1000+i)...); !errors.Is(err, audit.ErrFull) {
			return errors.Join(errors.New("a call was admitted on a full disk"), err)
		}
		if err := l.Rotate(ctx, logKeys()[0]); err != nil && !errors.Is(err, audit.ErrFull) {
			return err
		}
		if _, err := l.Checkpoint(ctx); err != nil && !errors.Is(err, audit.ErrFull) {
			return err
		}
		if _, err := l.Append(ctx, outcome(i)); err != nil {
			return errors.Join(errors.New("the outcome of a call that was admitted"), err)
		}
	}
	fill(false)
	if _, err := l.Append(ctx, call(2000)...); err != nil {
		return errors.Join(errors.New("there is room again"), err)
	}
	if calls := l.State().Calls(); len(calls) != 0 {
		return errors.New("calls are open")
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, intents := range []int{1, 2, 7} {
		for free := int64(0); free < 1500; free += 13 * sparser {
			m := &audittest.Memory{}
			l := create(t, m, rarely())
			err := fullDisk(t, l, intents, func(full bool) {
				if full {
					m.Free(free)
				} else {
					m.Free(-1)
				}
			})
			must(t, errors.Join(err, l.Close()))
		}
		fsys := &fullable{FS: durabletest.New()}
		store, err := file.Create(fsys, "/log", &tiny)
		must(t, err)
		l, err := audit.Create(t.Context(), store, begin(), trusttest.NewKey(1), rarely())
		must(t, err)
		must(t, fullDisk(t, l, intents, fsys.full.Store))
		must(t, l.Close())
	}
	// Without a reserve the outcome is refused: the check sees it.
	m := &audittest.Memory{}
	inner, err := m.Open()
	must(t, err)
	mutant := within(func(h *hooked) {
		h.append = func(ctx context.Context, b audit.Batch) error {
			b.Reserve = 0
			return inner.Append(ctx, b)
		}
	})
	l, err := audit.Create(t.Context(), mutant.store(inner), begin(), trusttest.NewKey(1), rarely())
	must(t, err)
	if err := fullDisk(t, l, 2, func(bool) { m.Free(700) }); err == nil {
		t.Error("a log without a reserve passes")
	}
	_ = l.Close()
}
