//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package beneath

import (
	"os"

	"golang.org/x/sys/unix"
)

// guard opens names by hand, on one device. The zero value refuses everything that is not on device 0.
type guard struct{ on mount }

func (g guard) open(dirfd int, name string, flags int) (int, error) {
	return openBelow(dirfd, g.on, name, flags)
}

func look(fd int, name string) (info, error) { return lookPlain(fd, name) }

func (n *node) deep() bool { return false }

func mountOf(fd int, _ bool) (mount, error) { return deviceOf(fd) }

func open(path string) (handle, error) {
	fd, err := openat(unix.AT_FDCWD, path, dirFlags&^unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	on, err := mountOf(fd, false)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &node{fd, guard{on}}, nil
}

func (n *node) list(max int) ([]Entry, error) {
	fd, err := openat(n.fd, ".", dirFlags)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	return listFile(f, max, n.lstat)
}
