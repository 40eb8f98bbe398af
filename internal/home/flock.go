//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package home

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// flock takes a lock on an open directory, for as long as it is open. busy says
// that somebody else has one that excludes it.
func flock(dir *os.File, exclusive bool) (busy bool, err error) {
	how := syscall.LOCK_SH | syscall.LOCK_NB
	if exclusive {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	err = syscall.Flock(int(dir.Fd()), how)
	return errors.Is(err, syscall.EWOULDBLOCK), err
}

// ours says whether a directory belongs to the user that this process runs as.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(os.Geteuid())
}

func ownerOf(info fs.FileInfo) (uid int, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}

// groupOf is the group of a file, -1 where nobody can say.
func groupOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Gid)
	}
	return -1
}
