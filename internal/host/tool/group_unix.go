//go:build unix

package tool

import (
	"os/exec"
	"syscall"
)

// ownGroup has a program lead a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks a process group to end, or kills it. That there is none any more
// is as well.
func endGroup(pid int, force bool) {
	signal := syscall.SIGTERM
	if force {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-pid, signal)
}
