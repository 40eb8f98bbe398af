package fs

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/gate"
)

// asUser runs the calling test again in a process that is no root, and says
// whether this is it.
func asUser(t *testing.T) bool {
	t.Helper()
	const ordinary = 65534
	if os.Getenv(childVariable) == t.Name() {
		if os.Getuid() == 0 {
			must(t, unix.Setgroups(nil))
			must(t, unix.Setresgid(ordinary, ordinary, ordinary))
			must(t, unix.Setresuid(ordinary, ordinary, ordinary))
		}
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name(), "TMPDIR=/tmp")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	return false
}

// A umask keeps a user out of the directory that he has just made: the call
// fails, and what was made goes.
func TestMkdirUnderUmask(t *testing.T) {
	if !asUser(t) {
		return
	}
	b := newBench(t)
	o := b.mustOrder(write(t, "new", `{"op":"mkdir"}`))
	old := unix.Umask(0o777)
	_, err := b.h.do(t.Context(), o)
	unix.Umask(old)
	wantReason(t, "mkdir", err, gate.NoAccess)
	if b.there(staging) || b.there("new") {
		t.Error("something was left")
	}
	o, err = b.call(write(t, "new", `{"op":"mkdir","mode":"0500"}`))
	must(t, err)
	b.asPlanned(o.Plan)
	o, err = b.call(write(t, "f", `{"op":"write","content":"x","mode":"0400"}`))
	must(t, err)
	b.asPlanned(o.Plan)
	// What the refused modes would do: the owner cannot look any more.
	b.file("blind", "x")
	must(t, os.Chmod(b.in("blind"), 0))
	_, err = b.read("blind", `{}`)
	wantReason(t, "mode 0000", err, gate.NoAccess)
}
