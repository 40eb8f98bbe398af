package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/audit/audittest"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// tiny has a segment take two batches or so.
var tiny = Options{SegmentBytes: 30, Pad: 25, PadAfter: 10}

// ledger is what a writer knows of its log.
type ledger struct {
	acked     []byte // lines that were acknowledged
	tried     []byte // and one batch more, whose Append failed for good
	next      int64
	violation error // of what the process itself can see
}

func lines(first int64, n int, what string) []byte {
	var all []byte
	for i := range n {
		all = fmt.Appendf(all, "%d %s\n", first+int64(i), what)
	}
	return all
}

// add appends a batch. A full disk is tried again once, with other lines; after any other error the store must take nothing.
func (l *ledger) add(s audit.Store, n int, what string) error {
	var err error
	for _, attempt := range []string{"", " again"} {
		b := audit.Batch{First: l.next, Lines: lines(l.next, n, what+attempt), Reserve: 10}
		if err = s.Append(context.Background(), b); err == nil {
			l.acked = append(l.acked, b.Lines...)
			l.next += int64(n)
			return nil
		}
		if !errors.Is(err, audit.ErrFull) {
			l.tried = b.Lines
			break
		}
	}
	if errors.Is(err, audit.ErrFull) {
		return err
	}
	if again := s.Append(context.Background(), audit.Batch{First: l.next, Lines: lines(l.next, 1, "after an error")}); again == nil || errors.Is(again, audit.ErrFull) {
		l.violation = fmt.Errorf("an Append failed (%w), and the next one gave %v", err, again)
	}
	return err
}

// fill creates a log and appends to it.
func (l *ledger) fill(create func(durable.FS) (audit.Store, error), batches ...int) func(durable.FS) error {
	return func(fsys durable.FS) error {
		*l = ledger{}
		s, err := create(fsys)
		if err != nil {
			return err
		}
		for i, n := range batches {
			if err = l.add(s, n, fmt.Sprint("text ", i)); err != nil {
				break
			}
		}
		return errors.Join(err, s.Close())
	}
}

func createTiny(fsys durable.FS) (audit.Store, error) {
	s, err := Create(fsys, "/log", &tiny)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// kept is the promise: every acknowledged line, exactly and in order, and behind them at most a part of the batch that failed.
func (l *ledger) kept(disk *durabletest.Disk) error {
	s, err := OpenRead(disk, "/log")
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
	known := len(l.acked)
	if !bytes.HasPrefix(append(got, '\n'), l.acked) {
		return fmt.Errorf("%q is there, %q was acknowledged", got, l.acked)
	}
	if len(got) > known+len(l.tried) {
		return fmt.Errorf("%q is there behind %d acknowledged bytes, more than the %q that was tried", got[known:], known, l.tried)
	}
	for i := known; i < len(got); i++ {
		if c := got[i]; c != 0 && c != '\n' && (i-known >= len(l.tried) || c != l.tried[i-known]) {
			return fmt.Errorf("%q is there behind %d acknowledged bytes, %q was tried", got[known:], known, l.tried)
		}
	}
	return nil
}

// goesOn opens the log as the next process does, cuts what is torn, and appends: what is there then is exact, also after a
// power cut. The one thing that nobody can make good is left out: that the disk lost what a sync was to write, said so, and the machine
// ran on.
func (l *ledger) goesOn(c *durabletest.Case) error {
	disk := c.Disk.Reopen()
	doubtful := c.Survival == "" && (c.Struck(durabletest.Sync) || c.Struck(durabletest.SyncDir))
	s, err := createOrOpen(disk)
	if err != nil {
		return err
	}
	got, err := audittest.ReadAll(context.Background(), s)
	if err == nil && len(got) > len(l.acked) {
		err = cutBehind(s, len(l.acked))
	}
	if err != nil {
		return err
	}
	next := ledger{acked: bytes.Clone(l.acked), next: l.next}
	if err := errors.Join(next.add(s, 2, "later"), next.add(s, 1, "and later")); err != nil {
		return err
	}
	lost := disk
	if !doubtful {
		lost = disk.Restart(durabletest.Survivals()[0])
	}
	if err := errors.Join(next.kept(disk), next.kept(lost), s.Close()); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	return next.exact(disk)
}

func createOrOpen(disk *durabletest.Disk) (*Store, error) {
	s, err := Open(disk, "/log", &tiny)
	if errors.Is(err, fs.ErrNotExist) {
		return Create(disk, "/log", &tiny)
	}
	return s, err
}

// cutBehind cuts a store behind n bytes.
func cutBehind(s audit.Store, n int) error {
	var at audit.Position
	for b, err := range s.Blocks(context.Background(), at) {
		if err != nil {
			return err
		}
		part := min(n, len(b.Data))
		if n -= part; part > 0 {
			at = audit.Position{Segment: b.At.Segment, Offset: b.At.Offset + int64(part)}
		}
	}
	return s.Cut(context.Background(), at)
}

// exact says that the files hold the acknowledged lines and nothing else: a closed store has given back its room.
func (l *ledger) exact(disk *durabletest.Disk) error {
	names, err := disk.List("/log")
	if err != nil {
		return err
	}
	var all []byte
	for _, name := range names {
		if name == lockName {
			continue
		}
		data, err := disk.ReadFile("/log/" + name)
		if err != nil {
			return err
		}
		if mode, err := disk.Mode("/log/" + name); err != nil || mode != fileMode {
			return fmt.Errorf("%s has mode %v, %v", name, mode, err)
		}
		all = append(all, data...)
	}
	if !bytes.Equal(all, l.acked) {
		return fmt.Errorf("closed, the files hold %q, %q was acknowledged", all, l.acked)
	}
	return nil
}

func (l *ledger) check(c *durabletest.Case) error {
	if l.violation != nil {
		return l.violation
	}
	if err := l.kept(c.Disk); err != nil {
		return err
	}
	if c.Acked {
		if err := l.exact(c.Disk); err != nil {
			return err
		}
	}
	return l.goesOn(c)
}

func TestAppendMatrix(t *testing.T) {
	var l ledger
	n, err := durabletest.Matrix(nil, l.fill(createTiny, 1, 2, 1, 1), l.check)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", n)
}

// A batch that another process began to write is there when the next one appends.
func TestReopenMatrix(t *testing.T) {
	var l ledger
	body := func(fsys durable.FS) error {
		l = ledger{acked: lines(0, 2, "before"), next: 2}
		s, err := Open(fsys, "/log", &tiny)
		if err != nil {
			return err
		}
		if err = l.add(s, 1, "after"); err == nil {
			err = l.add(s, 1, "later")
		}
		return errors.Join(err, s.Close())
	}
	prepare := func(fsys durable.FS) error {
		var before ledger
		s, err := createTiny(fsys)
		if err != nil {
			return err
		}
		if err := before.add(s, 2, "before"); err != nil {
			return err
		}
		return s.(*Store).lock.Close() // and no Close: the room stays
	}
	n, err := durabletest.Matrix(prepare, body, l.check)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", n)
}

// While a cut is under way the log holds what it should, and behind it ever less; done again, the cut is complete.
func TestCutMatrix(t *testing.T) {
	short := tiny
	short.SegmentBytes = 10
	create := func(fsys durable.FS) (audit.Store, error) { return Create(fsys, "/log", &short) }
	var before ledger
	prepare := func(fsys durable.FS) error {
		return errors.Join(before.fill(create, 2, 2, 2, 2)(fsys), tear(fsys, "/log/"+segmentName(6)))
	}
	for _, at := range []audit.Position{{Segment: 2, Offset: 9}, {Segment: 2}, {Segment: 2, Offset: 18}, {Segment: 6, Offset: 18}, {}} {
		body := func(fsys durable.FS) error { return cutOnce(fsys, at) }
		n, err := durabletest.Matrix(prepare, body, func(c *durabletest.Case) error {
			kept := before.acked[:18*at.Segment/2+at.Offset]
			return cutCheck(c, at, kept, before.acked)
		})
		if err != nil {
			t.Errorf("%v: %v", at, err)
		}
		t.Logf("%v: %d cases", at, n)
	}
}

func tear(fsys durable.FS, path string) error {
	f, err := fsys.OpenAppend(path)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(torn))
	return errors.Join(err, f.Sync(), f.Close())
}

const torn = "8 to\n\n\n\x00\x00rn"

func cutOnce(fsys durable.FS, at audit.Position) error {
	s, err := Open(fsys, "/log", &tiny)
	if err != nil {
		return err
	}
	return errors.Join(s.Cut(context.Background(), at), s.Close())
}

// cutCheck: before are the lines that were there, kept those in front of the cut.
func cutCheck(c *durabletest.Case, at audit.Position, kept, before []byte) error {
	whole := append(bytes.Clone(before), torn...)
	s, err := OpenRead(c.Disk, "/log")
	if err != nil {
		return err
	}
	got, err := audittest.ReadAll(context.Background(), s)
	if err != nil {
		return err
	}
	if got = bytes.TrimRight(got, "\x00"); !bytes.HasPrefix(append(got, '\n'), kept) || !bytes.HasPrefix(whole, got) {
		return fmt.Errorf("%q is there", got)
	}
	disk := c.Disk.Reopen()
	if !c.Acked {
		if err := cutOnce(disk, at); err != nil {
			return fmt.Errorf("cut again: %w", err)
		}
	}
	l := ledger{acked: kept, next: int64(bytes.Count(kept, []byte("\n")))}
	if err := l.exact(disk); err != nil {
		return err
	}
	c.Disk = disk
	return l.goesOn(c)
}
