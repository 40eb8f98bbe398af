//go:build !unix

package tool

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups.
func ownGroup(*exec.Cmd) {}

// endGroup kills the program alone.
func endGroup(pid int, force bool) {
	if p, err := os.FindProcess(pid); err == nil && force {
		_ = p.Kill()
	}
}
