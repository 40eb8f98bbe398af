//go:build linux || darwin

package fs

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/corpus"
)

const (
	readFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY
	dirFlags  = readFlags | unix.O_DIRECTORY
)

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func openat(at int, name string, flags int, mode uint32) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(at, name, flags, mode)
		return err
	})
	return fd, err
}

// byHand opens a path one component after the other and sees to it that the
// mount stays the same.
func byHand(at int, path string, flags int) (int, error) {
	on, err := mountOf(at)
	if err != nil {
		return -1, err
	}
	held := -1
	for more := true; more; {
		var name string
		name, path, more = strings.Cut(path, "/")
		step := dirFlags
		if !more {
			step = flags
		}
		if name == ".." {
			err = unix.EXDEV
		}
		fd := -1
		if err == nil {
			fd, err = openat(at, name, step, 0)
		}
		if held >= 0 {
			_ = unix.Close(held)
		}
		if err != nil {
			return -1, err
		}
		at, held = fd, fd
		if got, mountErr := mountOf(fd); mountErr != nil || got != on {
			_ = unix.Close(fd)
			return -1, errors.Join(mountErr, unix.EXDEV)
		}
	}
	return held, nil
}

func (k *kernel) root(path string) (int, error) {
	return openat(unix.AT_FDCWD, path, dirFlags&^unix.O_NOFOLLOW, 0)
}

func (k *kernel) dir(at int, path string) (int, error)  { return k.below(at, path, dirFlags) }
func (k *kernel) open(at int, name string) (int, error) { return k.below(at, name, readFlags) }

func (k *kernel) create(at int, name string) (int, error) {
	return openat(at, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
}

// close does not repeat on EINTR: the descriptor is gone by then.
func (k *kernel) close(fd int) { _ = unix.Close(fd) }

func (k *kernel) lstat(at int, name string) (stat, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

func (k *kernel) stat(fd int) (stat, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return stat{}, err
	}
	return statOf(&st), nil
}

func statOf(st *unix.Stat_t) stat {
	s := stat{
		mode: uint32(st.Mode) & 0o7777, uid: st.Uid, gid: st.Gid,
		links: uint64(st.Nlink), size: st.Size,
		dev: uint64(st.Dev), ino: st.Ino, rdev: uint64(st.Rdev),
		mtime: [2]int64{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)},
		ctime: [2]int64{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)},
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		s.kind = corpus.File
	case unix.S_IFDIR:
		s.kind = corpus.Directory
	case unix.S_IFLNK:
		s.kind = corpus.Link
	case unix.S_IFBLK:
		s.kind, s.special = corpus.Special, "block"
	case unix.S_IFCHR:
		s.kind, s.special = corpus.Special, "char"
	case unix.S_IFIFO:
		s.kind, s.special = corpus.Special, "fifo"
	default:
		s.kind, s.special = corpus.Special, "socket"
	}
	return s
}

func (k *kernel) list(at int, most int) ([]dirent, error) {
	fd, err := openat(at, ".", dirFlags, 0)
	if err != nil {
		return nil, err
	}
	defer k.close(fd)
	var out []dirent
	block := make([]byte, 512+32*min(most, 100)) // not on the stack, which would grow for it
	for {
		n := 0
		err := retry(func() (err error) {
			n, err = unix.ReadDirent(fd, block)
			return err
		})
		if err != nil || n <= 0 {
			return out, err
		}
		if out, err = appendDirents(out, block[:n]); err != nil {
			return nil, err
		}
		if len(out) > most {
			return nil, errTooMany
		}
	}
}

func (k *kernel) readlink(at int, name string) (string, error) {
	b := make([]byte, 4097)
	n, err := unix.Readlinkat(at, name, b)
	if err == nil && n == len(b) {
		err = unix.ENAMETOOLONG
	}
	return string(b[:max(n, 0)]), err
}

func (k *kernel) readAt(fd int, p []byte, off int64) (n int, err error) {
	err = retry(func() error {
		n, err = unix.Pread(fd, p, off)
		return err
	})
	return max(n, 0), err
}

func (k *kernel) xattrs(fd int) ([]corpus.Xattr, error) {
	n, err := unix.Flistxattr(fd, nil)
	if err == unix.ENOTSUP || err == nil && n == 0 {
		return nil, nil
	}
	list := make([]byte, max(n, 0)+256)
	if err == nil {
		n, err = unix.Flistxattr(fd, list)
	}
	if err != nil {
		return nil, err
	}
	var out []corpus.Xattr
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if !corpus.Counts(name) {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(fd, name, value)
		if err != nil {
			return nil, err
		}
		out = append(out, corpus.Xattr{Name: name, Value: string(value[:n])})
	}
	return out, nil
}

func (k *kernel) write(fd int, p []byte) (n int, err error) {
	err = retry(func() error {
		n, err = unix.Write(fd, p)
		return err
	})
	return max(n, 0), err
}

func (k *kernel) setXattr(fd int, a corpus.Xattr) error {
	return unix.Fsetxattr(fd, a.Name, []byte(a.Value), 0)
}

func (k *kernel) dropXattr(fd int, name string) error { return unix.Fremovexattr(fd, name) }

func (k *kernel) chown(fd int, uid, gid uint32) error {
	return retry(func() error { return unix.Fchown(fd, int(uid), int(gid)) })
}

func (k *kernel) chmod(fd int, mode uint32) error {
	return retry(func() error { return unix.Fchmod(fd, mode) })
}

func (k *kernel) mkdir(at int, name string, mode uint32) error { return unix.Mkdirat(at, name, mode) }
func (k *kernel) unlink(at int, name string) error             { return unix.Unlinkat(at, name, 0) }

func (k *kernel) rmdir(at int, name string) error {
	return unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
}
