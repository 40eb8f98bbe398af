//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// terminal is a pseudo-terminal with iff on it, and whoever sits there.
type terminal struct {
	t      *testing.T
	master *os.File
	exit   chan int

	mu   sync.Mutex
	seen bytes.Buffer // guarded by mu
	past int          // how much of it was looked at; guarded by mu
}

// onTerminal runs iff on a terminal of 100 by 60.
func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	t.Setenv("TERM", "xterm")
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, master: master, exit: make(chan int, 1)}
	p.size(100, 60)
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { p.exit <- run(ctx, args, tty, tty, tty) })
	work.Go(p.read)
	t.Cleanup(func() {
		stop()
		<-p.exit
		tty.Close()
		master.Close()
		work.Wait()
	})
	return p
}

func (p *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *terminal) size(columns, rows uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		p.t.Fatal(err)
	}
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		p.t.Fatal(err)
	}
}

func (p *terminal) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until something came onto the terminal since the last time.
func (p *terminal) sees(text string) {
	p.t.Helper()
	if !p.within(patience, text) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("%q does not come; there is %q", text, p.seen.String()[p.past:])
	}
}

func (p *terminal) within(limit time.Duration, text string) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		there := strings.Contains(p.seen.String()[p.past:], text)
		if there {
			p.past = p.seen.Len()
		}
		p.mu.Unlock()
		if there {
			return true
		}
	}
	return false
}

// until types a key, again and again, until something came of it: what has come
// onto the screen just now cannot be answered yet.
func (p *terminal) until(key, text string) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		p.types(key)
		if p.within(300*time.Millisecond, text) {
			return
		}
	}
	p.t.Fatalf("%q leads to no %q", key, text)
}

func (p *terminal) quits(want int) {
	p.t.Helper()
	p.types("q")
	got := <-p.exit
	p.exit <- got
	if got != want {
		p.t.Errorf("exit %d", got)
	}
}

// TestInboxTerminal decides on a terminal over the operator's socket.
func TestInboxTerminal(t *testing.T) {
	k, dir := startAsker(t)
	t.Run("approve", func(t *testing.T) {
		p := onTerminal(t, "inbox", "--home", dir)
		p.sees("nothing waits")
		k.post(t, "R-1", "write", time.Hour)
		p.sees("reports/q3.md")
		p.until("a", "passphrase for key approver")
		p.types("\x15correct horse\r")
		if a, ok := k.outcome("R-1"); !ok || a.Choice != record.Approve || a.Approver != "approver" {
			t.Fatalf("it ended as %v", a)
		}
		p.sees("nothing waits")
		k.post(t, "R-2", "guarded", time.Hour)
		p.sees("AGENTS.md")
		p.size(60, 12)
		p.sees("more lines")
		p.types("G")
		p.sees("The agent says")
		p.until("a", "Type")
		p.types("\x15AGENTS.md\r") // the key is open
		if a, ok := k.outcome("R-2"); !ok || a.Choice != record.Approve {
			t.Fatalf("it ended as %v", a)
		}
		p.sees("nothing waits")
		p.quits(exitHolds)
	})
	t.Run("elsewhere", func(t *testing.T) {
		k.post(t, "R-3", "write", time.Hour)
		p, other := onTerminal(t, "inbox", "--home", dir), onTerminal(t, "inbox", "--home", dir)
		p.until("a", "passphrase")
		other.until("d", "nothing waits")
		p.sees("ENDED")
		p.types("\x15correct horse\r")
		p.sees("does not wait any more")
		if a, _ := k.outcome("R-3"); a.Choice != record.Deny {
			t.Errorf("it ended as %v", a)
		}
		other.quits(exitHolds)
		p.quits(exitHolds)
	})
	t.Run("in time", func(t *testing.T) {
		p := onTerminal(t, "inbox", "--home", dir)
		p.sees("nothing waits")
		shown := false // a busy machine may show it too late, and then another that waits longer
		for wait := 4 * time.Second; !shown && wait < patience; wait *= 4 {
			k.post(t, "R-4-"+wait.String(), "write", wait)
			shown = p.within(wait+5*time.Second, "time is over")
		}
		if !shown {
			t.Fatal("a question whose time is over does not say so")
		}
		p.types("ad")
		p.sees("does not wait any more")
		p.quits(exitHolds)
	})
	t.Run("hostile", func(t *testing.T) {
		k.post(t, "R-5", "hostile", time.Hour)
		p := onTerminal(t, "inbox", "--home", dir)
		p.sees("pwned")
		p.mu.Lock()
		defer p.mu.Unlock()
		if text := p.seen.String(); !strings.Contains(text, "cod.exe") || strings.Contains(text, "\x1b]0;") || strings.Contains(text, "\x1b[2J\x1b[Ha") || strings.Contains(text, "\u202e") {
			t.Errorf("content reached the terminal as it is: %q", text)
		}
	})
	t.Run("another log", func(t *testing.T) {
		k.post(t, "R-7", "write", time.Hour)
		d := &desk{path: socketIn(dir), log: "iff/log/other"}
		d.ctx, d.stop = context.WithCancel(t.Context())
		_, err := d.question("R-7")
		if approval.ReasonOf(err) != approval.QuestionInvalid {
			t.Errorf("it is shown: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("no approver", func(t *testing.T) {
		p := onTerminal(t, "inbox", "--home", dir, "--key", "me")
		p.sees("approval-not-approver")
		got := <-p.exit
		p.exit <- got
		p.mu.Lock()
		defer p.mu.Unlock()
		if got != exitRefused || strings.Contains(p.seen.String(), "q3.md") {
			t.Errorf("exit %d; it was shown: %q", got, p.seen.String())
		}
	})
	t.Run("asked", func(t *testing.T) {
		k.post(t, "R-6", "write", time.Hour)
		p := onTerminal(t, "approve", "--home", dir, "R-6", "--passphrase-file", dir+"/../pass")
		p.sees("y/N")
		p.types("n\n")
		p.sees("it still waits")
		q := onTerminal(t, "approve", "--home", dir, "R-6", "--passphrase-file", dir+"/../pass")
		q.sees("y/N")
		q.types("y\n")
		q.sees("signed by approver")
	})
	if late := k.lateOnes(); len(late) > 0 {
		t.Errorf("late: %v", late)
	}
}
