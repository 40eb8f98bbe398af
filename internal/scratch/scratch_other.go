//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package scratch

import (
	"errors"
	"io/fs"
	"os"
)

// ours is not known here, so nothing is removed.
func ours(fs.FileInfo) bool { return false }

// lockDir refuses: there is no lock that ends with a process.
func lockDir(*os.File) (taken bool, err error) { return false, errors.ErrUnsupported }
