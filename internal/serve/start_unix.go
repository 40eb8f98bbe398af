//go:build unix

package serve

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func openAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}

// child is a process that was started and is left to itself. It becomes a zombie if it ends before we do, for nobody waits.
type child struct {
	process *os.Process
	over    *ending
}

// ending is how a process ended.
type ending struct{ status syscall.WaitStatus }

func (e ending) String() string {
	if e.status.Signaled() {
		return "signal " + e.status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", e.status.ExitStatus())
}

func spawn(exe string, args []string, log *os.File, env []string) (*child, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	p, err := os.StartProcess(exe, append([]string{exe}, args...), &os.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: []*os.File{null, log, log},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	return &child{process: p}, nil
}

// ended asks without waiting.
func (c *child) ended() (ending, bool) {
	if c.over != nil {
		return *c.over, true
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(c.process.Pid, &status, syscall.WNOHANG, nil)
	if pid != c.process.Pid && !errors.Is(err, syscall.ECHILD) {
		return ending{}, false
	}
	c.over = &ending{status}
	return *c.over, true
}

func (c *child) leave() { _ = c.process.Release() }
