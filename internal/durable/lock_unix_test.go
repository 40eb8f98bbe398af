//go:build unix

package durable_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
)

// lockers are ways to take a lock: ours and planted bugs.
var lockers = map[string]func(path string) (io.Closer, error){
	"ours": func(path string) (io.Closer, error) { return durable.OS().Lock(path) },
	"no lock": func(path string) (io.Closer, error) {
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	},
	"the file's existence": func(path string) (io.Closer, error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, busyWith(path)
		}
		fmt.Fprintln(f, os.Getpid())
		return removing{f}, nil
	},
	"a process's record lock, released by any close": func(path string) (io.Closer, error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
			return nil, errors.Join(busyWith(path), f.Close())
		}
		return f, errors.Join(f.Truncate(0), os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600))
	},
	"nobody named": func(path string) (io.Closer, error) {
		l, err := durable.OS().Lock(path)
		var busy *durable.BusyError
		if errors.As(err, &busy) {
			err = &durable.BusyError{Path: path}
		}
		return l, err
	},
}

func busyWith(path string) error {
	data, err := os.ReadFile(path)
	return errors.Join(err, &durable.BusyError{Path: path, Holder: "process " + strings.TrimSpace(string(data))})
}

type removing struct{ *os.File }

func (r removing) Close() error { return errors.Join(os.Remove(r.Name()), r.File.Close()) }

const lockVariable = "DURABLE_TEST_LOCK"

// TestLockChild is the other process: it takes a lock and follows the lines it reads.
func TestLockChild(t *testing.T) {
	how, path, told := strings.Cut(os.Getenv(lockVariable), ":")
	if !told {
		return
	}
	l, err := lockers[how](path)
	if err != nil {
		fmt.Printf("refused: %v\n", err)
		return
	}
	fmt.Println("locked")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println("closed", l.Close())
	}
}

// otherProcess is that process, seen from this one.
type otherProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func locking(t *testing.T, how, path string) *otherProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), lockVariable+"="+how+":"+path)
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	o := &otherProcess{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(o.kill)
	return o
}

func (o *otherProcess) line() string {
	o.out.Scan()
	return o.out.Text()
}

func (o *otherProcess) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// keepsApart is what a lock promises between processes.
func keepsApart(t *testing.T, how string) error {
	path := filepath.Join(t.TempDir(), "lock")
	first := locking(t, how, path)
	if got := first.line(); got != "locked" {
		return errors.New(got)
	}
	if err := refuses(how, path, first); err != nil {
		return err
	}
	second := locking(t, how, path)
	if got := second.line(); !strings.HasPrefix(got, "refused") {
		return fmt.Errorf("a third process: %s", got)
	}
	if err := refuses(how, path, first); err != nil {
		return fmt.Errorf("after others were refused: %w", err)
	}
	fmt.Fprintln(first.in)
	if got := first.line(); got != "closed <nil>" {
		return errors.New(got)
	}
	ours, err := lockers[how](path)
	if err != nil {
		return fmt.Errorf("given up by a process that lives: %w", err)
	}
	if err := ours.Close(); err != nil {
		return err
	}
	third := locking(t, how, path)
	if got := third.line(); got != "locked" {
		return errors.New(got)
	}
	third.kill()
	if ours, err = lockers[how](path); err != nil {
		return fmt.Errorf("held by one who was killed: %w", err)
	}
	return ours.Close()
}

func refuses(how, path string, holder *otherProcess) error {
	l, err := lockers[how](path)
	if err == nil {
		return errors.Join(errors.New("taken twice"), l.Close())
	}
	var busy *durable.BusyError
	if !errors.As(err, &busy) || busy.Path != path || busy.Holder != fmt.Sprintf("process %d", holder.cmd.Process.Pid) {
		return fmt.Errorf("it is held by process %d, and the answer is %w", holder.cmd.Process.Pid, err)
	}
	return nil
}

func TestLockKeepsProcessesApart(t *testing.T) {
	if err := keepsApart(t, "ours"); err != nil {
		t.Error(err)
	}
	for how := range lockers {
		if how == "ours" {
			continue
		}
		err := keepsApart(t, how)
		if err == nil {
			t.Errorf("%s: not caught", how)
		}
		t.Logf("%s: %v", how, err)
	}
}

// keepsItselfApart is what a lock promises within a process.
func keepsItselfApart(t *testing.T, how string) error {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := lockers[how](path)
	if err != nil {
		return err
	}
	for range 2 { // to be refused gives up nothing
		var busy *durable.BusyError
		if _, err := lockers[how](path); !errors.As(err, &busy) || busy.Holder != fmt.Sprintf("process %d", os.Getpid()) {
			return fmt.Errorf("a second taker: %w", err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		return fmt.Errorf("the file: %v, %w", info.Mode(), err)
	}
	if err := first.Close(); err != nil {
		return err
	}
	second, err := lockers[how](path)
	if err != nil {
		return fmt.Errorf("after it was given up: %w", err)
	}
	if err := first.Close(); !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("given up twice: %w", err)
	}
	if _, err := lockers[how](path); err == nil {
		return errors.New("who gave up twice gave up another's lock")
	}
	return second.Close()
}

func TestLockWithinOneProcess(t *testing.T) {
	if err := keepsItselfApart(t, "ours"); err != nil {
		t.Error(err)
	}
	for how := range lockers {
		if err := keepsItselfApart(t, how); err == nil && how != "ours" && how != "the file's existence" {
			t.Errorf("%s: not caught", how)
		}
	}
}

func TestLockRefuses(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.WriteFile(at("victim"), []byte("victim"), 0o600), os.Symlink("victim", at("link")),
		os.Symlink("absent", at("dangling")), os.Mkdir(at("dir"), 0o700), syscall.Mkfifo(at("fifo"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "dangling", "dir", "fifo", "absent/lock"} {
		if l, err := fsys.Lock(at(name)); err == nil {
			t.Errorf("%s: locked", name)
			l.Close()
		}
	}
	if content(t, at("victim")) != "victim" {
		t.Error("a link was followed")
	}
	if _, err := os.Lstat(at("absent")); err == nil {
		t.Error("a dangling link was followed")
	}
}

// What stands in the lock file is shown to people, and anybody may have written it.
func TestLockHeldByAStranger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for text, want := range map[string]string{"": "unknown", "12\n": "process 12", "\x1b[31m1\n": "unknown", strings.Repeat("1", 1<<20): "unknown"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			t.Fatal(err)
		}
		var busy *durable.BusyError
		if _, err := durable.OS().Lock(path); !errors.As(err, &busy) || busy.Holder != want {
			t.Errorf("%.10q: %v", text, err)
		}
		if content(t, path) != text {
			t.Errorf("%.10q: somebody who was refused wrote", text)
		}
		f.Close()
		l, err := durable.OS().Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); !strings.HasPrefix(got, fmt.Sprintf("%d\n", os.Getpid())) {
			t.Errorf("%.20q", got)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if got := content(t, path); !strings.HasPrefix(got, "\n") {
			t.Errorf("given up, and it says %.20q", got)
		}
	}
}

func TestBusyErrorSaysWhat(t *testing.T) {
	for holder, want := range map[string]string{
		"process 12": `"/l": locked by process 12; wait for it to end, or end it`,
		"unknown":    `"/l": locked by another process; wait for it to end, or end it`,
		"":           `"/l": locked by another process; wait for it to end, or end it`,
	} {
		if got := (&durable.BusyError{Path: "/l", Holder: holder}).Error(); got != want {
			t.Error(got)
		}
	}
}

// stillHeld is what one learns who holds a lock while something happens to its file.
func stillHeld(t *testing.T, held func(durable.Lock) error) error {
	for what, c := range map[string]struct {
		do   func(dir, path string) error
		lost bool
	}{
		"nothing":             {func(string, string) error { return nil }, false},
		"written":             {func(_, path string) error { return os.WriteFile(path, []byte("1\n"), 0o600) }, false},
		"linked":              {func(_, path string) error { return os.Link(path, path+"2") }, false},
		"moved away and back": {func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+"2"), os.Rename(dir+"2", dir)) }, false},
		"removed":             {func(_, path string) error { return os.Remove(path) }, true},
		"renamed":             {func(_, path string) error { return os.Rename(path, path+"2") }, true},
		"replaced": {func(_, path string) error {
			return errors.Join(os.WriteFile(path+"2", nil, 0o600), os.Rename(path+"2", path))
		}, true},
		"made a link to itself": {func(_, path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) }, true},
		"directory moved":       {func(dir, _ string) error { return os.Rename(dir, dir+"2") }, true},
		"directory replaced": {func(dir, path string) error {
			return errors.Join(os.Rename(dir, dir+"2"), os.Mkdir(dir, 0o700), os.WriteFile(path, nil, 0o600))
		}, true},
		"directory replaced by file": {func(dir, _ string) error { return errors.Join(os.Rename(dir, dir+"2"), os.WriteFile(dir, nil, 0o600)) }, true},
	} {
		dir := filepath.Join(t.TempDir(), "dir")
		path := filepath.Join(dir, "lock")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		l, err := durable.OS().Lock(path)
		if err != nil {
			return err
		}
		if err := c.do(dir, path); err != nil {
			return err
		}
		var lost *durable.LostError
		err = held(l)
		if c.lost != errors.As(err, &lost) || c.lost != (err != nil) || c.lost && lost.Path != path {
			return fmt.Errorf("%s: %v", what, err)
		}
		if err := l.Close(); err != nil {
			return err
		}
		if err := held(l); !errors.Is(err, fs.ErrClosed) {
			return fmt.Errorf("%s, after Close: %v", what, err)
		}
	}
	return nil
}

func TestLockSaysWhetherItIsHeld(t *testing.T) {
	if err := stillHeld(t, durable.Lock.Held); err != nil {
		t.Error(err)
	}
	closed := func(l durable.Lock) error {
		if err := l.Held(); errors.Is(err, fs.ErrClosed) {
			return err
		}
		return nil
	}
	if err := stillHeld(t, closed); err == nil {
		t.Error("who never asks is not caught")
	}
}

func TestLostErrorSaysWhat(t *testing.T) {
	for _, c := range []struct {
		cause error
		want  string
	}{
		{nil, `"/l": the file that was locked is not there any more, so another process may have the lock; find out who removed or moved it, then start again`},
		{fs.ErrPermission, `"/l": whether the file that was locked is still there cannot be seen (permission denied), so another process may have the lock; find out who removed or moved it, then start again`},
	} {
		if got := (&durable.LostError{Path: "/l", Err: c.cause}).Error(); got != c.want {
			t.Error(got)
		}
	}
}
