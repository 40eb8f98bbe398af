package runtime

import "golang.org/x/sys/unix"

// inode is one file or directory. The time at which it was made tells it from a
// later one that got its number.
type inode struct {
	dev, ino  uint64
	sec, nsec int64 // zero where the file system does not say
}

// look says which inode a path has, without following a link at its end, and
// whether it is a directory.
func look(path string) (i inode, dir bool, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_BTIME, &st)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return inode{}, false, false
	default:
		return lookUntimed(path)
	}
	i = inode{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		i.sec, i.nsec = st.Btime.Sec, int64(st.Btime.Nsec)
	}
	return i, st.Mode&unix.S_IFMT == unix.S_IFDIR, true
}

// lookUntimed is for systems and filters without statx.
func lookUntimed(path string) (i inode, dir bool, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return inode{}, false, false
	}
	return inode{dev: uint64(st.Dev), ino: st.Ino}, uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR, true
}
