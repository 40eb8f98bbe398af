package runtime

import "golang.org/x/sys/unix"

// inode is one file or directory. The time at which it was made tells it from a
// later one that got its number.
type inode struct {
	dev, ino  uint64
	sec, nsec int64
}

// look says which inode a path has, without following a link at its end, and
// whether it is a directory.
func look(path string) (i inode, dir bool, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return inode{}, false, false
	}
	return inode{uint64(st.Dev), st.Ino, st.Btim.Sec, st.Btim.Nsec}, uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR, true
}
