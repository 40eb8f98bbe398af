package runtime_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/record"
)

// bind mounts a directory on another one; false, loudly, where nobody may.
func bind(t *testing.T, from, on string) bool {
	t.Helper()
	if err := unix.Mount(from, on, "", unix.MS_BIND, ""); err != nil {
		t.Logf("NOT TESTED: bind mounts need root and CAP_SYS_ADMIN: %v", err)
		return false
	}
	t.Cleanup(func() { _ = unix.Unmount(on, unix.MNT_DETACH) })
	return true
}

// A skill is the same under the name that a bind mount gives it.
func TestBindMount(t *testing.T) {
	e := newEnv(t)
	dir("bound")(e)
	dir("above")(e)
	dir("held/in")(e)
	skill := filepath.Join(e.work, "skills/helper")
	if !bind(t, skill, filepath.Join(e.work, "bound")) || !bind(t, filepath.Dir(skill), filepath.Join(e.work, "above")) || !bind(t, e.outside+"/remote", filepath.Join(e.work, "held/in")) {
		return
	}
	w := e.start()
	s := w.session("agent")
	for _, a := range []attempt{
		{name: "file", class: rev, target: "bound/run.sh", args: write, route: "inode", hides: true},
		{name: "new", class: rev, target: "bound/new.sh", args: write, route: "inode", hides: true},
		{name: "below", class: rev, target: "above/helper/sub/more.md", args: attach, route: "inode", hides: true},
		{name: "outside", class: rev, target: "held/in/run.sh", args: write, route: "inode", hides: true},
		{name: "parent", class: irrev, target: "held", args: to("let"), route: "parent", hides: true},
		{name: "spelling", class: rev, target: "./bound/run.sh", args: write, route: "spelling", hides: true},
	} {
		for _, choice := range []record.Choice{record.Deny, record.Approve} {
			if r := w.try(t, s, a, choice); r.Status == gate.Done {
				t.Errorf("%s: %+v", a.name, r)
			}
		}
	}
	if e.read(filepath.Join(skill, "run.sh")) != "echo helper\n" || e.read(filepath.Join(e.outside, "remote/run.sh")) != "echo remote\n" {
		t.Error("it was written")
	}
	w.stop()
}

// What is mounted over a skill is not what is served, and a finding.
func TestMountOver(t *testing.T) {
	w := newEnv(t).start()
	s := w.session("agent")
	served := w.served(t, s)
	if !bind(t, filepath.Join(w.work, "notes"), filepath.Join(w.work, "skills/helper")) {
		w.stop()
		return
	}
	if w.served(t, s) != served {
		t.Error("what is served changed")
	}
	if r := w.try(t, s, attempt{name: "write", class: rev, target: "skills/helper/run.sh", args: write, route: "path", hides: true}, record.Approve); r.Status != gate.Failed {
		t.Errorf("%+v", r)
	}
	if w.verdict("") == record.Pass {
		t.Error("PASS over a mount")
	}
	if _, err := os.Stat(filepath.Join(w.work, "notes/run.sh")); err == nil {
		t.Error("it was written")
	}
	w.stop()
}
