package fs

import "golang.org/x/sys/unix"

// newFilesTakeGroup says that a new file has its directory's group always, not
// only with the setgid bit.
const newFilesTakeGroup = true

// unknownFolds is what is believed of a root where nothing tells: most fold.
const unknownFolds = true

// kernel is the system itself.
type kernel struct{}

func system() (sys, error) { return &kernel{}, nil }

func (k *kernel) below(at int, path string, flags int) (int, error) { return byHand(at, path, flags) }

// appendDirents gives names alone.
func appendDirents(out []dirent, block []byte) ([]dirent, error) {
	_, _, names := unix.ParseDirent(block, -1, nil)
	for _, name := range names {
		out = append(out, dirent{name: name})
	}
	return out, nil
}

// mountOf tells mounts by device: there are no bind mounts.
func mountOf(fd int) (int32, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(fd, &st) })
	return st.Dev, err
}

func (k *kernel) folds(int) bool { return false }

// sync asks the disk too, as fsync alone does not here.
func (k *kernel) sync(fd int) error {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0); err == nil {
		return nil
	}
	return retry(func() error { return unix.Fsync(fd) })
}

func (k *kernel) move(at int, name string, to int, as string) error {
	return unix.RenameatxNp(at, name, to, as, unix.RENAME_EXCL)
}

func (k *kernel) swap(at int, name string, to int, as string) error {
	return unix.RenameatxNp(at, name, to, as, unix.RENAME_SWAP)
}
