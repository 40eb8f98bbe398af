//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package scratch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ours says whether a directory is this user's, and nobody else can change what is
// in it.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// lockDir takes the lock of an open directory, until it is closed or the process
// ends. It is not taken if somebody has it.
func lockDir(dir *os.File) (taken bool, err error) {
	raw, err := dir.SyscallConn()
	if err != nil {
		return false, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	if errors.Is(failed, syscall.EWOULDBLOCK) {
		return false, err
	}
	if err = errors.Join(err, failed); err != nil {
		return false, err
	}
	return true, nil
}
