//go:build unix

package connect

import (
	"os/exec"
	"syscall"
)

// ownGroup has a program lead a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup kills a process group. That there is none any more is as well.
func endGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
