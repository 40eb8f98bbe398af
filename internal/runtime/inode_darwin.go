package runtime

import "golang.org/x/sys/unix"

// inode is one file or directory. The time at which it was made tells it from a
// later one that got its number.
type inode struct {
	dev, ino  uint64
	sec, nsec int64
}

// look looks at a path.
func look(path string) sight {
	var st unix.Stat_t
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Lstat(path, &st)
	}
	if err != nil {
		return sight{}
	}
	kind := uint32(st.Mode) & unix.S_IFMT
	return sight{inode{uint64(st.Dev), st.Ino, st.Btim.Sec, st.Btim.Nsec}, kind == unix.S_IFDIR, kind == unix.S_IFLNK, true}
}
