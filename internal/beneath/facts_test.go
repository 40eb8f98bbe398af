//go:build linux || darwin

package beneath

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestFacts(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		write(t, in("file"), "12345", 0o640|fs.ModeSetuid|fs.ModeSetgid)
		mkdir(t, in("dir"))
		if err := os.Chmod(in("dir"), 0o701|fs.ModeSticky); err != nil {
			t.Fatal(err)
		}
		symlink(t, "nowhere", in("link"))
		if err := unix.Mkfifo(in("fifo"), 0o622); err != nil {
			t.Fatal(err)
		}
		d := mustOpen(t, open, dir)
		for name, want := range map[string]Facts{
			"file": {Kind: Regular, Mode: 0o6640, Size: 5}, "dir": {Kind: Directory, Mode: 0o1701}, "link": {Kind: Link, Size: 7}, "fifo": {Kind: FIFO, Mode: 0o600},
		} {
			f, err := d.Lstat(name)
			if f.Kind != want.Kind || f.Kind != Link && f.Mode&0o7701 != want.Mode&0o7701 || want.Size > 0 && f.Size != want.Size || f.Mount || f.Block {
				t.Errorf("%s: %+v, %v", name, f, err)
			}
			if age := time.Since(f.Stamp.Changed()); age < 0 || age > time.Minute {
				t.Errorf("%s changed %v ago", name, age)
			}
			if again, _ := d.Lstat(name); again != f {
				t.Errorf("%s: %+v, then %+v", name, f, again)
			}
		}
		sub, err := d.Dir("dir")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		own, err := sub.Facts()
		if by, _ := d.Lstat("dir"); err != nil || own.Mode != by.Mode || own.Kind != Directory {
			t.Errorf("%+v of itself, %+v by name, %v", own, by, err)
		}
		for name, reason := range map[string]Reason{"absent": NotFound, "": FileName, "..": FileName, "dir/x": FileName, "x\x00": FileName} {
			_, e1 := d.Lstat(name)
			_, e2 := d.Readlink(name)
			for _, err := range []error{e1, e2} {
				wantReason(t, name, err, reason)
			}
		}
		if (Stamp{}).Changed() != (time.Time{}) {
			t.Error("the zero stamp has a time")
		}
	})
}

// Ids, links and device numbers are those of stat.
func TestFactsOfTheSystem(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x", 0o600)
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(dir, "a"), 70_001, 70_002); err != nil {
		t.Logf("NOT CHECKED HERE: owners need root: %v", err)
	}
	for _, place := range []struct{ dir, name string }{{dir, "a"}, {dir, "b"}, {"/dev", "null"}} {
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(place.dir, place.name), &st); err != nil {
			t.Fatal(err)
		}
		d := mustOpen(t, Open, place.dir)
		plain, err := lookPlain(d.h.(*node).fd, place.name)
		f, lerr := d.Lstat(place.name)
		f.Mount = false // in a container /dev/null may be one
		if f.UID != st.Uid || f.GID != st.Gid || f.Links != uint64(st.Nlink) || f.Kind == Device && f.Rdev != uint64(st.Rdev) || f != plain.facts() {
			t.Errorf("%s: %+v, %+v, %v, %v", place.name, f, plain.facts(), err, lerr)
		}
	}
}

func TestReadlink(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		d := mustOpen(t, open, dir)
		for i, text := range []string{"a", "/etc/passwd", "..", "caf\xe9\n", strings.Repeat("x", 1000)} {
			name := string(rune('a' + i))
			symlink(t, text, filepath.Join(dir, name))
			if got, err := d.Readlink(name); got != text || err != nil {
				t.Errorf("%q, %v, want %q", got, err, text)
			}
			if _, err := d.h.readlink(name, len(text)-1); err == nil {
				t.Error("a longer link than allowed is read")
			}
		}
		write(t, filepath.Join(dir, "file"), "x", 0o644)
		_, err := d.Readlink("file")
		wantReason(t, "a file", err, ReadFailed)
	})
}

func TestWalkPath(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		mkdir(t, filepath.Join(dir, "a", "b", "c"))
		write(t, filepath.Join(dir, "a", "b", "f"), "x", 0o644)
		symlink(t, "b", filepath.Join(dir, "a", "beneath"))
		symlink(t, "/etc", filepath.Join(dir, "a", "outside"))
		symlink(t, "..", filepath.Join(dir, "a", "up"))
		d := mustOpen(t, open, dir)
		for path, want := range map[string]Reason{
			".": "", "a": "", "a/b": "", "a/b/c": "", "a/beneath": FileLink, "a/beneath/c": FileLink, "a/outside": FileLink, "a/up/a": FileLink,
			"a/b/f": NotADirectory, "a/b/f/x": NotADirectory, "a/gone/x": NotFound, "": FileName, "..": FileName, "a/../a": FileName,
			"/etc": FileName, "a//b": FileName, "a/": FileName, "a/\x00": FileName, "./a": FileName,
		} {
			sub, err := d.Walk(path)
			wantReason(t, path, err, want)
			if err != nil {
				continue
			}
			f, _ := sub.Facts()
			if i, _ := os.Stat(filepath.Join(dir, path)); f.Stamp.ino != 0 && uint32(i.Mode().Perm()) != f.Mode&0o777 {
				t.Errorf("%s: %+v", path, f)
			}
			sub.Close()
		}
		twice, err := d.Again()
		if err != nil {
			t.Fatal(err)
		}
		defer twice.Close()
		if entries, err := twice.Entries(10); err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
		long := strings.TrimSuffix(strings.Repeat("d/", MaxLink), "/")
		_, err = d.Walk(long)
		wantReason(t, "a path too long for one call", err, NotFound)
	})
}

func TestClosedLooks(t *testing.T) {
	d := new(Dir)
	_, e1 := d.Lstat("x")
	_, e2 := d.Facts()
	_, e3 := d.Readlink("x")
	_, e4 := d.Again()
	_, e5 := d.Walk("a/b")
	_, e6 := d.Xattrs("x", nil, 0)
	_, e7 := d.Stream("x", Facts{Kind: Regular})
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
		wantReason(t, string(rune('1'+i)), err, ReadFailed)
	}
}
