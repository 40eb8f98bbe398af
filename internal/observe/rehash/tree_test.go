//go:build linux || darwin

package rehash_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/corpus"
)

func write(tb testing.TB, path, data string, mode fs.FileMode) {
	tb.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(data), 0o600), os.Chmod(path, mode)); err != nil {
		tb.Fatal(err)
	}
}

func must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// reference is the states of a quiet tree by other means: paths, the standard library, one thing after the other.
func reference(tb testing.TB, root string, volatile corpus.Patterns) *corpus.Snapshot {
	tb.Helper()
	var entries []corpus.Entry
	must(tb, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		if below == "" {
			below = "."
		}
		if volatile.Match(below) {
			return nil
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		entries = append(entries, corpus.Entry{Object: corpus.Name("work", below), State: referenceState(tb, path, info)})
		return nil
	}))
	return corpus.NewSnapshot(entries)
}

func referenceState(tb testing.TB, path string, info fs.FileInfo) corpus.State {
	tb.Helper()
	st := info.Sys().(*syscall.Stat_t)
	facts := corpus.Facts{Mode: uint32(st.Mode) & 0o7777, UID: st.Uid, GID: st.Gid, Xattrs: referenceXattrs(tb, path)}
	special := map[fs.FileMode]string{
		fs.ModeNamedPipe: "fifo", fs.ModeSocket: "socket", fs.ModeDevice: "block", fs.ModeDevice | fs.ModeCharDevice: "char",
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		facts.Kind = corpus.Directory
	case mode.IsRegular():
		data, err := os.ReadFile(path)
		must(tb, err)
		facts.Kind, facts.Content = corpus.File, sha256.Sum256(data)
	case mode&fs.ModeSymlink != 0:
		text, err := os.Readlink(path)
		must(tb, err)
		facts.Kind, facts.Content = corpus.Link, sha256.Sum256([]byte(text))
	default:
		facts.Kind, facts.Content = corpus.Special, corpus.SpecialContent(special[mode.Type()], uint64(st.Rdev))
	}
	return facts.State()
}

func referenceXattrs(tb testing.TB, path string) corpus.Digest {
	names := make([]byte, 64<<10)
	n, err := unix.Llistxattr(path, names)
	if errors.Is(err, unix.ENOTSUP) {
		return corpus.Digest{}
	}
	must(tb, err)
	var attrs []corpus.Xattr
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, 64<<10)
		size, err := unix.Lgetxattr(path, name, value)
		must(tb, err)
		attrs = append(attrs, corpus.Xattr{Name: name, Value: string(value[:size])})
	}
	return corpus.XattrDigest(attrs)
}

// same fails the test unless two snapshots are one.
func same(tb testing.TB, what string, got, want *corpus.Snapshot) {
	tb.Helper()
	for _, c := range corpus.Diff(want, got) {
		tb.Errorf("%s: %s is %s, want %s", what, c.Object, c.After, c.Before)
	}
}

// everyKind builds one of everything that this user can make.
func everyKind(tb testing.TB, root string) {
	tb.Helper()
	in := func(name string) string { return filepath.Join(root, name) }
	for name, data := range map[string]string{
		"empty": "", "file": "hello\n", "caf\xe9": "latin", "line\nbreak": "x", `back\slash`: "x", `\x41`: "x", "deep/er/f": "x", " ": "x", "end.": "x",
		"just-below": strings.Repeat("a", 128<<10-1), "exact": strings.Repeat("b", 128<<10), "above": strings.Repeat("c", 128<<10+1), "large": strings.Repeat("d", 3<<20+17),
	} {
		write(tb, in(name), data, 0o644)
	}
	must(tb,
		os.Chmod(in("file"), 0o755|fs.ModeSetuid|fs.ModeSetgid), os.Mkdir(in("sticky"), 0o755), os.Chmod(in("sticky"), 0o777|fs.ModeSticky),
		os.Mkdir(in("empty-dir"), 0o700), os.Link(in("file"), in("hard")), os.Symlink("file", in("link")), os.Symlink("nowhere", in("dangling")),
		os.Symlink("loop", in("loop")), os.Symlink("..", in("up")), os.Symlink("deep", in("to-dir")), os.Symlink(strings.Repeat("l", 4000), in("long")),
		unix.Mkfifo(in("fifo"), 0o620), unix.Mknod(in("socket"), unix.S_IFSOCK|0o640, 0),
	)
	if err := unix.Mknod(in("char"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		tb.Logf("NOT CHECKED HERE: device nodes need root: %v", err)
	} else {
		must(tb, unix.Mknod(in("block"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 300))), os.Chown(in("deep"), 1, 2), os.Lchown(in("dangling"), 3, 4), os.Chown(in("empty"), 70_000, 5))
	}
	for name, value := range map[string]string{"user.a": "1", "user.empty": "", "user.bytes": "\x00\xff"} {
		if err := unix.Setxattr(in("file"), name, []byte(value), 0); err != nil {
			tb.Logf("NOT CHECKED HERE: this file system has no extended attributes: %v", err)
			return
		}
	}
	must(tb, unix.Setxattr(in("empty-dir"), "user.a", []byte("1"), 0))
	acl := []byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 9, 0, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255, 16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	for _, name := range []string{"fifo", "large"} { // user::rw- user:9:r-- group::r-- mask::r-- other::---
		if err := unix.Lsetxattr(in(name), "system.posix_acl_access", acl, 0); err != nil {
			tb.Logf("NOT CHECKED HERE: no access control lists: %v", err)
		}
	}
}
