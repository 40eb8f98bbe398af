package file

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// Short commands write no padding; once much was appended there is some, and Close gives it back.
func TestRoom(t *testing.T) {
	opts := &Options{Pad: 1000, PadAfter: 12}
	s, dir := create(t, opts)
	name := segmentName(0)
	for i, step := range []struct{ reserve, size int64 }{
		{0, 4}, {10, 4 + 4 + 10}, {0, 18}, {0, 18}, {0, 18 + 1000}, {0, 1018}, {990, 1018}, {1000, 2018},
	} {
		appendTo(t, s, int64(i), fmt.Sprintf("%d a\n", i), step.reserve)
		if size := sizeOf(t, dir, name); size != step.size {
			t.Errorf("after batch %d the file has %d bytes, not %d", i, size, step.size)
		}
	}
	abandon(t, s)
	s, err := Open(durable.OS(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || sizeOf(t, dir, name) != 2018 {
		t.Errorf("opened and closed, %d bytes: %v", sizeOf(t, dir, name), err)
	}
	if s, err = Open(durable.OS(), dir, opts); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, 8, "8 a\n", 500)
	if size := sizeOf(t, dir, name); size != 2018 {
		t.Errorf("the room that was left is not used: %d bytes", size)
	}
	if err := s.Close(); err != nil || sizeOf(t, dir, name) != 36 {
		t.Errorf("closed, %d bytes: %v", sizeOf(t, dir, name), err)
	}
}

// Before that there is a little ahead, so that not every batch has the file grow.
func TestFirstRoom(t *testing.T) {
	s, dir := create(t, &Options{Pad: 1 << 20})
	for i, step := range []struct{ reserve, size int64 }{{0, 16 << 10}, {1000, 16 << 10}, {20_000, 32 << 10}, {20_000, 32 << 10}} {
		appendTo(t, s, int64(i), fmt.Sprintf("%d a\n", i), step.reserve)
		if size := sizeOf(t, dir, segmentName(0)); size != step.size {
			t.Errorf("after batch %d the file has %d bytes, not %d", i, size, step.size)
		}
	}
	if err := s.Close(); err != nil || sizeOf(t, dir, segmentName(0)) != 16 {
		t.Errorf("closed, %d bytes: %v", sizeOf(t, dir, segmentName(0)), err)
	}
}

// No more room is prepared than the segment will take.
func TestRoomEndsWithTheSegment(t *testing.T) {
	s, dir := create(t, &Options{SegmentBytes: 50, Pad: 1000, PadAfter: 1})
	appendTo(t, s, 0, "0 a\n", 0)
	appendTo(t, s, 1, "1 b\n", 0)
	if size := sizeOf(t, dir, segmentName(0)); size != 50 {
		t.Errorf("%d bytes", size)
	}
	appendTo(t, s, 2, strings.Repeat("x", 60)+"\n", 0)
	appendTo(t, s, 3, "3 c\n", 0)
	if a, b := sizeOf(t, dir, segmentName(0)), sizeOf(t, dir, segmentName(3)); a != 69 || b != 50 {
		t.Errorf("%d and %d bytes", a, b)
	}
}

// What is no batch is refused, and the store goes on.
func TestNoBatch(t *testing.T) {
	s, _ := create(t, nil)
	appendTo(t, s, 7, "7 a\n", 0)
	for what, b := range map[string]audit.Batch{
		"nothing":           {First: 8},
		"no newline":        {First: 8, Lines: []byte("8 b")},
		"an empty line":     {First: 8, Lines: []byte("\n")},
		"an empty line at":  {First: 8, Lines: []byte("8 b\n\n")},
		"a zero at its end": {First: 8, Lines: []byte("8 b\x00\n")},
		"negative reserve":  {First: 8, Lines: []byte("8 b\n"), Reserve: -1},
		"negative number":   {First: -1, Lines: []byte("8 b\n")},
		"the same number":   {First: 7, Lines: []byte("8 b\n")},
		"an older number":   {First: 6, Lines: []byte("8 b\n")},
	} {
		if err := s.Append(t.Context(), b); err == nil || errors.Is(err, audit.ErrFull) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Append(t.Context(), audit.Batch{First: 8, Lines: []byte("8 b\n"), Reserve: mostReserve + 1}); !errors.Is(err, audit.ErrFull) {
		t.Errorf("a gigabyte and a byte: %v", err)
	}
	appendTo(t, s, 8, "8 b\n", 0)
	if err := s.Cut(t.Context(), audit.Position{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), audit.Batch{First: 8, Lines: []byte("8 b\n")}); err == nil {
		t.Error("the empty segment 7 begins with line 8")
	}
	appendTo(t, s, 7, "7 c\n", 0)
	if got := content(t, s); got != "7 c\n" {
		t.Errorf("%q", got)
	}
}

// onDisk makes a store on the disk that fails, with a first batch in it, and arms a fault for the next call of a kind.
func onDisk(t *testing.T, mode durabletest.Mode, op durabletest.Op, nth int) (*durabletest.Disk, *Store) {
	t.Helper()
	probe := func(d *durabletest.Disk) *Store {
		s, err := Create(d, "/log", &tiny)
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, s, 0, "0 a\n", 0)
		d.Arm()
		return s
	}
	d := durabletest.New()
	s := probe(d)
	appendTo(t, s, 1, "1 b\n", 0)
	for at, call := range d.Calls() {
		if call.Op != op {
			continue
		}
		if nth--; nth == 0 {
			d = durabletest.New()
			s = probe(d)
			d.Arm(durabletest.Fault{At: at, Mode: mode})
			return d, s
		}
	}
	t.Fatalf("no such call in %v", d.Calls())
	return nil, nil
}

func TestPoisoned(t *testing.T) {
	d, s := onDisk(t, durabletest.FailLost, durabletest.Sync, 1)
	next := audit.Batch{First: 1, Lines: []byte("1 b\n")}
	var lost *durable.SyncError
	for i := range 3 {
		if err := s.Append(t.Context(), next); !errors.As(err, &lost) || lost.Path != "/log/"+segmentName(0) || !errors.Is(err, syscall.EIO) {
			t.Errorf("append %d: %v", i, err)
		}
	}
	if err := s.Cut(t.Context(), audit.Position{}); !errors.As(err, &lost) {
		t.Errorf("cut: %v", err)
	}
	if got := content(t, s); got != "0 a\n" {
		t.Errorf("it holds %q", got)
	}
	if err := s.Save(t.Context(), "state", nil); err != nil {
		t.Errorf("save: %v", err)
	}
	before := len(d.Calls())
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	for _, call := range d.Calls()[before:] {
		if call.Op != durabletest.Close {
			t.Errorf("closing a poisoned store makes the call %v", call)
		}
	}
	if _, err := Open(d, "/log", nil); err != nil {
		t.Errorf("open again: %v", err)
	}
}

func TestWriteErrorsAreFinal(t *testing.T) {
	for _, c := range []struct {
		mode durabletest.Mode
		nth  int
		want error
	}{
		{durabletest.FailLost, 1, syscall.EIO}, // the room
		{durabletest.FailLost, 2, syscall.EIO}, // the lines
		{durabletest.FailKept, 2, syscall.EIO},
		{durabletest.Short, 2, nil},
		{durabletest.ShortFull, 2, syscall.ENOSPC},
	} {
		_, s := onDisk(t, c.mode, durabletest.WriteAt, c.nth)
		for range 2 {
			err := s.Append(t.Context(), audit.Batch{First: 1, Lines: []byte("1 b\n")})
			if err == nil || errors.Is(err, audit.ErrFull) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v: %v", c, err)
			}
		}
		if got := content(t, s); got != "0 a\n" {
			t.Errorf("%v: it holds %q", c, got)
		}
	}
}

// A disk that is full, or takes half, when room is made: nothing has changed, and the next batch is taken.
func TestFullLeavesTheFile(t *testing.T) {
	for _, mode := range []durabletest.Mode{durabletest.Short, durabletest.ShortFull} {
		d, s := onDisk(t, mode, durabletest.WriteAt, 1)
		err := s.Append(t.Context(), audit.Batch{First: 1, Lines: []byte("1 b\n")})
		if !errors.Is(err, audit.ErrFull) || mode == durabletest.ShortFull && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v: %v", mode, err)
		}
		if data, err := d.ReadFile("/log/" + segmentName(0)); string(data) != "0 a\n" {
			t.Errorf("%v: the file holds %q, %v", mode, data, err)
		}
		appendTo(t, s, 1, "1 c\n", 0)
		if got := content(t, s); got != "0 a\n1 c\n" {
			t.Errorf("%v: %q", mode, got)
		}
	}
}

// A disk with little room takes what fits, though not the padding.
func TestLessThanPad(t *testing.T) {
	q := newQuota(durabletest.New())
	s, err := Create(q, "/log", &Options{Pad: 1000, PadAfter: 1})
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, 0, "0 a\n", 0)
	q.set(10)
	appendTo(t, s, 1, "1 b\n", 5)
	if q.free != 1 {
		t.Errorf("%d bytes are free, of 10, with 4 and 5 in use", q.free)
	}
	if err := s.Append(t.Context(), audit.Batch{First: 2, Lines: []byte("2 c\n"), Reserve: 3}); !errors.Is(err, audit.ErrFull) {
		t.Errorf("7 bytes with 6 free: %v", err)
	}
	appendTo(t, s, 2, "2 c\n", 2)
	if err := s.Close(); err != nil || q.free != 2 {
		t.Errorf("closed, %d bytes are free: %v", q.free, err)
	}
}

// What cannot be read is an error, in whatever read it happens: never less than there is.
func TestReadErrors(t *testing.T) {
	d := durabletest.New()
	s, err := Create(d, "/log", &Options{SegmentBytes: 5})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range int64(4) {
		line := fmt.Sprintf("%d a line\n", i)
		appendTo(t, s, i, line, 10)
		want.WriteString(line)
	}
	if err := s.Save(t.Context(), "state", []byte("state")); err != nil {
		t.Fatal(err)
	}
	struck := 0
	for at := 0; ; at++ {
		next := d.Reopen()
		next.Arm(durabletest.Fault{At: at, Mode: durabletest.FailLost, Read: true})
		err := readEverything(t, next, want.String())
		if len(next.Fired()) == 0 {
			break
		}
		if struck++; !errors.Is(err, syscall.EIO) {
			t.Errorf("read %d of %v fails: %v", at, next.Reads(), err)
		}
	}
	if struck < 15 {
		t.Errorf("%d reads", struck)
	}
}

// readEverything fails, or has read all of want.
func readEverything(t *testing.T, d *durabletest.Disk, want string) error {
	s, err := Open(d, "/log", &tiny)
	if err != nil {
		return err
	}
	r, err := OpenRead(d, "/log")
	if err != nil {
		return err
	}
	for _, store := range []*Store{s, r} {
		var got []byte
		for b, err := range store.Blocks(t.Context(), audit.Position{Offset: 0}) {
			if err != nil {
				return err
			}
			got = append(got, b.Data...)
		}
		if string(got) != want {
			t.Errorf("%q is read", got)
		}
		if data, err := store.Load(t.Context(), "state", 10); err != nil || string(data) != "state" {
			return err
		}
	}
	return s.Cut(t.Context(), audit.Position{Segment: 1})
}
