package beneath

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const childVariable = "BENEATH_TEST_CHILD"

// inChild runs the calling test again in a process of its own and reports whether this is that process.
func inChild(t *testing.T, kind string, attr *syscall.SysProcAttr) bool {
	t.Helper()
	if already := os.Getenv(childVariable); already != "" {
		return already == t.Name()+kind
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name()+kind)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Logf("NOT CHECKED HERE: no child process with %s: %v", kind, err)
		return false
	}
	t.Logf("%s:\n%s", kind, out)
	if err != nil {
		t.Errorf("%s: %v", kind, err)
	}
	return false
}

// ownMounts is a process with a mount table of its own; for ordinary users inside a user namespace.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// mountIn mounts, in the child only, and reports whether it may.
func mountIn(t *testing.T, source, at, kind string, flags uintptr) bool {
	t.Helper()
	if err := unix.Mount(source, at, kind, flags, ""); err != nil {
		t.Logf("NOT CHECKED HERE: mount %s at %s: %v", kind, at, err)
		return false
	}
	t.Cleanup(func() { unix.Unmount(at, unix.MNT_DETACH) })
	return true
}

func TestMounts(t *testing.T) {
	if !inChild(t, "a mount table", ownMounts()) || !mountIn(t, "", "/", "", unix.MS_REC|unix.MS_PRIVATE) {
		return
	}
	dir, outside := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write(t, filepath.Join(outside, "f"), "OUTSIDE", 0o644)
	write(t, in("bind-file"), "inside", 0o644)
	mkdir(t, in("bind-dir"))
	mkdir(t, in("tmpfs"))
	if !mountIn(t, outside, in("bind-dir"), "", unix.MS_BIND) ||
		!mountIn(t, filepath.Join(outside, "f"), in("bind-file"), "", unix.MS_BIND) ||
		!mountIn(t, "tmpfs", in("tmpfs"), "tmpfs", 0) {
		return
	}
	for name, way := range ways {
		d := mustOpen(t, opener(way), dir)
		_, file := d.ReadFile("bind-file", 100)
		_, bind := d.Dir("bind-dir")
		_, tmpfs := d.Dir("tmpfs")
		wantFile, wantBind, wantTmpfs := FileMount, FileMount, FileMount
		switch name {
		case "device": // as documented: one file system, one device number; of the file the look tells on this kernel
			wantBind = ""
		case "root": // as documented, and the reason why it is not used on Linux: this is the planted bug
			wantFile, wantBind, wantTmpfs = "", "", ""
		}
		for _, at := range []string{"bind-file", "bind-dir", "tmpfs"} {
			if f, err := d.Lstat(at); err != nil || f.Mount == (name == "root") {
				t.Errorf("%s: %s is a mount: %v, %v", name, at, f.Mount, err)
			}
		}
		_, walked := d.Walk("tmpfs/deeper")
		wantReason(t, name+": through tmpfs", walked, cmp.Or(wantTmpfs, NotFound))
		wantReason(t, name+": bind-mounted file", file, wantFile)
		wantReason(t, name+": bind-mounted directory", bind, wantBind)
		wantReason(t, name+": tmpfs", tmpfs, wantTmpfs)
	}
	before := descriptors(t)
	for range 20 {
		for _, way := range ways {
			d, err := opener(way)(dir)
			if err != nil {
				t.Fatal(err)
			}
			if sub, err := d.Dir("tmpfs"); err == nil {
				sub.Close()
			}
			d.Close()
		}
	}
	if after := descriptors(t); after > before+2 {
		t.Errorf("refusals leave descriptors open: %d were, %d are", before, after)
	}
	// The root itself may be a mount.
	write(t, in("tmpfs/f"), "x", 0o644)
	if _, err := mustOpen(t, Open, in("tmpfs")).ReadFile("f", 1); err != nil {
		t.Error(err)
	}
}

// ramfs keeps time by the kernel's tick: looks alone cannot tell two writes within one tick apart, reading twice does.
func TestCoarseClock(t *testing.T) {
	if !inChild(t, "a ramfs", ownMounts()) || !mountIn(t, "", "/", "", unix.MS_REC|unix.MS_PRIVATE) {
		return
	}
	dir := t.TempDir()
	if !mountIn(t, "ramfs", dir, "ramfs", 0) {
		return
	}
	stop := counting(t, dir)
	defer stop()
	d := mustOpen(t, Open, dir)
	_, torn, _ := seenBy(t, func() ([]byte, error) {
		f, err := d.ReadFile("f", cells*cellSize)
		return f.Data, err
	}, func(still, _, refused int) bool { return still > 500 && refused > 500 })
	if torn > 0 {
		t.Errorf("%d torn readings", torn)
	}
	// The planted bug: the looks without the second reading.
	_, torn, _ = seenBy(t, func() ([]byte, error) { return readOnce(d, "f") }, func(_, torn, _ int) bool { return torn > 0 })
	if torn == 0 {
		t.Error("the looks alone caught everything: this clock is not coarse, and nothing was shown")
	}
}

func readOnce(d *Dir, name string) ([]byte, error) {
	before, err := d.h.lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := d.h.file(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, before.size)
	err = readExactly(f, data)
	if after, _ := f.stat(); err == nil && after != before {
		err = errChanged
	}
	if err != nil {
		return nil, refusal(name, err)
	}
	return data, nil
}

// As somebody who may not read: the superuser gives up the file rights of one thread, which then ends.
func TestDenied(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "x", 0)
	mkdir(t, filepath.Join(dir, "sub"))
	for path, mode := range map[string]fs.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, filepath.Join(dir, "sub"): 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, way := range ways {
		var user sync.WaitGroup
		user.Go(func() {
			runtime.LockOSThread()
			unix.Setfsuid(65534) // no effect, and none needed, for an ordinary user
			d, err := opener(way)(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			_, err = d.ReadFile("f", 1)
			wantReason(t, name+": file", err, NoAccess)
			_, err = d.Dir("sub")
			wantReason(t, name+": directory", err, NoAccess)
			_, err = opener(way)(filepath.Join(dir, "sub"))
			wantReason(t, name+": open", err, NoAccess)
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%v is not fs.ErrPermission", err)
			}
		})
		user.Wait()
	}
}

// A filter that answers openat2 as kernels without it (ENOSYS) or container runtimes (EPERM) do: everything works, by hand.
func TestWithoutOpenat2(t *testing.T) {
	for kind, errno := range map[string]syscall.Errno{"ENOSYS": unix.ENOSYS, "EPERM": unix.EPERM} {
		if inChild(t, kind, nil) {
			denyOpenat2(t, errno)
			byHand(t)
			return
		}
	}
}

func byHand(t *testing.T) {
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, "sub"))
	write(t, filepath.Join(dir, "sub", "f"), "x", 0o644)
	symlink(t, "sub", filepath.Join(dir, "link"))
	d := mustOpen(t, Open, dir)
	if n := d.h.(*node); n.guard.openat2 || !n.guard.on.byID && n.guard.on.id == 0 {
		t.Fatalf("%+v", n.guard)
	}
	_, err := d.Dir("link")
	wantReason(t, "link", err, FileLink)
	_, err = d.Dir("absent")
	wantReason(t, "absent", err, NotFound)
	sub, err := d.Dir("sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if f, err := sub.ReadFile("f", 1); err != nil || string(f.Data) != "x" {
		t.Errorf("%q, %v", f.Data, err)
	}
	proc := mustOpen(t, Open, "/")
	_, err = proc.Dir("proc")
	wantReason(t, "/proc from /", err, FileMount)
}

func denyOpenat2(t *testing.T, errno syscall.Errno) {
	t.Helper()
	runtime.LockOSThread()
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_OPENAT2},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	runtime.KeepAlive(program)
	if e != 0 {
		t.Fatalf("seccomp: %v", e)
	}
	if _, err := openat2(unix.AT_FDCWD, "/", dirFlags, 0); err != errno {
		t.Fatalf("openat2 answers %v", err)
	}
}
