package durable_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// replacing is one replacement of target under way, in steps that can be left out or moved.
type replacing struct {
	fsys durable.FS
	file durable.File
	temp string
}

type step func(*replacing) error

func (r *replacing) write() error {
	n, err := r.file.Write([]byte(newText))
	if err == nil && n < len(newText) {
		return io.ErrShortWrite
	}
	return err
}

func (r *replacing) writeAnyLength() error {
	_, err := r.file.Write([]byte(newText))
	return err
}

func (r *replacing) sync() error    { return r.file.Sync() }
func (r *replacing) close() error   { return r.file.Close() }
func (r *replacing) rename() error  { return r.fsys.Rename(r.temp, target) }
func (r *replacing) syncDir() error { return r.fsys.SyncDir("/home") }

func twice(s step) step {
	return func(r *replacing) error {
		if s(r) == nil {
			return nil
		}
		return s(r)
	}
}

func ignored(s step) step {
	return func(r *replacing) error { s(r); return nil }
}

func inSteps(steps ...step) func(durable.FS) error {
	return func(fsys durable.FS) error {
		err := withoutTidying(steps...)(fsys)
		if err == nil {
			return nil
		}
		fsys.Remove(tempName)
		return fmt.Errorf("%w", &durable.SyncError{Path: tempName, Err: err})
	}
}

const tempName = "/home/" + durable.TempPrefix + "x"

func withoutTidying(steps ...step) func(durable.FS) error {
	return func(fsys durable.FS) error {
		f, err := fsys.Create(tempName, 0o640)
		r := &replacing{fsys, f, tempName}
		for i := 0; i < len(steps) && err == nil; i++ {
			err = steps[i](r)
		}
		return err
	}
}

func inPlace(fsys durable.FS) error {
	f, err := fsys.OpenAppend(target)
	if err != nil {
		return err
	}
	r := &replacing{fsys: fsys, file: f}
	return errors.Join(f.Truncate(0), r.write(), f.Sync())
}

// The planted bugs: a matrix that does not catch them proves nothing. Where the bug is one of durability it must be the
// content after a crash that gives it away.
func TestWriteFileMatrixCatches(t *testing.T) {
	write, anyLength, sync, closing := (*replacing).write, (*replacing).writeAnyLength, (*replacing).sync, (*replacing).close
	rename, syncDir := (*replacing).rename, (*replacing).syncDir
	if _, err := durabletest.Matrix(withOld, inSteps(write, sync, closing, rename, syncDir), oldOrNew(true)); err != nil {
		t.Errorf("the correct steps do not hold, so the planted bugs show nothing: %v", err)
	}
	for what, body := range map[string]func(durable.FS) error{
		"no fsync of the file":           inSteps(write, closing, rename, syncDir),
		"no fsync of the directory":      inSteps(write, sync, closing, rename),
		"rename before fsync":            inSteps(write, rename, sync, closing, syncDir),
		"directory synced before rename": inSteps(write, sync, closing, syncDir, rename),
		"fsync repeated":                 inSteps(write, twice(sync), closing, rename, syncDir),
		"directory fsync repeated":       inSteps(write, sync, closing, rename, twice(syncDir)),
		"short write not noticed":        inSteps(anyLength, sync, closing, rename, syncDir),
		"error of fsync ignored":         inSteps(write, ignored(sync), closing, rename, syncDir),
		"error of the directory ignored": inSteps(write, sync, closing, rename, ignored(syncDir)),
		"error of rename ignored":        inSteps(write, sync, closing, ignored(rename), syncDir),
		"written in place":               inPlace,
	} {
		caught(t, what, body, whole(true))
	}
	caught(t, "temporary file left after failure", withoutTidying(write, sync, closing, rename, syncDir), tidy)
}

func caught(t *testing.T, what string, body func(durable.FS) error, check func(*durabletest.Case) error) {
	t.Helper()
	_, err := durabletest.Matrix(withOld, body, check)
	if err == nil {
		t.Errorf("%s: not caught", what)
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	t.Logf("%s: %s", what, first)
}
