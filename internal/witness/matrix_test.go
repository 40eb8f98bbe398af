package witness

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// scene is a witness that has cosigned size 3 of a log, or nothing, and is then asked for one history and perhaps for the other,
// which it may cosign only if it has not cosigned the one.
type scene struct {
	histories []*witnesstest.Log
	asks      int // how many of them are offered
	first     int64
	disk      func(durable.FS) durable.FS // what lies between the witness and the disk
	steps     steps
	running   *Witness // from prepare
	released  []point  // cosignatures that left
	before    int      // how many of them before the body
	opened    int      // calls that were made when the witness was open
}

func (s *scene) open(fsys durable.FS) (*Witness, error) {
	return Open(fsys, dir, Options{Name: name, Logs: []string{s.histories[0].VerifierKey()}})
}

func (s *scene) prepare(fsys durable.FS) (err error) {
	if s.running, err = s.open(s.disk(fsys)); err != nil || s.first == 0 {
		return err
	}
	if o, out := ask(s.running, s.histories[0].Request(0, s.first)); o != Cosigned {
		return fmt.Errorf("%s: %s", o, out)
	}
	return nil
}

// body asks the witness that runs, or starts one.
func (s *scene) body(fsys durable.FS) (err error) {
	s.released = nil
	if s.first > 0 {
		s.released = []point{{s.first, s.histories[0].Root(s.first)}}
	}
	s.before = len(s.released)
	w := s.running
	if w == nil {
		if w, err = s.open(s.disk(fsys)); err != nil {
			return err
		}
	}
	defer w.Close()
	s.opened = len(fsys.(*durabletest.Disk).Calls())
	for i, l := range s.histories[:s.asks] {
		size := int64(10 + i)
		if _, e := w.cosign(s.steps, l.Request(s.first, size)); e.Outcome == Cosigned {
			s.released = append(s.released, point{size, l.Root(size)})
		}
	}
	return nil
}

// check starts the witness again: it must start, and stand where every cosignature that left is behind it.
func (s *scene) check(c *durabletest.Case) error {
	d := c.Disk
	if c.Survival == "" {
		d = d.Reopen()
	}
	w, err := s.open(d)
	if err != nil {
		return fmt.Errorf("it does not start: %w", err)
	}
	defer w.Close()
	held := w.logs[origin].held
	for _, p := range s.released {
		if p.size > held.size {
			return fmt.Errorf("%d was cosigned, and it stands at %d", p.size, held.size)
		}
	}
	if err := oneHistory(s.histories, append(slices.Clone(s.released), point{held.size, held.root})); err != nil {
		return err
	}
	syncFailed := len(c.Faults) > 0 && c.Faults[0].At >= s.opened && (c.Struck(durabletest.Sync) || c.Struck(durabletest.SyncDir))
	if syncFailed && len(s.released) > s.before {
		return errors.New("cosigned after the disk did not confirm a write")
	}
	return nil
}

func plain(fsys durable.FS) durable.FS { return fsys }

func newScene(first int64, asks int, s steps) *scene {
	l := grown(12)
	fork := l.Fork(first)
	fork.Grow(12, "other")
	return &scene{histories: []*witnesstest.Log{l, fork}, asks: asks, first: first, disk: plain, steps: s}
}

func TestMatrix(t *testing.T) {
	for what, s := range map[string]*scene{"the first": newScene(0, 1, right()), "a further": newScene(3, 2, right())} {
		cases, err := durabletest.Matrix(s.prepare, s.body, s.check)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		t.Logf("%s: %d cases", what, cases)
	}
}

// TestFirstStartMatrix: a witness that is killed while it makes its directory starts the next time.
func TestFirstStartMatrix(t *testing.T) {
	s := newScene(0, 0, right())
	if cases, err := durabletest.Matrix(nil, s.body, s.check); err != nil {
		t.Errorf("%d cases: %v", cases, err)
	}
}

func TestMatrixCatches(t *testing.T) {
	ignoring := func(w *Witness, origin string, cosigned []byte) error {
		_ = w.keep(origin, cosigned)
		return nil
	}
	planted := map[string]*scene{
		"answers before it has kept":        newScene(3, 1, steps{judge, ignoring}),
		"answers before it has kept, first": newScene(0, 1, steps{judge, ignoring}),
		"kept nowhere":                      newScene(3, 1, mutants()["kept nowhere"]),
		"keeps without sync":                newScene(3, 1, right()),
		"keeps without sync of names":       newScene(3, 1, right()),
		"does not stop":                     newScene(3, 2, steps{judge, neverStops}),
	}
	planted["keeps without sync"].disk = func(f durable.FS) durable.FS { return unsynced{f, true, false} }
	planted["keeps without sync of names"].disk = func(f durable.FS) durable.FS { return unsynced{f, false, true} }
	for what, s := range planted {
		var first error
		_, err := durabletest.Matrix(s.prepare, s.body, func(c *durabletest.Case) error {
			if first == nil {
				first = s.check(c)
			}
			return first // one is enough
		})
		if err == nil {
			t.Errorf("%s: not caught", what)
			continue
		}
		t.Logf("%s: %v", what, first)
	}
}

// neverStops hides what kind of error it was.
func neverStops(w *Witness, origin string, cosigned []byte) error {
	if err := w.keep(origin, cosigned); err != nil {
		return errors.New("something was wrong")
	}
	return nil
}

// unsynced is a file system whose syncs do nothing.
type unsynced struct {
	durable.FS
	data, names bool
}

func (u unsynced) Create(path string, perm fs.FileMode) (durable.File, error) {
	f, err := u.FS.Create(path, perm)
	if err != nil || !u.data {
		return f, err
	}
	return unsyncedFile{f}, nil
}

func (u unsynced) SyncDir(path string) error {
	if u.names {
		return nil
	}
	return u.FS.SyncDir(path)
}

type unsyncedFile struct{ durable.File }

func (unsyncedFile) Sync() error { return nil }
