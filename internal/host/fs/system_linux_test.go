package fs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/gate"
)

// acl is an ACL of tag, permissions, id.
func acl(entries ...[3]uint32) string {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return string(b)
}

const nobody = 0xffffffff

func TestAttributesAndACLs(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	set := func(name, attr, value string) bool {
		err := unix.Setxattr(b.in(name), attr, []byte(value), 0)
		if err != nil {
			t.Logf("NOT CHECKED HERE: %s on this file system: %v", attr, err)
		}
		return err == nil
	}
	full := acl([3]uint32{1, 7, nobody}, [3]uint32{2, 7, 12345}, [3]uint32{4, 5, nobody}, [3]uint32{16, 7, nobody}, [3]uint32{32, 5, nobody})
	minimal := acl([3]uint32{1, 7, nobody}, [3]uint32{4, 5, nobody}, [3]uint32{32, 0, nobody})
	b.mkdir("acl")
	b.mkdir("plain-acl")
	if !set("f", "user.note", "keep me") || !set("h", accessACL, full) || !set("acl", defaultACL, full) || !set("plain-acl", defaultACL, minimal) {
		return
	}
	b.file("acl/made", "by somebody") // with an ACL by the kernel
	for _, c := range []struct{ target, args string }{
		{"f", `{"op":"write","content":"x"}`}, {"f", `{"op":"append","content":"x"}`}, {"f", `{"op":"chmod","mode":"0600"}`},
		{"h", `{"op":"write","content":"x"}`}, {"h", `{"op":"chmod","mode":"0640"}`}, {"h", `{"op":"chmod","mode":"0666"}`},
		{"acl/new", `{"op":"write","content":"x"}`}, {"acl/private", `{"op":"write","content":"x","mode":"0600"}`},
		{"acl/dir", `{"op":"mkdir"}`}, {"acl/dir/f", `{"op":"append","content":"x","mode":"0666"}`},
		{"acl/made", `{"op":"write","content":"y"}`}, {"plain-acl/new", `{"op":"write","content":"x"}`},
		{"f", `{"op":"rename","to":"acl/moved"}`}, {"acl/moved", `{"op":"write","content":"y"}`},
	} {
		before := b.states()
		o, err := b.call(write(t, c.target, c.args))
		if err != nil {
			t.Errorf("%s %s: %v", c.target, c.args, err)
			continue
		}
		b.asPlanned(o.Plan)
		if strings.Contains(c.args, "write") || strings.Contains(c.args, "append") {
			if _, err := b.h.do(t.Context(), undone(o)); err != nil {
				t.Errorf("undoing %s %s: %v", c.target, c.args, err)
			}
			b.same(before)
			_, err := b.call(write(t, c.target, c.args))
			must(t, err)
		}
	}
	value := make([]byte, 100)
	n, err := unix.Getxattr(b.in("acl/moved"), "user.note", value)
	if err != nil || string(value[:n]) != "keep me" {
		t.Errorf("the attribute is %q, %v", value[:max(n, 0)], err)
	}
}

func TestOwners(t *testing.T) {
	b := newBench(t)
	b.someFiles()
	must(t, os.Chmod(b.in("d"), 0o755|os.ModeSetgid))
	if os.Getuid() != 0 {
		t.Log("NOT CHECKED HERE: owners are changed by root only")
	} else {
		must(t, os.Chown(b.in("f"), 1234, 4321))
		must(t, os.Chown(b.in("d"), 0, 4321))
		must(t, os.Chmod(b.in("d"), 0o755|os.ModeSetgid))
	}
	for _, c := range []struct{ target, args string }{
		{"f", `{"op":"write","content":"x"}`}, {"f", `{"op":"append","content":"x"}`}, {"f", `{"op":"chmod","mode":"0600"}`},
		{"d/new", `{"op":"write","content":"x"}`}, {"d/dir", `{"op":"mkdir"}`}, {"d/dir/f", `{"op":"write","content":"x"}`},
	} {
		o, err := b.call(write(t, c.target, c.args))
		must(t, err)
		b.asPlanned(o.Plan)
	}
	if os.Getuid() != 0 {
		return
	}
	for name, gid := range map[string]uint32{"f": 4321, "d/new": 4321, "d/dir": 4321, "d/dir/f": 4321} {
		var st unix.Stat_t
		must(t, unix.Lstat(b.in(name), &st))
		if st.Gid != gid {
			t.Errorf("%s has group %d", name, st.Gid)
		}
	}
	// As another user the owner could not be kept.
	b.h.uid = 99
	_, err := b.order(write(t, "f", `{"op":"write","content":"x"}`))
	wantReason(t, "another's file", err, gate.NoAccess)
}

// The links of /proc lead anywhere; none is followed.
func TestMagicLinks(t *testing.T) {
	for how, s := range ways(t) {
		b := benchOver(t, s, "/proc/self")
		for _, target := range []string{"root", "cwd", "exe", "fd/0", "root/etc"} {
			_, err := b.read(target, `{}`)
			wantReason(t, how+": "+target, err, gate.IsLink)
		}
		if got, err := b.read("root/etc/passwd", `{}`); err == nil {
			t.Errorf("%s: read %q", how, got)
		}
		_, err := b.call(write(t, "cwd/escaped", `{"op":"write","content":"x"}`))
		if _, there := os.Lstat("escaped"); err == nil || there == nil {
			t.Errorf("%s: written through a magic link: %v", how, err)
		}
	}
}

const childVariable = "HOST_FS_TEST_CHILD"

// inOwnMounts runs the calling test again in a process with a mount table of its
// own, as root of a user namespace if need be, and says whether this is it.
func inOwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Logf("NOT CHECKED HERE: no mount table of one's own: %v", err)
		return false
	}
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

func mountAt(t *testing.T, source, at, kind string, flags uintptr, data string) bool {
	t.Helper()
	if err := unix.Mount(source, at, kind, flags, data); err != nil {
		t.Logf("NOT CHECKED HERE: mount %s at %s: %v", kind, at, err)
		return false
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	return true
}

func TestMounts(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	for how, s := range ways(t) {
		a := newArena(t, s)
		a.mkdir("bind")
		a.file("bound", "x")
		a.mkdir("tree/bind")
		if !mountAt(t, a.outside, a.in("bind"), "", unix.MS_BIND, "") || !mountAt(t, a.outside+"/f", a.in("bound"), "", unix.MS_BIND, "") ||
			!mountAt(t, a.outside, a.in("tree/bind"), "", unix.MS_BIND, "") {
			return
		}
		for _, c := range []struct{ target, args string }{
			{"bind/f", `{"op":"write","content":"x"}`}, {"bind/new", `{"op":"mkdir"}`}, {"bind", `{"op":"delete","recursive":true}`},
			{"bind", `{"op":"chmod","mode":"0700"}`}, {"bound", `{"op":"write","content":"x"}`}, {"bound", `{"op":"delete"}`},
			{"tree", `{"op":"delete","recursive":true}`}, {"tree", `{"op":"rename","to":"new"}`}, {"sub/f", `{"op":"rename","to":"bind/g"}`},
		} {
			_, err := a.order(write(t, c.target, c.args))
			wantReason(t, how+": "+c.target+" "+c.args, err, gate.IsMount)
		}
		_, err := a.read("bind/f", `{}`)
		wantReason(t, how+": read", err, gate.IsMount)
		// Mounted after the plan.
		o := a.mustOrder(write(t, "sub/f", `{"op":"write","content":"x"}`))
		if !mountAt(t, a.outside, a.in("sub"), "", unix.MS_BIND, "") {
			return
		}
		_, err = a.h.do(t.Context(), o)
		wantReason(t, how+": mounted meanwhile", err, gate.Conflict)
		if !a.untouched() {
			t.Errorf("%s: the outside was written", how)
		}
	}
}

// A mount comes and goes while calls are under way.
func TestMountAttack(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	s, err := system()
	must(t, err)
	a := newArena(t, s)
	if !mountAt(t, "tmpfs", a.in("sub"), "tmpfs", 0, "") {
		return
	}
	must(t, unix.Unmount(a.in("sub"), 0))
	done, refused := 0, 0
	a.during(func(a *arena) error {
		if err := unix.Mount(a.outside, a.in("sub"), "", unix.MS_BIND, ""); err != nil {
			return nil
		}
		for unix.Unmount(a.in("sub"), unix.MNT_DETACH) != nil {
		}
		return nil
	}, func() {
		for range 100 {
			a.batter(&done, &refused)
		}
	})
	t.Logf("%d calls done, %d refused", done, refused)
	if !a.untouched() {
		t.Error("the outside was written")
	}
}

// A tmpfs of 64 KiB, which gets full for real.
func TestSmallDisk(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	dir := t.TempDir()
	if !mountAt(t, "tmpfs", dir, "tmpfs", 0, "size=64k") {
		return
	}
	s, err := system()
	must(t, err)
	b := benchOver(t, s, dir)
	b.file("f", strings.Repeat("a", 40<<10))
	before := b.states()
	o := b.mustOrder(write(t, "f", fmt.Sprintf(`{"op":"write","content":%q}`, strings.Repeat("b", 40<<10))))
	_, err = b.h.do(t.Context(), o)
	wantReason(t, "write", err, gate.NoRoom)
	b.same(before)
	o, err = b.call(envelope(t, capability.FSWriteRev, "f", `{"op":"write","content":"small"}`))
	must(t, err)
	b.asPlanned(o.Plan)
}

// A directory that folds case by its flag, on a kernel that has such a tmpfs.
func TestCaseFoldingDirectory(t *testing.T) {
	if !inOwnMounts(t) {
		return
	}
	dir := t.TempDir()
	if !mountAt(t, "tmpfs", dir, "tmpfs", 0, "casefold") {
		return
	}
	sub := filepath.Join(dir, "sub")
	must(t, os.Mkdir(sub, 0o755))
	fd, err := unix.Open(sub, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	must(t, err)
	defer unix.Close(fd)
	must(t, unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0x40000000))
	s, err := system()
	must(t, err)
	b := benchOver(t, s, dir)
	b.file("sub/README", "x")
	b.mkdir("sub/Deep")
	b.file("sub/Deep/f", "x")
	for target, want := range map[string]gate.Reason{"sub/readme": gate.NameTwin, "sub/README": "", "sub/deep/f": gate.NameTwin, "sub/Deep/f": ""} {
		if _, err := b.order(write(t, target, `{"op":"write","content":""}`)); reasonOf(err) != want {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}
