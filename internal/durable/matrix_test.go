package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

const (
	target  = "/home/file"
	oldText = "the old content"
	newText = "the new content, which is longer"
)

// withOld is a disk on which target holds oldText.
func withOld(fsys durable.FS) error {
	return errors.Join(without(fsys), durable.WriteFile(fsys, target, []byte(oldText), 0o600))
}

func without(fsys durable.FS) error { return fsys.Mkdir("/home", 0o700) }

func newContent(fsys durable.FS) error {
	return durable.WriteFile(fsys, target, []byte(newText), 0o640)
}

// held is what target holds, "" and false if it does not exist.
func held(d *durabletest.Disk) (string, bool, error) {
	data, err := d.ReadFile(target)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// whole is the heart of WriteFile's promise: one content or the other, each whole, and the new one once acknowledged.
func whole(hadOld bool) func(*durabletest.Case) error {
	return func(c *durabletest.Case) error {
		text, exists, err := held(c.Disk)
		isNew := exists && text == newText
		switch {
		case err != nil:
			return err
		case !isNew && (exists != hadOld || exists && text != oldText):
			return fmt.Errorf("neither old nor new: %q, exists %v", text, exists)
		case c.Acked && !isNew:
			return errors.New("acknowledged, and the old content is there")
		}
		return nil
	}
}

// oldOrNew is all of it: also the old content after an error that came before the rename, the mode, a *SyncError for a
// sync, and nothing temporary left by a process that lives and could remove it.
func oldOrNew(hadOld bool) func(*durabletest.Case) error {
	return func(c *durabletest.Case) error {
		if err := whole(hadOld)(c); err != nil {
			return err
		}
		text, _, _ := held(c.Disk)
		late := c.Struck(durabletest.Rename) || c.Struck(durabletest.Link) || c.Struck(durabletest.SyncDir)
		if text == newText && c.Err != nil && !c.Crashed && !late {
			return errors.New("an error before the rename, and the new content is there")
		}
		if mode, err := c.Disk.Mode(target); text == newText && (err != nil || mode != 0o640) {
			return fmt.Errorf("mode %v, %v", mode, err)
		}
		return tidy(c)
	}
}

func tidy(c *durabletest.Case) error {
	names, err := c.Disk.List("/home")
	if err != nil {
		return err
	}
	stray := slices.DeleteFunc(names, func(name string) bool { return name == filepath.Base(target) })
	if len(stray) > 0 && c.Survival == "" && !c.Struck(durabletest.Remove) {
		return fmt.Errorf("%v left behind", stray)
	}
	for _, name := range stray {
		if !strings.HasPrefix(name, durable.TempPrefix) {
			return fmt.Errorf("%q is not known as temporary", name)
		}
	}
	return syncErrorIsTold(c)
}

// syncErrorIsTold: when a sync failed the caller gets a *SyncError.
func syncErrorIsTold(c *durabletest.Case) error {
	var told *durable.SyncError
	if len(c.Faults) == 1 && !c.Crashed && (c.Struck(durabletest.Sync) || c.Struck(durabletest.SyncDir)) && !errors.As(c.Err, &told) {
		return errors.New("no *SyncError")
	}
	return nil
}

func TestWriteFileMatrix(t *testing.T) {
	n, err := durabletest.Matrix(withOld, newContent, oldOrNew(true))
	if err != nil {
		t.Error(err)
	}
	m, err := durabletest.Matrix(without, newContent, oldOrNew(false))
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d and %d cases", n, m)
}

func TestWriteNewMatrix(t *testing.T) {
	body := func(fsys durable.FS) error { return durable.WriteNew(fsys, target, []byte(newText), 0o640) }
	if _, err := durabletest.Matrix(without, body, oldOrNew(false)); err != nil {
		t.Error(err)
	}
	neverReplaces := func(c *durabletest.Case) error {
		text, _, err := held(c.Disk)
		if err != nil || text != oldText {
			return fmt.Errorf("it holds %q, %v", text, err)
		}
		if c.Acked || len(c.Faults) == 0 && !errors.Is(c.Err, fs.ErrExist) {
			return fmt.Errorf("it exists, and the answer is %v", c.Err)
		}
		return tidy(c)
	}
	if _, err := durabletest.Matrix(withOld, body, neverReplaces); err != nil {
		t.Error(err)
	}
	if _, err := durabletest.Matrix(withOld, newContent, neverReplaces); err == nil {
		t.Error("a WriteNew that replaces is not caught")
	}
}

func TestMkdirMatrix(t *testing.T) {
	body := func(fsys durable.FS) error { return durable.Mkdir(fsys, "/home", 0o700) }
	check := func(c *durabletest.Case) error {
		if mode, err := c.Disk.Mode("/home"); c.Acked && (err != nil || mode != fs.ModeDir|0o700) {
			return fmt.Errorf("%v, %v", mode, err)
		}
		return syncErrorIsTold(c)
	}
	if _, err := durabletest.Matrix(nil, body, check); err != nil {
		t.Error(err)
	}
	bare := func(fsys durable.FS) error { return fsys.Mkdir("/home", 0o700) }
	if _, err := durabletest.Matrix(nil, bare, check); err == nil {
		t.Error("a directory whose name is not synced is not caught")
	}
	// One that a killed process made becomes durable too.
	d := durabletest.New()
	if err := bare(d); err != nil {
		t.Fatal(err)
	}
	if err := body(d); !errors.Is(err, fs.ErrExist) {
		t.Errorf("it exists: %v", err)
	}
	for _, s := range durabletest.Survivals() {
		if _, err := d.Restart(s).Mode("/home"); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestErrorsSayWhat(t *testing.T) {
	d := durabletest.New()
	if err := withOld(d); err != nil {
		t.Fatal(err)
	}
	fail := func(at int, call func(durable.FS) error) error {
		d.Arm(durabletest.Fault{At: at, Mode: durabletest.FailLost})
		defer d.Arm()
		return call(d)
	}
	var sync *durable.SyncError
	if err := fail(2, newContent); !errors.As(err, &sync) || !strings.Contains(err.Error(), "stop, check the disk, start again") {
		t.Errorf("%v", err)
	}
	if err := fail(5, newContent); !errors.As(err, &sync) || sync.Path != "/home" {
		t.Errorf("%v", err)
	}
	var tail *durable.TailError
	d.Arm(durabletest.Fault{At: 2, Mode: durabletest.ShortFull}, durabletest.Fault{At: 3, Mode: durabletest.FailLost})
	if err := properAppend(d, "line\n"); !errors.As(err, &tail) || tail.Good != int64(len(newText)) {
		t.Errorf("%v", err)
	}
	d.Arm()
	for what, err := range map[string]error{
		"WriteFile": durable.WriteFile(d, "/absent/f", nil, 0o600),
		"WriteNew":  durable.WriteNew(d, "/absent/f", nil, 0o600),
		"Append":    durable.Append(d, "/absent/f", nil, 0o600),
		"Mkdir":     durable.Mkdir(d, "/absent/f", 0o700),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s into an absent directory: %v", what, err)
		}
	}
}
