package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// killedThenCut kills a process at every call it makes, while the kernel lives on. The next process opens the store, reads it and appends;
// what it read and what it acknowledged must be there after a power cut. open may have a bug.
func killedThenCut(open func(durable.FS) (*Store, error)) error {
	for i := 0; ; i++ {
		var l ledger
		d := durabletest.New()
		d.Arm(durabletest.Fault{At: i, Mode: durabletest.Crash})
		_ = l.fill(createTiny, 1, 2, 1, 1)(d)
		if !d.Crashed() {
			return nil
		}
		for _, survival := range durabletest.Survivals() {
			next, l := d.Reopen(), l
			l.acked = bytes.Clone(l.acked)
			if err := readThenCut(&l, next, open, survival); err != nil {
				return fmt.Errorf("killed at call %d, then %s: %w", i, survival.Name, err)
			}
		}
	}
}

func readThenCut(l *ledger, disk *durabletest.Disk, open func(durable.FS) (*Store, error), survival durabletest.Survival) error {
	s, err := open(disk)
	if errors.Is(err, fs.ErrNotExist) && len(l.acked) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	got, err := audittest.ReadAll(context.Background(), s)
	if err != nil {
		return err
	}
	if err := l.kept(disk); err != nil {
		return err
	}
	seen := ledger{acked: append(got, '\n'), next: l.next}
	if len(got) == 0 {
		seen.acked = nil
	}
	if err := seen.kept(disk.Restart(survival)); err != nil {
		return fmt.Errorf("what was read: %w", err)
	}
	if !bytes.Equal(seen.acked, l.acked) {
		if err := cutBehind(s, len(l.acked)); err != nil {
			return err
		}
	}
	for _, n := range []int{1, 2, 1} {
		if err := l.add(s, n, "later"); err != nil {
			return err
		}
		if err := l.kept(disk.Restart(survival)); err != nil {
			return fmt.Errorf("appended later: %w", err)
		}
	}
	return nil
}

func TestWhatIsReadStays(t *testing.T) {
	open := func(fsys durable.FS) (*Store, error) { return Open(fsys, "/log", &tiny) }
	if err := killedThenCut(open); err != nil {
		t.Error(err)
	}
	for what, bug := range map[string]func(*hooked){
		"the last segment is not synced": onFiles(func(f *badFile) { f.sync = func() error { return nil } }),
		"the directory is not synced":    func(h *hooked) { h.syncDir = allBut(h, "/log") },
	} {
		err := killedThenCut(func(fsys durable.FS) (*Store, error) {
			h := &hooked{FS: fsys}
			bug(h)
			s, err := open(h)
			if err != nil {
				return nil, err
			}
			s.fsys = fsys // the bug is in opening alone
			if s.tail != nil {
				s.tail.file, err = fsys.OpenAt(s.tail.path)
			}
			return s, err
		})
		if err == nil {
			t.Errorf("%s: not caught", what)
		}
		t.Logf("%s: %v", what, err)
	}
}
