package durable_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

// appender appends lines until it must stop, and keeps which were acknowledged.
type appender struct {
	append func(durable.FS, string) error
	acked  string // all that was acknowledged
	tried  int    // bytes of those that were not
	ended  error  // what stopped it
}

var lines = []string{"first line\n", "second line\n", "third line\n"}

func (a *appender) run(fsys durable.FS) error {
	a.acked, a.tried, a.ended = "", 0, nil
	var failed error
	for _, line := range lines {
		err := a.append(fsys, line)
		if err == nil {
			a.acked += line
			continue
		}
		failed = errors.Join(failed, err)
		a.tried += len(line)
		var sync *durable.SyncError
		var tail *durable.TailError
		if errors.As(err, &sync) || errors.As(err, &tail) {
			a.ended = err
			break
		}
	}
	return failed
}

// check is the promise of Append: the acknowledged lines, in order, from the first byte; behind them no more than what
// was tried; and nothing else while the process runs, unless it was told so.
func (a *appender) check(c *durabletest.Case) error {
	text, _, err := held(c.Disk)
	if err != nil {
		return err
	}
	rest, kept := strings.CutPrefix(text, a.acked)
	if !kept {
		return fmt.Errorf("acknowledged %q, it holds %q", a.acked, text)
	}
	if len(rest) > a.tried {
		return fmt.Errorf("%d bytes behind the acknowledged ones, %d were tried", len(rest), a.tried)
	}
	if c.Survival == "" && a.ended == nil && rest != "" {
		return fmt.Errorf("%q behind the acknowledged lines, and nobody was told", rest)
	}
	var tail *durable.TailError
	if errors.As(a.ended, &tail) && tail.Good != int64(len(a.acked)) {
		return fmt.Errorf("TailError says %d bytes are good, acknowledged are %d", tail.Good, len(a.acked))
	}
	if mode, err := c.Disk.Mode(target); err == nil && mode != 0o600 {
		return fmt.Errorf("mode %v", mode)
	}
	return syncErrorIsTold(c)
}

func properAppend(fsys durable.FS, line string) error {
	return durable.Append(fsys, target, []byte(line), 0o600)
}

func TestAppendMatrix(t *testing.T) {
	a := &appender{append: properAppend}
	n, err := durabletest.Matrix(without, a.run, a.check)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d cases", n)
}

// wrongAppend is Append with one bug.
func wrongAppend(bug string) func(durable.FS, string) error {
	return func(fsys durable.FS, line string) error {
		f, err := fsys.OpenAppend(target)
		created := errors.Is(err, fs.ErrNotExist)
		if created {
			f, err = fsys.Create(target, 0o600)
		}
		if err != nil {
			return err
		}
		size, err := f.Size()
		if err != nil {
			return err
		}
		if created && bug != "no directory sync" || bug != "directory sync by the creator only" && size == 0 && !created {
			if err := fsys.SyncDir("/home"); err != nil {
				return &durable.SyncError{Path: "/home", Err: err}
			}
		}
		n, err := f.Write([]byte(line))
		if (err != nil || n < len(line)) && bug != "short write not noticed" {
			if bug != "not cut back" {
				err = errors.Join(err, f.Truncate(size))
			}
			return errors.Join(err, io.ErrShortWrite)
		}
		switch bug {
		case "no fsync":
			return nil
		case "fsync repeated":
			if f.Sync() == nil {
				return nil
			}
		}
		if err := f.Sync(); err != nil {
			return &durable.SyncError{Path: target, Err: err}
		}
		return nil
	}
}

func TestAppendMatrixCatches(t *testing.T) {
	for _, bug := range []string{"no fsync", "no directory sync", "fsync repeated", "short write not noticed", "not cut back"} {
		a := &appender{append: wrongAppend(bug)}
		if _, err := durabletest.Matrix(without, a.run, a.check); err == nil {
			t.Errorf("%s: not caught", bug)
		}
	}
}

// killedThenPowerCut: one process is killed at each of its calls while the machine runs on; the next appends, is
// acknowledged, and then the power fails.
func killedThenPowerCut(appendLine func(durable.FS, string) error) error {
	for at := 0; ; at++ {
		first := durabletest.New()
		if err := without(first); err != nil {
			return err
		}
		first.Settle()
		first.Arm(durabletest.Fault{At: at, Mode: durabletest.Crash})
		if appendLine(first, "one\n") == nil {
			return nil // it ends before the fault
		}
		second := first.Reopen()
		if err := appendLine(second, "two\n"); err != nil {
			return err
		}
		for _, s := range durabletest.Survivals() {
			text, _, err := held(second.Restart(s))
			if err != nil || !strings.HasSuffix(text, "two\n") {
				return fmt.Errorf("killed at call %d, then acknowledged, %s: it holds %q, %v", at, s.Name, text, err)
			}
		}
	}
}

func TestKilledThenPowerCut(t *testing.T) {
	if err := killedThenPowerCut(properAppend); err != nil {
		t.Error(err)
	}
	if err := killedThenPowerCut(wrongAppend("directory sync by the creator only")); err == nil {
		t.Error("syncing the directory by the creator only is not caught")
	}
}

// At every byte: whatever part of one Append reached the disk, the acknowledged part before it is whole.
func TestAppendCutAtEveryByte(t *testing.T) {
	d := durabletest.New()
	if err := errors.Join(without(d), properAppend(d, "acknowledged\n")); err != nil {
		t.Fatal(err)
	}
	last := []byte("in flight\n")
	d.Arm(durabletest.Fault{At: 3, Mode: durabletest.Crash}) // open, size, write, sync
	if err := durable.Append(d, target, last, 0o600); err == nil {
		t.Fatal("no crash")
	}
	for n := range len(last) + 1 {
		got, _, err := held(d.Restart(durabletest.FirstBytes(n)))
		if want := "acknowledged\n" + string(last[:n]); err != nil || got != want {
			t.Errorf("%d bytes: %q, %v, want %q", n, got, err, want)
		}
	}
}
