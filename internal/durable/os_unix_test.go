//go:build unix

package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/durable"
)

func TestPermissionsAreExact(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	for _, mask := range []int{0, 0o077, 0o777} {
		func() {
			defer syscall.Umask(syscall.Umask(mask))
			for _, perm := range []fs.FileMode{0o600, 0o644, 0o666, 0o755, 0o400, fs.ModeSetuid | 0o640} {
				for what, write := range map[string]func(string) error{
					"WriteFile": func(p string) error { return durable.WriteFile(fsys, p, []byte("x"), perm) },
					"WriteNew":  func(p string) error { return durable.WriteNew(fsys, p, []byte("x"), perm) },
					"Append":    func(p string) error { return durable.Append(fsys, p, []byte("x"), perm) },
					"Mkdir":     func(p string) error { return durable.Mkdir(fsys, p, perm) },
				} {
					path := filepath.Join(dir, what)
					if err := write(path); err != nil {
						t.Fatal(err)
					}
					info, err := os.Stat(path)
					if err != nil || info.Mode()&^fs.ModeDir != perm.Perm() {
						t.Errorf("%s, umask %o, asked %v: %v, %v", what, mask, perm, info.Mode(), err)
					}
					os.Remove(path)
				}
			}
		}()
	}
}

func TestLinksAndSpecialTargets(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	fifo := filepath.Join(dir, "fifo")
	if err := os.WriteFile(victim, []byte("victim"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	relink := func() {
		os.Remove(link)
		if err := os.Symlink("victim", link); err != nil {
			t.Fatal(err)
		}
	}
	relink()
	if err := durable.Append(fsys, link, []byte("x"), 0o600); err == nil {
		t.Error("Append follows a link")
	}
	if err := durable.WriteNew(fsys, link, []byte("x"), 0o600); err == nil {
		t.Error("WriteNew replaces a link")
	}
	if err := durable.WriteFile(fsys, link, []byte("x"), 0o600); err != nil || content(t, link) != "x" {
		t.Errorf("WriteFile over a link: %v", err)
	}
	if content(t, victim) != "victim" {
		t.Error("a link was written through")
	}
	special := map[string]string{"link": link, "FIFO": fifo, "directory": dir, "device": "/dev/null"}
	relink()
	for what, path := range special { // and none of them hangs
		if _, err := fsys.Open(path); err == nil {
			t.Errorf("%s: opened for reading", what)
		}
		if _, err := fsys.OpenAt(path); err == nil {
			t.Errorf("%s: opened for writing", what)
		}
		if _, err := fsys.List(path); (err == nil) != (what == "directory") {
			t.Errorf("%s: listed: %v", what, err)
		}
	}
	if err := durable.Append(fsys, fifo, []byte("x"), 0o600); err == nil { // and it does not hang
		t.Error("Append to a FIFO succeeds")
	}
	var late *durable.SyncError
	if err := durable.Append(fsys, "/dev/null", []byte("x"), 0o600); err == nil || errors.As(err, &late) {
		t.Errorf("Append to a device, which must be refused before it is written: %v", err)
	}
	hard := filepath.Join(dir, "hard")
	if err := os.Link(victim, hard); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(fsys, hard, []byte("x"), 0o600); err != nil || content(t, victim) != "victim" {
		t.Errorf("the other name of a replaced file holds %q, %v", content(t, victim), err)
	}
}
