//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package beneath

import (
	"io"

	"golang.org/x/sys/unix"
)

const (
	fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	dirFlags  = fileFlags | unix.O_DIRECTORY
)

// node is an open file or directory by descriptor.
type node struct {
	fd    int
	guard guard // how names below this directory are opened
}

// mount identifies the mount an open file is on: by id, or by device number where there are no ids.
type mount struct {
	id   uint64
	byID bool
}

func (n *node) lstat(name string) (info, error) { return look(n.fd, name) }

func (n *node) stat() (info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(n.fd, &st) })
	return infoOf(&st), err
}

// lookPlain looks by the call that every system has.
func lookPlain(fd int, name string) (info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return infoOf(&st), err
}

func (n *node) readlink(name string, max int) (string, error) {
	text := make([]byte, min(max, MaxLink)+1)
	var size int
	err := retry(func() (err error) {
		size, err = unix.Readlinkat(n.fd, name, text)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case size == len(text):
		return "", errLongLink
	}
	return string(text[:size]), nil
}

func (n *node) file(name string) (object, error) {
	fd, err := n.guard.open(n.fd, name, fileFlags)
	if err != nil {
		return nil, err
	}
	return &node{fd: fd}, nil
}

func (n *node) dir(name string) (handle, error) {
	fd, err := n.guard.open(n.fd, name, dirFlags)
	if err != nil {
		return nil, err
	}
	return &node{fd, n.guard}, nil
}

// Close does not repeat on EINTR: the descriptor is gone by then, and its number may be somebody else's.
func (n *node) Close() error {
	if err := unix.Close(n.fd); err != nil && err != unix.EINTR {
		return err
	}
	return nil
}

func (n *node) ReadAt(p []byte, off int64) (int, error) {
	read := 0
	for read < len(p) {
		m, err := n.readSome(p[read:], off+int64(read))
		read += m
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

func (n *node) readSome(p []byte, off int64) (m int, err error) {
	err = retry(func() error {
		m, err = unix.Pread(n.fd, p, off)
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case m == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return m, nil
}

// openBelow opens one component without openat2 and checks by hand that it is on the same mount, told in the same way.
func openBelow(dirfd int, on mount, name string, flags int) (int, error) {
	fd, err := openat(dirfd, name, flags)
	if err != nil {
		return -1, err
	}
	got, err := mountOf(fd, on.byID)
	if err == nil && got != on {
		err = errMount
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func openat(dirfd int, name string, flags int) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dirfd, name, flags, 0)
		return err
	})
	return fd, err
}

func deviceOf(fd int) (mount, error) {
	i, err := (&node{fd: fd}).stat()
	return mount{id: i.stamp.dev}, err
}

func infoOf(st *unix.Stat_t) info {
	return info{
		stamp: Stamp{
			dev: uint64(st.Dev), ino: uint64(st.Ino),
			mtime: moment{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)},
			ctime: moment{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)},
		},
		kind:  kindOf(uint32(st.Mode)),
		mode:  uint32(st.Mode),
		uid:   st.Uid,
		gid:   st.Gid,
		links: uint64(st.Nlink),
		size:  st.Size,
		rdev:  uint64(st.Rdev),
	}
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Directory
	case unix.S_IFLNK:
		return Link
	case unix.S_IFCHR, unix.S_IFBLK:
		return Device
	case unix.S_IFIFO:
		return FIFO
	case unix.S_IFSOCK:
		return Socket
	}
	return Unknown
}

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
