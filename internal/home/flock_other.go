//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// flock refuses: without a lock that the system releases when a process dies,
// two runtimes could not be kept apart.
func flock(*os.File, bool) (busy bool, err error) {
	return false, fmt.Errorf("no file lock on this system; use Linux, macOS or a BSD: %w", errors.ErrUnsupported)
}

func ours(fs.FileInfo) bool { return false }

func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }

func groupOf(fs.FileInfo) int { return -1 }
