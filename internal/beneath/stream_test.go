//go:build linux || darwin

package beneath

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestStream(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		data := bytes.Repeat([]byte("0123456789"), 50_000)
		write(t, filepath.Join(dir, "f"), string(data), 0o644)
		d := mustOpen(t, open, dir)
		facts, err := d.Lstat("f")
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Stream("f", facts)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got, err := io.ReadAll(io.NewSectionReader(s, 0, 1<<30)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		buf := make([]byte, len(data)+1)
		if n, err := s.ReadSome(buf, 0); n == 0 || err != nil || !bytes.Equal(buf[:n], data[:n]) {
			t.Errorf("%d bytes, %v", n, err)
		}
		if n, err := s.ReadSome(buf, int64(len(data))); n != 0 || err != io.EOF {
			t.Errorf("at the end: %d, %v", n, err)
		}
		if err := s.Unchanged(); err != nil {
			t.Error(err)
		}
		time.Sleep(settle + 10*time.Millisecond)
		write(t, filepath.Join(dir, "f"), string(data), 0o600)
		wantReason(t, "written again", s.Unchanged(), FileChanging)
	})
	now := time.Now()
	for age, want := range map[time.Duration]bool{-time.Hour: true, time.Hour: false} {
		at := now.Add(-age)
		if s := (&Stream{before: info{stamp: Stamp{ctime: moment{at.Unix(), 0}}}}); s.Recent() != want {
			t.Errorf("changed %v ago it is recent: %v", age, s.Recent())
		}
	}
}

func TestStreamListed(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		write(t, in("f"), "abc", 0o640)
		mkdir(t, in("sub"))
		symlink(t, "f", in("link"))
		if err := unix.Mkfifo(in("fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		d := mustOpen(t, open, dir)
		want, err := d.Lstat("f")
		if err != nil {
			t.Fatal(err)
		}
		s, facts, err := d.StreamListed("f")
		if err != nil || facts != want {
			t.Fatalf("%+v, %v; a look says %+v", facts, err, want)
		}
		defer s.Close()
		buf := make([]byte, 4)
		if n, err := s.ReadSome(buf, 0); string(buf[:n]) != "abc" || err != nil && err != io.EOF || s.Unchanged() != nil {
			t.Errorf("%q, %v, %v", buf[:n], err, s.Unchanged())
		}
		for name, want := range map[string]Reason{"sub": NotAFile, "fifo": FileSpecial, "../f": FileName} {
			_, _, err := d.StreamListed(name) // the listing was wrong, or is out of date
			wantReason(t, name, err, want)
		}
		for _, name := range []string{"link", "gone"} { // of which systems say different things
			if _, _, err := d.StreamListed(name); err == nil {
				t.Errorf("%s was opened", name)
			}
		}
	})
}

func TestStreamRefuses(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		write(t, in("f"), "x", 0o644)
		mkdir(t, in("sub"))
		symlink(t, "f", in("link"))
		if err := unix.Mkfifo(in("fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		d := mustOpen(t, open, dir)
		file, err := d.Lstat("f")
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]Reason{"sub": NotAFile, "link": FileLink, "fifo": FileSpecial} {
			own, err := d.Lstat(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Stream(name, own)
			wantReason(t, name, err, want)
			if _, err := d.Stream(name, file); err == nil { // it has taken the file's place
				t.Errorf("%s passes for a file", name)
			}
		}
		other := file
		other.Size++
		_, err = d.Stream("f", other)
		wantReason(t, "another file", err, FileChanging)
		other = file
		other.Mount = true
		_, err = d.Stream("f", other)
		wantReason(t, "a mount", err, FileMount)
		_, err = d.Stream("gone", file)
		wantReason(t, "gone", err, FileChanging)
		_, err = d.Stream("../f", file)
		wantReason(t, "a path", err, FileName)
	})
}

func TestXattrs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	write(t, file, "x", 0o644)
	want := []Xattr{{"user.a", "1"}, {"user.bytes", "\x00\xff"}, {"user.empty", ""}}
	for _, a := range want {
		if err := unix.Setxattr(file, a.Name, []byte(a.Value), 0); err != nil {
			t.Logf("NOT CHECKED HERE: this file system has no extended attributes: %v", err)
			return
		}
	}
	d := mustOpen(t, Open, dir)
	facts, err := d.Lstat("f")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Stream("f", facts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	user := func(name string) bool { return strings.HasPrefix(name, "user.") }
	sorted := func(attrs []Xattr) []Xattr {
		slices.SortFunc(attrs, func(a, b Xattr) int { return strings.Compare(a.Name, b.Name) })
		return attrs
	}
	if got, err := s.Xattrs(user, 100); err != nil || !slices.Equal(sorted(got), want) {
		t.Errorf("of the open file: %v, %v", got, err)
	}
	_, err = s.Xattrs(user, 20)
	wantReason(t, "more than allowed", err, ReadFailed)
	if got, err := s.Xattrs(func(n string) bool { return n == "user.a" }, 10); err != nil || len(got) != 1 {
		t.Errorf("one: %v, %v", got, err)
	}
	childXattrs(t, d, user, want, sorted)
}

func TestXattrErrors(t *testing.T) {
	disk := errors.New("disk")
	list := func(b []byte) (int, error) { return copy(b[:min(len(b), 4)], "a\x00b\x00") + 4*(1-min(len(b), 1)), nil }
	q := xattrQuery{func(string) bool { return true }, 10}
	for what, c := range map[string]struct {
		get  func(string, []byte) (int, error)
		want error
	}{
		"fails":      {func(string, []byte) (int, error) { return 0, disk }, disk},
		"is large":   {func(string, []byte) (int, error) { return 1 << 20, nil }, errManyAttrs},
		"are many":   {func(_ string, b []byte) (int, error) { return 6, nil }, errManyAttrs},
		"is shorter": {func(_ string, b []byte) (int, error) { return 5 - min(len(b), 1), nil }, errChanged},
	} {
		if _, err := q.read(list, c.get); !errors.Is(err, c.want) {
			t.Errorf("a value that %s: %v", what, err)
		}
	}
	if plainXattr(errNoAttr) != errChanged || plainXattr(unix.ENOTSUP) != nil || plainXattr(disk) != disk {
		t.Error("the meaning of an errno")
	}
}
