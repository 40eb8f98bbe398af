package home_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/home"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/skill"
	"github.com/iff-run/iff/trust"
)

var errFault = errors.New("planted fault")

// faulty fails the at-th operation, before it happens or after.
type faulty struct {
	durable.FS
	at      int
	persist bool
	count   int
}

func (f *faulty) op(do func() error) error {
	f.count++
	if f.count != f.at {
		return do()
	}
	if f.persist {
		if err := do(); err != nil {
			return err
		}
	}
	return errFault
}

func (f *faulty) open(do func() (durable.File, error)) (durable.File, error) {
	var file durable.File
	err := f.op(func() (err error) { file, err = do(); return err })
	if err != nil {
		if file != nil {
			_ = file.Close()
		}
		return nil, err
	}
	return faultyFile{file, f}, nil
}

func (f *faulty) Create(path string, perm fs.FileMode) (durable.File, error) {
	return f.open(func() (durable.File, error) { return f.FS.Create(path, perm) })
}
func (f *faulty) OpenAppend(path string) (durable.File, error) {
	return f.open(func() (durable.File, error) { return f.FS.OpenAppend(path) })
}
func (f *faulty) Rename(a, b string) error { return f.op(func() error { return f.FS.Rename(a, b) }) }
func (f *faulty) Link(a, b string) error   { return f.op(func() error { return f.FS.Link(a, b) }) }
func (f *faulty) Remove(path string) error { return f.op(func() error { return f.FS.Remove(path) }) }
func (f *faulty) SyncDir(path string) error {
	return f.op(func() error { return f.FS.SyncDir(path) })
}
func (f *faulty) Mkdir(path string, perm fs.FileMode) error {
	return f.op(func() error { return f.FS.Mkdir(path, perm) })
}

func (f *faulty) OpenAt(path string) (file durable.FileAt, err error) {
	if err = f.op(func() (err error) { file, err = f.FS.OpenAt(path); return err }); err != nil {
		if file != nil {
			_ = file.Close()
		}
		return nil, err
	}
	return faultyFileAt{file, f}, nil
}

type faultyFileAt struct {
	durable.FileAt
	fs *faulty
}

func (f faultyFileAt) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.op(func() error { n, err = f.FileAt.WriteAt(p, off); return err })
	return n, err
}
func (f faultyFileAt) Sync() error { return f.fs.op(f.FileAt.Sync) }
func (f faultyFileAt) Truncate(size int64) error {
	return f.fs.op(func() error { return f.FileAt.Truncate(size) })
}

type faultyFile struct {
	durable.File
	fs *faulty
}

func (f faultyFile) Write(p []byte) (n int, err error) {
	err = f.fs.op(func() error { n, err = f.File.Write(p); return err })
	return n, err
}
func (f faultyFile) Sync() error  { return f.fs.op(f.File.Sync) }
func (f faultyFile) Close() error { return f.fs.op(f.File.Close) }
func (f faultyFile) Truncate(size int64) error {
	return f.fs.op(func() error { return f.File.Truncate(size) })
}

// TestFaultMatrix fails every file operation of every writing verb, once not
// persisted and once persisted. Whatever happens, the home opens afterwards,
// nothing that did not happen is believed, and the verb can be repeated.
func TestFaultMatrix(t *testing.T) {
	template := newHome(t)
	newSigner := func(h *home.Home) trust.Entry {
		return trust.Entry{ID: "new", PublicKey: trusttest.NewKey(9).Public(), Clearance: h.Root().Scheme().Bottom().Parts(), NotAfter: trust.Never}
	}
	for name, verb := range map[string]func(h *home.Home, s string) error{
		"adopt": func(h *home.Home, s string) error {
			_, err := h.Adopt(t.Context(), s, home.AdoptOptions{})
			return err
		},
		"adopt in the home": func(h *home.Home, s string) error {
			_, err := h.Adopt(t.Context(), s, home.AdoptOptions{InHome: true})
			return err
		},
		"sign": func(h *home.Home, s string) error {
			_, err := h.Sign(t.Context(), s, home.SignOptions{Key: "me", Passphrase: pass, Level: "declared"})
			return err
		},
		"trust add": func(h *home.Home, _ string) error {
			if _, ok := h.Root().ByKey(trusttest.NewKey(9).Public()); ok {
				return nil // the repetition of one that did happen
			}
			return h.AddSigner(t.Context(), newSigner(h), pass)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, persist := range []bool{false, true} {
				for at := 1; ; at++ {
					if at > 200 {
						t.Fatal("no end to the operations")
					}
					if !faultAt(t, template, verb, at, persist) {
						break
					}
				}
			}
		})
	}
}

// faultAt reports whether there was an at-th operation to fail.
func faultAt(t *testing.T, template string, verb func(*home.Home, string) error, at int, persist bool) bool {
	t.Helper()
	what := fmt.Sprintf("operation %d, persisted %v", at, persist)
	work := t.TempDir()
	dir, s := filepath.Join(work, "h"), filepath.Join(work, "s")
	must(t, os.CopyFS(dir, os.DirFS(template)))
	must(t, os.Chmod(dir, 0o700))
	must(t, os.Chmod(filepath.Join(dir, "keys", "adopter.key"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "keys", "log-1.key"), 0o600))
	must(t, os.Mkdir(s, 0o755))
	must(t, os.WriteFile(filepath.Join(s, "SKILL.md"), []byte("---\nname: s\ndescription: d\n---\n"), 0o644))

	fsys := &faulty{FS: durable.OS(), at: at, persist: persist}
	h, err := home.Open(t.Context(), dir, home.Write, home.Options{FS: fsys})
	if err == nil {
		err = verb(h, s)
		if closed := h.Close(); closed != nil && !errors.Is(closed, errFault) {
			t.Errorf("%s: closing: %v", what, closed)
		}
	}
	if fsys.count < at {
		if err != nil {
			t.Fatalf("%s: without a fault: %v", what, err)
		}
		return false
	}
	if err != nil && !errors.Is(err, errFault) {
		t.Errorf("%s: the cause is lost: %v", what, err)
	}
	believed(t, what, dir, s, err == nil)

	again, err := home.Open(t.Context(), dir, home.Write, home.Options{})
	if err != nil {
		t.Fatalf("%s: the home does not open any more: %v", what, err)
	}
	defer again.Close()
	if err := verb(again, s); err != nil {
		t.Errorf("%s: cannot be repeated: %v", what, err)
	}
	return true
}

// believed checks that a skill which loads was recorded, and that what was
// acknowledged is there.
func believed(t *testing.T, what, dir, s string, acknowledged bool) {
	t.Helper()
	h, err := home.Open(t.Context(), dir, home.Read, home.Options{})
	if err != nil {
		t.Fatalf("%s: the home does not open any more: %v", what, err)
	}
	defer h.Close()
	p, err := h.Read(s)
	must(t, err)
	r := skill.Verify(p, h.Terms())
	if _, recorded := h.State().Placed(s); r.Err == nil && !recorded {
		t.Errorf("%s: loads without a record", what)
	}
	if _, signed := h.State().Placed(s); acknowledged && signed && r.Err != nil {
		t.Errorf("%s: acknowledged, and does not load: %v", what, r.Err)
	}
}

// TestFaultMatrixOfInit fails every operation of making a home: there is a
// whole one afterwards, or none.
func TestFaultMatrixOfInit(t *testing.T) {
	if raceEnabled {
		t.Log("NOT RUN under the race detector: deriving keys dozens of times takes minutes there; go test runs it without")
		return
	}
	for at := 1; ; at += 13 {
		dir := filepath.Join(t.TempDir(), "h")
		fsys := &faulty{FS: durable.OS(), at: at, persist: at%2 == 0}
		h, err := home.Init(t.Context(), dir, home.Plan{Operator: "me", Scheme: trusttest.Scheme("default"), Passphrase: []byte(secret)}, home.Options{FS: fsys})
		if err == nil {
			must(t, h.Close())
		}
		if fsys.count < at {
			return
		}
		if _, statErr := os.Stat(dir); statErr == nil {
			open(t, dir, home.Read)
		} else if err == nil {
			t.Errorf("operation %d: acknowledged, and there is no home", at)
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".iff-init-*"))
		must(t, err)
		if len(left) > 0 {
			t.Errorf("operation %d: %v is left behind", at, left)
		}
	}
}
