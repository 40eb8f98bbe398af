package runtime

import "golang.org/x/sys/unix"

// inode is one file or directory. The time at which it was made tells it from a
// later one that got its number.
type inode struct {
	dev, ino  uint64
	sec, nsec int64 // zero where the file system does not say
}

// look looks at a path.
func look(path string) sight {
	var st unix.Statx_t
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_BTIME, &st)
	}
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return sight{}
	default:
		return lookUntimed(path)
	}
	i := inode{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		i.sec, i.nsec = st.Btime.Sec, int64(st.Btime.Nsec)
	}
	return sightOf(i, uint32(st.Mode))
}

// lookUntimed is for systems and filters without statx.
func lookUntimed(path string) sight {
	var st unix.Stat_t
	err := error(unix.EINTR)
	for err == unix.EINTR {
		err = unix.Lstat(path, &st)
	}
	if err != nil {
		return sight{}
	}
	return sightOf(inode{dev: uint64(st.Dev), ino: st.Ino}, uint32(st.Mode))
}

func sightOf(i inode, mode uint32) sight {
	kind := mode & unix.S_IFMT
	return sight{i, kind == unix.S_IFDIR, kind == unix.S_IFLNK, true}
}
