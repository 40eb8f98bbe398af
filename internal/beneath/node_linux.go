package beneath

import "golang.org/x/sys/unix"

const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// guard opens names so that they stay beneath: by openat2 if the kernel has it, else by hand. The zero value is by hand on
// no mount, which refuses everything.
type guard struct {
	openat2 bool
	on      mount
}

func (g guard) open(dirfd int, name string, flags int) (int, error) {
	if g.openat2 {
		return openat2(dirfd, name, flags, resolve)
	}
	return openBelow(dirfd, g.on, name, flags)
}

// open asks for openat2 by using it: EPERM is what seccomp filters that do not know it answer, and no answer to opening a
// directory for reading, so nobody can provoke the weaker way from inside the file system.
func open(path string) (handle, error) {
	fd, err := openat2(unix.AT_FDCWD, path, dirFlags&^unix.O_NOFOLLOW, 0)
	switch err {
	case nil:
		return &node{fd, guard{openat2: true}}, nil
	case unix.ENOSYS, unix.EPERM:
		return openByHand(path)
	}
	return nil, err
}

func (n *node) deep() bool { return n.guard.openat2 }

// look asks statx, which says more than stat: where a mount starts. Where a filter hides it (ENOSYS, EPERM: no answers to a look) the
// older calls must do.
func look(fd int, name string) (info, error) {
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	var st unix.Statx_t
	err := retry(func() error { return unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS, &st) })
	if err == unix.ENOSYS || err == unix.EPERM {
		return lookPlain(fd, name)
	}
	return infoOfStatx(&st), err
}

func infoOfStatx(st *unix.Statx_t) info {
	return info{
		stamp: Stamp{
			dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino,
			mtime: moment{st.Mtime.Sec, int64(st.Mtime.Nsec)},
			ctime: moment{st.Ctime.Sec, int64(st.Ctime.Nsec)},
		},
		kind:    kindOf(uint32(st.Mode)),
		mode:    uint32(st.Mode),
		uid:     st.Uid,
		gid:     st.Gid,
		links:   uint64(st.Nlink),
		size:    int64(st.Size),
		rdev:    unix.Mkdev(st.Rdev_major, st.Rdev_minor),
		mounted: st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0,
	}
}

func openByHand(path string) (handle, error) {
	fd, err := openat(unix.AT_FDCWD, path, dirFlags&^unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	on, err := mountOf(fd, true)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &node{fd, guard{on: on}}, nil
}

func openat2(dirfd int, name string, flags int, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_LARGEFILE), Resolve: resolve}
	err = retry(func() error {
		fd, err = unix.Openat2(dirfd, name, &how)
		return err
	})
	return fd, err
}

// mountOf asks for the mount id, which tells bind mounts of one file system apart, and where there is none for the device.
func mountOf(fd int, byID bool) (mount, error) {
	if !byID {
		return deviceOf(fd)
	}
	var st unix.Statx_t
	err := retry(func() error { return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st) })
	if err == nil && st.Mask&unix.STATX_MNT_ID != 0 {
		return mount{st.Mnt_id, true}, nil
	}
	return deviceOf(fd)
}
