package anchor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// place makes a path hold something.
func place(t testing.TB, d durable.FS, path string, data []byte) {
	t.Helper()
	if err := durable.WriteFile(d, path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFileRefuses has each reason of a file that holds size 5.
func TestFileRefuses(t *testing.T) {
	l := grown(12)
	fork := l.Fork(3)
	fork.Grow(12, "other")
	other := witnesstest.New("iff/log/other")
	other.Grow(12, "leaf")
	impostor := witnesstest.New(origin)
	impostor.Grow(12, "leaf")
	broken := errors.New("planted")
	for what, c := range map[string]struct {
		holds, given []byte
		extend       Extend
		put, newest  Reason
	}{
		"takes":                       {nil, l.Checkpoint(9), extend(l, 9), "", ""},
		"the same again":              {nil, l.Checkpoint(5), nil, "", ""},
		"other extension lines":       {nil, l.Checkpoint(5, "chain 00"), nil, "", ""},
		"smaller":                     {nil, l.Checkpoint(4), extend(l, 4), Rollback, ""},
		"the same size, another root": {nil, fork.Checkpoint(5), extend(fork, 5), Forked, ""},
		"larger, another history":     {nil, fork.Checkpoint(9), extend(fork, 9), Forked, ""},
		"no proof":                    {nil, l.Checkpoint(9), nil, Unproven, ""},
		"proof cannot be had":         {nil, l.Checkpoint(9), func(context.Context, int64) ([]tlog.Hash, error) { return nil, broken }, Unproven, ""},
		"another log":                 {nil, other.Checkpoint(9), extend(other, 9), OtherLog, ""},
		"another key":                 {nil, impostor.Checkpoint(9), extend(l, 9), BadSignature, ""},
		"not a checkpoint":            {nil, []byte("text"), nil, Invalid, ""},
		"holds another log":           {other.Checkpoint(3), l.Checkpoint(9), extend(l, 9), OtherLog, OtherLog},
		"holds another key":           {impostor.Checkpoint(3), l.Checkpoint(9), extend(l, 9), BadSignature, BadSignature},
		"holds junk":                  {[]byte("junk"), l.Checkpoint(9), extend(l, 9), Invalid, Invalid},
		"holds nothing":               {[]byte(""), l.Checkpoint(9), extend(l, 9), Invalid, Invalid},
		"holds much":                  {bytes.Repeat([]byte("x\n"), maxNote), l.Checkpoint(9), extend(l, 9), Invalid, Invalid},
		"holds a fork":                {fork.Checkpoint(5), l.Checkpoint(9), extend(l, 9), Forked, Forked},
		"holds more":                  {l.Checkpoint(10), l.Checkpoint(9), extend(l, 9), Rollback, ""},
		"was set back":                {l.Checkpoint(4), l.Checkpoint(9), extend(l, 9), Gone, ""},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDisk(t)
			f := mustFile(t, d, l)
			mustPut(t, f, l, 5)
			if c.holds != nil {
				place(t, d, elsewhere, c.holds)
			}
			if _, _, err := f.Newest(t.Context()); reasonOf(t, err) != c.newest {
				t.Errorf("newest: %v", err)
			}
			before, _ := d.ReadFile(elsewhere)
			err := f.Put(t.Context(), c.given, c.extend)
			if reasonOf(t, err) != c.put || strings.HasPrefix(what, "proof cannot") && !errors.Is(err, broken) {
				t.Fatalf("%v", err)
			}
			after, _ := d.ReadFile(elsewhere)
			if want := map[bool][]byte{true: before, false: c.given}[err != nil]; !bytes.Equal(after, want) {
				t.Errorf("it holds %q", after)
			}
			isContradiction := c.put == Rollback || c.put == Forked
			var e *Error
			if errors.As(err, &e) && isContradiction != (e.Held != nil) {
				t.Errorf("evidence %q", e.Held)
			}
		})
	}
}

func TestFileIsEmptyAtFirst(t *testing.T) {
	l := grown(3)
	f := mustFile(t, newDisk(t), l)
	if size := stands(t, f); size != -1 {
		t.Errorf("%d", size)
	}
	mustPut(t, f, l, 3)
	v, _, err := f.Newest(t.Context())
	if err != nil || v.Size != 3 || v.Root != l.Root(3) || !bytes.Equal(v.Note, l.Checkpoint(3)) || !v.Time.IsZero() || v.By != "file "+elsewhere {
		t.Errorf("%+v %v", v, err)
	}
}

// The key of the log may change between a checkpoint and the next.
func TestKeysRotate(t *testing.T) {
	l := grown(9)
	d := newDisk(t)
	mustPut(t, mustFile(t, d, l), l, 5)
	old := l.Verifier()
	l.Rotate()
	if err := mustFile(t, d, l).Put(t.Context(), l.Checkpoint(9), extend(l, 9)); reasonOf(t, err) != BadSignature {
		t.Errorf("the key before is not known: %v", err)
	}
	a, err := Open(Spec{Place: elsewhere}, Log{origin, note.VerifierList(old, l.Verifier())}, Options{FS: d, Dir: copies})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, a, l, 9)
}

// TestFileForgets: whoever takes the file away, or sets it back, is noticed, and the copy says what was there.
func TestFileForgets(t *testing.T) {
	l := grown(9)
	for what, c := range map[string]struct {
		do     func(d *durabletest.Disk) error
		reason Reason
	}{
		"removed":     {func(d *durabletest.Disk) error { return d.Remove(elsewhere) }, Gone},
		"set back":    {func(d *durabletest.Disk) error { return durable.WriteFile(d, elsewhere, l.Checkpoint(4), 0o600) }, Gone},
		"not mounted": {func(d *durabletest.Disk) error { return errors.Join(d.Remove(elsewhere), d.Remove("/elsewhere")) }, Unreachable},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDisk(t)
			f := mustFile(t, d, l)
			mustPut(t, f, l, 5)
			if err := c.do(d); err != nil {
				t.Fatal(err)
			}
			v, ok, err := f.Newest(t.Context())
			if err != nil || !ok || v.Size != 5 || reasonOf(t, v.Offline) != c.reason {
				t.Errorf("%+v %v", v, err)
			}
			if err := f.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); reasonOf(t, err) != c.reason {
				t.Errorf("%v", err)
			}
			if c.reason != Gone {
				return
			}
			if err := f.Put(t.Context(), l.Checkpoint(4), extend(l, 4)); reasonOf(t, err) != Rollback {
				t.Errorf("both went back: %v", err)
			}
			// The loss is known.
			if err := d.Remove(f.copy); err != nil {
				t.Fatal(err)
			}
			mustPut(t, f, l, 9)
		})
	}
}

func TestCopyDamaged(t *testing.T) {
	l := grown(9)
	d := newDisk(t)
	f := mustFile(t, d, l)
	mustPut(t, f, l, 5)
	good, _ := d.ReadFile(f.copy)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 7)
		place(t, d, f.copy, bad)
		if _, _, err := f.Newest(t.Context()); err == nil {
			t.Errorf("byte %d changed: not noticed", i)
		}
		if err := f.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); err == nil {
			t.Fatalf("byte %d changed: taken", i)
		}
	}
}

// TestFileDisk: an error of the disk is not a checkpoint taken, and one of a sync is final.
func TestFileDisk(t *testing.T) {
	l := grown(9)
	d := newDisk(t)
	f := mustFile(t, d, l)
	d.Arm(durabletest.Fault{At: 1, Mode: durabletest.ShortFull})
	if err := f.Put(t.Context(), l.Checkpoint(5), nil); reasonOf(t, err) != Unwritable {
		t.Errorf("%v", err)
	}
	mustPut(t, f, l, 5)
	d.Arm(durabletest.Fault{At: 2, Mode: durabletest.FailLost})
	var lost *durable.SyncError
	for range 2 {
		if err := f.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); reasonOf(t, err) != Unwritable || !errors.As(err, &lost) {
			t.Errorf("%v", err)
		}
	}
	mustPut(t, mustFile(t, d, l), l, 9)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mustFile(t, d, l).Put(ctx, l.Checkpoint(9), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestRealFile: links are not followed, a FIFO is not waited for, permissions let others look.
func TestRealFile(t *testing.T) {
	l := grown(9)
	dir := t.TempDir()
	path := filepath.Join(dir, "iff.checkpoint")
	a, err := Open(Spec{Place: path}, logOf(l), Options{FS: durable.OS(), Dir: filepath.Join(dir, "copies")})
	if err != nil {
		t.Fatal(err)
	}
	mustPut(t, a, l, 5)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path)); err != nil {
		t.Fatal(err)
	}
	if err := a.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); reasonOf(t, err) != Unreachable {
		t.Errorf("a link: %v", err)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := a.Put(t.Context(), l.Checkpoint(9), extend(l, 9)); err == nil {
		t.Error("a directory is taken for a file")
	}
}

// matrixOf is the matrix of an anchor that holds a first size, or nothing, and is given 5 by put.
func matrixOf(l *witnesstest.Log, first int64, under func(durable.FS) durable.FS, put func(f *fileAnchor, checkpoint []byte, extend Extend) error) (prepare, body func(durable.FS) error, check func(*durabletest.Case) error) {
	var f *fileAnchor
	var taken int64
	prepare = func(d durable.FS) (err error) {
		if err := makeDirs(d); err != nil {
			return err
		}
		if f, err = openedFile(under(d), l); err != nil {
			return err
		}
		if first == 0 {
			return nil
		}
		return f.Put(context.Background(), l.Checkpoint(first), nil)
	}
	body = func(durable.FS) error {
		taken = first
		err := put(f, l.Checkpoint(5), extend(l, 5))
		if err == nil {
			taken = 5
		}
		return err
	}
	check = func(c *durabletest.Case) error {
		d := c.Disk
		if c.Survival == "" {
			d = d.Reopen()
		}
		next, err := openedFile(d, l)
		if err != nil {
			return err
		}
		v, ok, err := next.Newest(context.Background())
		if err != nil || !ok && taken > 0 || v.Offline != nil || v.Size < taken {
			return fmt.Errorf("%d was taken, and it holds %d (%v, %v)", taken, v.Size, v.Offline, err)
		}
		return next.Put(context.Background(), l.Checkpoint(12), extend(l, 12))
	}
	return prepare, body, check
}

func plain(fsys durable.FS) durable.FS { return fsys }

func rightPut(f *fileAnchor, checkpoint []byte, extend Extend) error {
	return f.Put(context.Background(), checkpoint, extend)
}

// A checkpoint that was taken is there after any crash, and the anchor never looks as if it had forgotten.
func TestFileMatrix(t *testing.T) {
	for _, first := range []int64{0, 3} {
		cases, err := durabletest.Matrix(matrixOf(grown(12), first, plain, rightPut))
		if err != nil {
			t.Errorf("from %d: %v", first, err)
		}
		t.Logf("from %d: %d cases", first, cases)
	}
}

func TestFileMatrixCatches(t *testing.T) {
	l := grown(12)
	written := func(f *fileAnchor, checkpoint []byte, paths ...string) error {
		for _, path := range paths {
			if err := f.write(path, checkpoint, 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	for what, c := range map[string]struct {
		under func(durable.FS) durable.FS
		put   func(f *fileAnchor, checkpoint []byte, extend Extend) error
	}{
		"data not synced":  {func(f durable.FS) durable.FS { return unsynced{f, true, false} }, rightPut},
		"names not synced": {func(f durable.FS) durable.FS { return unsynced{f, false, true} }, rightPut},
		"copy first": {plain, func(f *fileAnchor, checkpoint []byte, _ Extend) error {
			return written(f, checkpoint, f.copy, f.path)
		}},
		"error ignored": {plain, func(f *fileAnchor, checkpoint []byte, extend Extend) error {
			_ = rightPut(f, checkpoint, extend)
			return nil
		}},
	} {
		prepare, body, check := matrixOf(l, 3, c.under, c.put)
		var first error
		_, err := durabletest.Matrix(prepare, body, func(c *durabletest.Case) error {
			if first == nil {
				first = check(c)
			}
			return first // one is enough
		})
		if err == nil {
			t.Errorf("%s: not caught", what)
		}
		t.Logf("%s: %v", what, first)
	}
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
