package fs

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/beneath"
)

// newFilesTakeGroup says that a new file has its directory's group always, not
// only with the setgid bit.
const newFilesTakeGroup = false

// unknownFolds is what is believed of a root where nothing tells.
const unknownFolds = false

const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV

// kernel is the system itself.
type kernel struct{ openat2 bool }

// system asks for openat2 by using it: EPERM is what filters that do not know it
// answer.
func system() (sys, error) {
	fd, err := openat2(unix.AT_FDCWD, "/", dirFlags, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return &kernel{openat2: err != unix.ENOSYS && err != unix.EPERM}, nil
}

func openat2(at int, path string, flags int, resolve uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_LARGEFILE), Resolve: resolve}
	err = retry(func() error {
		fd, err = unix.Openat2(at, path, &how)
		return err
	})
	return fd, err
}

func (k *kernel) below(at int, path string, flags int) (int, error) {
	if k.openat2 {
		return openat2(at, path, flags, resolve)
	}
	return byHand(at, path, flags)
}

// appendDirents takes the entries off a block, of which the names share one copy.
func appendDirents(out []dirent, block []byte) ([]dirent, error) {
	const usual = 40 // bytes of an entry
	out = slices.Grow(out, len(block)/usual)
	for rest := string(block); rest != ""; {
		name, kind, after, ok := beneath.NextEntry(rest)
		if !ok {
			return nil, unix.EIO
		}
		if rest = after; name != "." && name != ".." {
			out = append(out, dirent{name, kindOf(kind)})
		}
	}
	return out, nil
}

func kindOf(k beneath.Kind) corpus.Kind {
	switch k {
	case beneath.Regular:
		return corpus.File
	case beneath.Directory:
		return corpus.Directory
	case beneath.Link:
		return corpus.Link
	case beneath.Device, beneath.FIFO, beneath.Socket:
		return corpus.Special
	}
	return ""
}

// mount identifies a mount: by id, or where there are none by device.
type mount struct {
	id   uint64
	byID bool
}

func mountOf(fd int) (mount, error) {
	var st unix.Statx_t
	err := retry(func() error { return unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st) })
	if err == nil && st.Mask&unix.STATX_MNT_ID != 0 {
		return mount{st.Mnt_id, true}, nil
	}
	var old unix.Stat_t
	err = retry(func() error { return unix.Fstat(fd, &old) })
	return mount{id: old.Dev}, err
}

func (k *kernel) folds(at int) bool {
	const caseFold = 0x40000000 // FS_CASEFOLD_FL
	flags, err := unix.IoctlGetUint32(at, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&caseFold != 0
}

func (k *kernel) sync(fd int) error { return retry(func() error { return unix.Fsync(fd) }) }

func (k *kernel) move(at int, name string, to int, as string) error {
	return unix.Renameat2(at, name, to, as, unix.RENAME_NOREPLACE)
}

func (k *kernel) swap(at int, name string, to int, as string) error {
	return unix.Renameat2(at, name, to, as, unix.RENAME_EXCHANGE)
}
