package file

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// robberies are ways to take the lock from a store that has it.
var robberies = map[string]func(dir string) error{
	"the lock is removed":   func(dir string) error { return os.Remove(filepath.Join(dir, lockName)) },
	"the lock is moved":     func(dir string) error { return os.Rename(filepath.Join(dir, lockName), filepath.Join(dir, "was")) },
	"the directory is gone": func(dir string) error { return errors.Join(os.Rename(dir, dir+".away"), os.Mkdir(dir, dirMode)) },
	"a copy is in its place": func(dir string) error {
		return errors.Join(os.Rename(dir, dir+".away"), os.CopyFS(dir, os.DirFS(dir+".away")))
	},
}

// changing is all that changes a store.
var changing = map[string]func(t *testing.T, s *Store) error{
	"append": func(t *testing.T, s *Store) error {
		return s.Append(t.Context(), audit.Batch{First: 1, Lines: []byte("1 x\n")})
	},
	"append with room": func(t *testing.T, s *Store) error {
		return s.Append(t.Context(), audit.Batch{First: 1, Lines: []byte("1 x\n"), Reserve: 4000})
	},
	"append to a new segment": func(t *testing.T, s *Store) error {
		s.opts.SegmentBytes = 1
		return s.Append(t.Context(), audit.Batch{First: 1, Lines: []byte("1 x\n")})
	},
	"cut":    func(t *testing.T, s *Store) error { return s.Cut(t.Context(), audit.Position{}) },
	"save":   func(t *testing.T, s *Store) error { return s.Save(t.Context(), "state", []byte("x")) },
	"extend": func(t *testing.T, s *Store) error { return s.Extend(t.Context(), "state", 0, []byte("x")) },
	"close":  func(_ *testing.T, s *Store) error { return s.Close() },
}

// robbed has a store lose its lock to another, and then change something. Nothing of the other's may suffer.
func robbed(t *testing.T, fsys durable.FS, rob func(string) error, change func(*testing.T, *Store) error) error {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	s, err := Create(fsys, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	appendTo(t, s, 0, "0 a\n", 300)
	if err := rob(dir); err != nil {
		t.Fatal(err)
	}
	other, err := Open(durable.OS(), dir, nil)
	if err != nil {
		return fmt.Errorf("nobody else can open it: %w", err)
	}
	defer other.Close()
	next := int64(strings.Count(content(t, other), "\n"))
	appendTo(t, other, next, fmt.Sprintf("%d b\n", next), 100)
	before := files(t, dir)
	var lost *durable.LostError
	for range 2 { // it stays so
		if err := change(t, s); !errors.As(err, &lost) {
			return fmt.Errorf("the answer is %w", err)
		}
		if s.closed {
			break
		}
	}
	if after := files(t, dir); !maps.Equal(before, after) {
		return fmt.Errorf("there was %q, and now %q", before, after)
	}
	appendTo(t, other, next+1, fmt.Sprintf("%d c\n", next+1), 0)
	if got, want := content(t, other), fmt.Sprintf("%d b\n%d c\n", next, next+1); !strings.HasSuffix(got, want) || len(got) != 4*int(next+2) {
		return fmt.Errorf("it holds %q", got)
	}
	return nil
}

// files is what lies in a directory and in the one that was moved away, but for the locks.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, d := range []string{dir, dir + ".away"} {
		entries, err := os.ReadDir(d)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == lockName || e.Name() == "was" {
				continue
			}
			data, err := os.ReadFile(filepath.Join(d, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.Join(filepath.Base(d), e.Name())] = string(data)
		}
	}
	return all
}

// TestRobbed: a store whose lock was taken from it changes nothing any more.
func TestRobbed(t *testing.T) {
	for how, rob := range robberies {
		for what, change := range changing {
			if err := robbed(t, durable.OS(), rob, change); err != nil {
				t.Errorf("%s, %s: %v", how, what, err)
			}
		}
	}
}

// blind never sees that the lock was lost.
type blind struct{ durable.Lock }

func (blind) Held() error { return nil }

func TestRobbedCatches(t *testing.T) {
	unasked := &hooked{FS: durable.OS(), lock: func(l durable.Lock) durable.Lock { return blind{l} }}
	for how, rob := range robberies {
		for what, change := range changing {
			if err := robbed(t, unasked, rob, change); err == nil {
				t.Errorf("%s, %s: not caught", how, what)
			}
		}
	}
}

// Once lost is lost, even if all is put back: what others wrote meanwhile is not known.
func TestLostForGood(t *testing.T) {
	for what, change := range changing {
		s, dir := create(t, nil)
		appendTo(t, s, 0, "0 a\n", 300)
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		var lost *durable.LostError
		if err := change(t, s); !errors.As(err, &lost) {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		for then, change := range changing {
			if err := change(t, s); then != "close" && !s.closed && !errors.As(err, &lost) {
				t.Errorf("%s, then %s: %v", what, then, err)
			}
		}
		_ = s.Close() // it may say again what was lost
		again, err := Open(durable.OS(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, again); got != "0 a\n" {
			t.Errorf("%s: it holds %q", what, got)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// questions is how often a change asks for the lock. One that takes long asks again in between.
var questions = []struct {
	what string
	has  int64 // lines; three make a segment
	ask  int
	do   func(t *testing.T, s *Store) error
}{
	{"append", 8, 2, func(t *testing.T, s *Store) error {
		return s.Append(t.Context(), audit.Batch{First: 8, Lines: []byte("8 x\n")})
	}},
	{"append to a new segment", 9, 3, func(t *testing.T, s *Store) error {
		return s.Append(t.Context(), audit.Batch{First: 9, Lines: []byte("9 x\n"), Reserve: 50})
	}},
	{"cut two segments off", 8, 3, func(t *testing.T, s *Store) error {
		return s.Cut(t.Context(), audit.Position{Segment: 0, Offset: 4})
	}},
	{"save", 8, 1, changing["save"]},
	{"extend", 8, 1, changing["extend"]},
	{"close", 8, 1, changing["close"]},
}

// TestLostBetween: whichever question it is that says that the lock was lost, nothing is changed after it but that a temporary file is
// removed.
func TestLostBetween(t *testing.T) {
	for _, q := range questions {
		for nth := range q.ask + 1 {
			d, asked, after := durabletest.New(), -1000, 0 // what prepares is not counted
			count := func() error {
				if asked++; asked == nth {
					after = len(d.Calls())
					return &durable.LostError{Path: "/log/lock"}
				}
				return nil
			}
			s := asking(t, d, count, q.has)
			asked = 0
			err := q.do(t, s)
			var lost *durable.LostError
			if nth == 0 && (err != nil || asked != q.ask) || nth > 0 && !errors.As(err, &lost) {
				t.Errorf("%s, question %d: %d were asked: %v", q.what, nth, asked, err)
			}
			if nth > 0 {
				onlyTidied(t, d, after, fmt.Sprintf("%s, question %d", q.what, nth))
			}
		}
	}
}

// asking makes a store with so many lines, whose lock answers by held.
func asking(t *testing.T, d *durabletest.Disk, held func() error, lines int64) *Store {
	t.Helper()
	fsys := &hooked{FS: d, lock: func(l durable.Lock) durable.Lock { return counted{l, held} }}
	s, err := Create(fsys, "/log", &Options{SegmentBytes: 9, Pad: 100, PadAfter: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		appendTo(t, s, i, fmt.Sprintf("%d a\n", i), 0)
	}
	return s
}

// onlyTidied refuses all calls from one on but those that close files and remove temporary ones, which must not stay.
func onlyTidied(t *testing.T, d *durabletest.Disk, from int, what string) {
	t.Helper()
	temporary := func(name string) bool { return strings.Contains(name, durable.TempPrefix) }
	for _, c := range d.Calls()[from:] {
		if c.Op != durabletest.Close && (c.Op != durabletest.Remove || !temporary(c.Path)) {
			t.Errorf("%s: then %v", what, c)
		}
	}
	if names, err := d.List("/log"); err != nil || slices.ContainsFunc(names, temporary) {
		t.Errorf("%s: left %q, %v", what, names, err)
	}
}

// counted is a lock that answers otherwise.
type counted struct {
	durable.Lock
	held func() error
}

func (c counted) Held() error { return c.held() }
