package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/iff-run/iff/internal/durable"
	"golang.org/x/sys/unix"
)

const childVariable = "DURABLE_TEST_CHILD"

// inChild runs the calling test again in a process of its own and reports whether this is that process.
func inChild(t *testing.T, attr *syscall.SysProcAttr) bool {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name())
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Logf("NOT CHECKED HERE: no child process: %v", err)
		return false
	}
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// A full disk: the file is as it was, nothing is left behind, and room made later is used.
func TestFullDisk(t *testing.T) {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	if !inChild(t, attr) {
		return
	}
	dir := t.TempDir()
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k")
	}
	if err != nil {
		t.Logf("NOT CHECKED HERE: mount: %v", err)
		return
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	fsys, large := durable.OS(), []byte(strings.Repeat("x", 128<<10))
	for what, write := range map[string]func(string, []byte) error{
		"append": func(p string, data []byte) error { return durable.Append(fsys, p, data, 0o600) },
		"file":   func(p string, data []byte) error { return durable.WriteFile(fsys, p, data, 0o600) },
	} {
		path := filepath.Join(dir, what)
		if err := write(path, []byte("small")); err != nil {
			t.Fatal(err)
		}
		if err := write(path, large); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", what, err)
		}
		if got := content(t, path); got != "small" {
			t.Errorf("%s: it holds %d bytes", what, len(got))
		}
		if err := write(path, []byte("small")); err != nil {
			t.Errorf("%s, after the failure: %v", what, err)
		}
	}
	if names := namesIn(t, dir); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
	reallyFull(t, dir)
}

// Without any room left: what is overwritten needs none, what goes on behind it fails; the lock holds though its owner's name
// does not fit, and names nobody.
func reallyFull(t *testing.T, dir string) {
	path, fsys := filepath.Join(dir, "lock"), durable.OS()
	if err := os.WriteFile(filepath.Join(dir, "rest"), make([]byte, 128<<10), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	f, err := fsys.OpenAt(filepath.Join(dir, "rest"))
	if err != nil {
		t.Fatal(err)
	}
	size, err := f.Size()
	if err != nil || size == 0 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	if _, err := f.WriteAt([]byte("over"), size-4); err != nil {
		t.Errorf("overwriting: %v", err)
	}
	if n, err := f.WriteAt(make([]byte, 8<<10), size); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("behind the end: %d, %v", n, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Error(err)
	}
	l, err := fsys.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	var busy *durable.BusyError
	if _, err := fsys.Lock(path); !errors.As(err, &busy) || busy.Holder != "unknown" {
		t.Errorf("%v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// The real file system does sync: with fsync(2) failing, everything that must sync says so, files and directories.
func TestRealSyncFailure(t *testing.T) {
	if !inChild(t, nil) {
		return
	}
	dir, fsys := t.TempDir(), durable.OS()
	file, log := filepath.Join(dir, "file"), filepath.Join(dir, "log")
	for _, err := range []error{
		durable.WriteFile(fsys, file, []byte("old"), 0o600),
		durable.Append(fsys, log, []byte("old"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	at, err := fsys.OpenAt(log)
	if err != nil {
		t.Fatal(err)
	}
	fail(t, unix.SYS_FSYNC, unix.SYS_FDATASYNC)
	for what, err := range map[string]error{
		"WriteFile":                durable.WriteFile(fsys, file, []byte("new"), 0o600),
		"WriteNew":                 durable.WriteNew(fsys, filepath.Join(dir, "new"), []byte("new"), 0o600),
		"Append":                   durable.Append(fsys, log, []byte("new"), 0o600),
		"Append, directory":        durable.Append(fsys, filepath.Join(dir, "log2"), []byte("new"), 0o600),
		"Mkdir, parent directory":  durable.Mkdir(fsys, filepath.Join(dir, "sub"), 0o700),
		"OpenAt, as a SyncError":   wrap(at.Sync()),
		"SyncDir, as a SyncError":  wrap(fsys.SyncDir(dir)),
		"an existing directory":    durable.Mkdir(fsys, dir, 0o700),
		"WriteFile, second try":    durable.WriteFile(fsys, file, []byte("new"), 0o600),
		"Append, second directory": durable.Append(fsys, filepath.Join(dir, "log2"), []byte("new"), 0o600),
	} {
		var told *durable.SyncError
		if !errors.As(err, &told) || !errors.Is(err, unix.EIO) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if content(t, file) != "old" {
		t.Errorf("the old file is gone: %q", content(t, file))
	}
	for _, name := range namesIn(t, dir) {
		if strings.HasPrefix(name, durable.TempPrefix) || name == "new" {
			t.Errorf("left behind: %s", name)
		}
	}
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return &durable.SyncError{Err: err}
}

// Files are synced by fdatasync and directories by fsync: each alone tells.
func TestFilesAreSyncedByFdatasync(t *testing.T) {
	if !inChild(t, nil) {
		return
	}
	dir, fsys := t.TempDir(), durable.OS()
	path := filepath.Join(dir, "f")
	f, err := fsys.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	at, err := fsys.OpenAt(path)
	if err != nil {
		t.Fatal(err)
	}
	fail(t, unix.SYS_FSYNC)
	if err := errors.Join(f.Sync(), at.Sync()); err != nil {
		t.Errorf("not fdatasync: %v", err)
	}
	if err := fsys.SyncDir(dir); !errors.Is(err, unix.EIO) {
		t.Errorf("SyncDir is not fsync: %v", err)
	}
	fail(t, unix.SYS_FDATASYNC)
	for what, err := range map[string]error{"File": f.Sync(), "FileAt": at.Sync()} {
		if !errors.Is(err, unix.EIO) {
			t.Errorf("%s is not synced: %v", what, err)
		}
	}
	if err := errors.Join(f.Close(), at.Close()); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"File": f.Sync(), "FileAt": at.Sync()} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s, closed: %v", what, err)
		}
	}
}

// fail makes some system calls answer EIO in this process, for good.
func fail(t *testing.T, calls ...uint32) {
	t.Helper()
	runtime.LockOSThread()
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for _, call := range calls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	const install, wholeProcess = unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, install, wholeProcess, uintptr(unsafe.Pointer(&filter)))
	runtime.KeepAlive(program)
	if e != 0 {
		t.Fatalf("seccomp: %v", e)
	}
}

// bareSync is what a bare loop calls.
func bareSync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
