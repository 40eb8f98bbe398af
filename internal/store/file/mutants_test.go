package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// hooked is a file system on which calls are made wrongly, as a store with a bug would make them.
type hooked struct {
	durable.FS
	fileAt  func(durable.FileAt) durable.FileAt
	syncDir func(string) error
	rename  func(old, new string) error
	open    func(path string) (durable.Reader, error)
	lock    func(durable.Lock) durable.Lock
}

func (h *hooked) Lock(path string) (durable.Lock, error) {
	l, err := h.FS.Lock(path)
	if err == nil && h.lock != nil {
		l = h.lock(l)
	}
	return l, err
}

func (h *hooked) Open(path string) (durable.Reader, error) {
	if h.open != nil {
		return h.open(path)
	}
	return h.FS.Open(path)
}

func (h *hooked) OpenAt(path string) (durable.FileAt, error) {
	f, err := h.FS.OpenAt(path)
	if err == nil && h.fileAt != nil {
		f = h.fileAt(f)
	}
	return f, err
}

func (h *hooked) SyncDir(path string) error {
	if h.syncDir != nil {
		return h.syncDir(path)
	}
	return h.FS.SyncDir(path)
}

func (h *hooked) Rename(old, new string) error {
	if h.rename != nil {
		return h.rename(old, new)
	}
	return h.FS.Rename(old, new)
}

// badFile is a file some of whose calls are replaced.
type badFile struct {
	durable.FileAt
	write    func([]byte, int64) (int, error)
	truncate func(int64) error
	sync     func() error
}

func (f *badFile) WriteAt(p []byte, off int64) (int, error) { return f.write(p, off) }
func (f *badFile) Truncate(size int64) error                { return f.truncate(size) }
func (f *badFile) Sync() error                              { return f.sync() }

// closing does something before it closes a file.
type closing struct {
	durable.FileAt
	before func(error) error
}

func (c closing) Close() error { return errors.Join(c.before(nil), c.FileAt.Close()) }

// onFiles plants a bug in every file that is written.
func onFiles(bug func(*badFile)) func(*hooked) {
	return func(h *hooked) {
		h.fileAt = func(f durable.FileAt) durable.FileAt {
			b := &badFile{f, f.WriteAt, f.Truncate, f.Sync}
			bug(b)
			return b
		}
	}
}

// badStore appends wrongly.
type badStore struct {
	audit.Store
	append func(context.Context, audit.Batch) error
}

func (s badStore) Append(ctx context.Context, b audit.Batch) error { return s.append(ctx, b) }

// bugs in how the store uses its files.
var bugs = map[string]func(*hooked){
	"no sync": onFiles(func(f *badFile) { f.sync = func() error { return nil } }),
	"the error of a sync is ignored": onFiles(func(f *badFile) {
		f.sync = func() error { _ = f.FileAt.Sync(); return nil }
	}),
	"a sync repeated after it failed": onFiles(func(f *badFile) {
		f.sync = func() error {
			if f.FileAt.Sync() == nil {
				return nil
			}
			return f.FileAt.Sync()
		}
	}),
	"released before the sync": onFiles(func(f *badFile) {
		due := false
		f.sync = func() error { due = true; return nil }
		f.write = func(p []byte, off int64) (int, error) {
			if due {
				due = false
				if err := f.FileAt.Sync(); err != nil {
					return 0, err
				}
			}
			return f.FileAt.WriteAt(p, off)
		}
	}),
	"sealed without a sync": onFiles(func(f *badFile) {
		cut := false
		f.truncate = func(size int64) error { cut = true; return f.FileAt.Truncate(size) }
		f.sync = func() error {
			if cut {
				cut = false
				return nil
			}
			return f.FileAt.Sync()
		}
	}),
	"not sealed": onFiles(func(f *badFile) { f.truncate = func(int64) error { return nil } }),
	"sealed a byte too short": onFiles(func(f *badFile) {
		f.truncate = func(size int64) error { return f.FileAt.Truncate(size - 1) }
	}),
	"the error of a write is ignored": onFiles(func(f *badFile) {
		f.write = func(p []byte, off int64) (int, error) { _, _ = f.FileAt.WriteAt(p, off); return len(p), nil }
	}),
	"a write repeated after it failed": onFiles(func(f *badFile) {
		f.write = func(p []byte, off int64) (int, error) {
			n, err := f.FileAt.WriteAt(p, off)
			if errors.Is(err, io.ErrShortWrite) {
				_, _ = f.FileAt.WriteAt(p, off+int64(n))
				err = nil
			}
			return len(p), err
		}
	}),
	"a new segment used before its name is durable": func(h *hooked) { h.syncDir = allBut(h, "/log") },
	"the directory's own name is not durable":       func(h *hooked) { h.syncDir = allBut(h, "/") },
	"the old segment is sealed after the new one has its name": func(h *hooked) {
		var seal []func() error
		now := func(err error) error {
			for _, s := range seal {
				err = errors.Join(err, s())
			}
			seal = nil
			return err
		}
		h.fileAt = func(f durable.FileAt) durable.FileAt {
			b := &badFile{f, f.WriteAt, f.Truncate, f.Sync}
			b.truncate = func(size int64) error {
				seal = append(seal, func() error { return errors.Join(f.Truncate(size), f.Sync()) })
				return nil
			}
			return closing{b, now}
		}
		h.rename = func(old, new string) error { return now(h.FS.Rename(old, new)) }
	},
}

// allBut syncs all directories but one.
func allBut(h *hooked, not string) func(string) error {
	return func(path string) error {
		if path == not {
			return nil
		}
		return h.FS.SyncDir(path)
	}
}

// storeBugs are bugs above the files.
var storeBugs = map[string]func(*Store, durable.FS) audit.Store{
	"audit.ErrFull after writing": func(s *Store, _ durable.FS) audit.Store {
		return badStore{s, func(ctx context.Context, b audit.Batch) error {
			err := s.Append(ctx, b)
			if errors.Is(err, audit.ErrFull) && s.tail != nil {
				p := b.Lines[:len(b.Lines)/2]
				n, _ := s.tail.file.WriteAt(p, s.tail.end)
				s.tail.size = max(s.tail.size, s.tail.end+int64(n))
				s.tail.end += int64(n)
			}
			return err
		}}
	},
	"audit.ErrFull for a batch that was taken": func(s *Store, _ durable.FS) audit.Store {
		return badStore{s, func(ctx context.Context, b audit.Batch) error {
			err := s.Append(ctx, b)
			if err == nil && b.First == 1 {
				err = audit.ErrFull
			}
			return err
		}}
	},
	"opened again after an error": func(s *Store, fsys durable.FS) audit.Store {
		return &reopening{s, fsys}
	},
	"released before it is written": func(s *Store, _ durable.FS) audit.Store {
		return badStore{s, func(ctx context.Context, b audit.Batch) error {
			err := s.Append(ctx, b)
			if errors.Is(err, syscall.EIO) {
				err = nil
			}
			return err
		}}
	},
}

// reopening does not stop when the disk failed.
type reopening struct {
	*Store
	fsys durable.FS
}

func (r *reopening) Append(ctx context.Context, b audit.Batch) error {
	err := r.Store.Append(ctx, b)
	if err == nil || errors.Is(err, audit.ErrFull) {
		return err
	}
	_ = r.Close()
	s, failed := Open(r.fsys, "/log", &tiny)
	if failed != nil {
		return err
	}
	r.Store = s
	return r.Store.Append(ctx, b)
}

func TestAppendMatrixCatches(t *testing.T) {
	for what, bug := range bugs {
		create := func(fsys durable.FS) (audit.Store, error) {
			h := &hooked{FS: fsys}
			bug(h)
			return createTiny(h)
		}
		caught(t, what, create)
	}
	for what, bug := range storeBugs {
		create := func(fsys durable.FS) (audit.Store, error) {
			s, err := Create(fsys, "/log", &tiny)
			if err != nil {
				return nil, err
			}
			return bug(s, fsys), nil
		}
		caught(t, what, create)
	}
}

// caught runs the matrix until the bug shows.
func caught(t *testing.T, what string, create func(durable.FS) (audit.Store, error)) {
	t.Helper()
	var l ledger
	var found error
	fill := l.fill(create, 1, 2, 1, 1)
	body := func(fsys durable.FS) error {
		if found != nil {
			return found
		}
		return fill(fsys)
	}
	check := func(c *durabletest.Case) error {
		if found == nil {
			found = l.check(c)
		}
		return nil
	}
	n, err := durabletest.Matrix(nil, body, check)
	if found == nil || err != nil {
		t.Errorf("%s: not caught in %d cases: %v", what, n, err)
		return
	}
	t.Logf("%s: %s", what, last(found.Error(), 250))
}

func last(s string, n int) string { return fmt.Sprintf("...%s", s[max(0, len(s)-n):]) }
