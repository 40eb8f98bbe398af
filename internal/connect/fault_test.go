package connect

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/iff-run/iff/internal/durable"
)

var errFault = errors.New("planted")

// faulty is the real file system, whose call number at fails, and with dead every
// later one too, as for a process that is killed.
type faulty struct {
	durable.FS
	at, calls int
	dead      bool
}

func (f *faulty) fails() bool {
	f.calls++
	return f.calls == f.at || f.dead && f.calls > f.at
}

func (f *faulty) Create(path string, perm fs.FileMode) (durable.File, error) {
	if f.fails() {
		return nil, errFault
	}
	return f.FS.Create(path, perm)
}

func (f *faulty) Rename(old, new string) error {
	if f.fails() {
		return errFault
	}
	return f.FS.Rename(old, new)
}

func (f *faulty) Link(old, new string) error {
	if f.fails() {
		return errFault
	}
	return f.FS.Link(old, new)
}

func (f *faulty) Remove(path string) error {
	if f.fails() {
		return errFault
	}
	return f.FS.Remove(path)
}

func (f *faulty) Mkdir(path string, perm fs.FileMode) error {
	if f.fails() {
		return errFault
	}
	return f.FS.Mkdir(path, perm)
}

func (f *faulty) SyncDir(path string) error {
	if f.fails() {
		return errFault
	}
	return f.FS.SyncDir(path)
}

// TestKilledWhileConnecting: wherever connecting is killed, connecting again closes
// and undoing gives everything back; undoing at once does too. An error that does
// not kill leaves nothing behind.
func TestKilledWhileConnecting(t *testing.T) {
	for _, a := range Agents() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, dead := range []bool{false, true} {
				for _, again := range []bool{false, true} {
					for at := 1; ; at++ {
						if !killedAt(t, a, at, dead, again) {
							break
						}
					}
				}
			}
		})
	}
}

// killedAt is one case; false if the fault came too late to matter.
func killedAt(t *testing.T, a Agent, at int, dead, again bool) bool {
	w := newWorld(t)
	for path, text := range given["comments"] {
		w.put(path, text)
	}
	before := w.files()
	err := w.connect(a, &faulty{FS: durable.OS(), at: at, dead: dead}, User, Project)
	if err == nil {
		return false
	}
	if !dead && !again {
		w.undo(a)
		w.same("an error", before)
	}
	if again {
		w.must(w.connect(a, nil, User, Project))
		for _, f := range Check(a, w.Place, []Level{User, Project}) {
			if f.Status == "no" {
				t.Errorf("call %d: after connecting again: %s", at, f.What)
			}
		}
	}
	w.undo(a)
	w.same("undoing", before)
	if t.Failed() {
		t.Fatalf("%s, call %d, dead %v, again %v", a.Name, at, dead, again)
	}
	return true
}
