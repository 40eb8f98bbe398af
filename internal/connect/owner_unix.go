//go:build unix

package connect

import (
	"io/fs"
	"os"
	"syscall"
)

// owner is who owns a file; the zero value is whoever writes it.
type owner struct {
	uid, gid int
	known    bool
}

func ownerOf(info fs.FileInfo) owner {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{int(s.Uid), int(s.Gid), true}
	}
	return owner{}
}

// keep gives a file that was replaced its owner back.
func (o owner) keep(path string) error {
	if !o.known || o.uid == os.Geteuid() && o.gid == os.Getegid() {
		return nil
	}
	return os.Lchown(path, o.uid, o.gid)
}

// mayWrite says whether files can be made in a directory that is there.
func mayWrite(dir string) bool {
	const write, search = 2, 1
	return syscall.Access(dir, write|search) == nil
}
