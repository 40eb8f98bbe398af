package rehash_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/observe/rehash"
)

// onThread runs f on a thread of its own, which then ends with whatever was changed about it.
func onThread(f func()) {
	var thread sync.WaitGroup
	thread.Go(func() {
		runtime.LockOSThread()
		f()
	})
	thread.Wait()
}

// A mount is one unreadable object; nothing of it is looked at. Where it hides something, that is not seen either.
func TestMounts(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	write(t, filepath.Join(outside, "secret"), secret, 0o644)
	for _, name := range []string{"file", "dir/f", "tmpfs/f", "self/f", "other"} {
		write(t, in(name), name, 0o644)
	}
	onThread(func() {
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			t.Logf("NOT CHECKED HERE: a mount table of one's own needs root: %v", err)
			return
		}
		must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
			unix.Mount(outside, in("dir"), "", unix.MS_BIND, ""), unix.Mount(filepath.Join(outside, "secret"), in("file"), "", unix.MS_BIND, ""),
			unix.Mount("tmpfs", in("tmpfs"), "tmpfs", 0, ""), unix.Mount(in("self"), in("self"), "", unix.MS_BIND, ""))
		o := open(t, root, rehash.Options{Workers: 1})
		for range 2 {
			s := take(t, o.Snapshot)
			want := []corpus.Object{"work/.", "work/dir", "work/file", "work/other", "work/self", "work/tmpfs"}
			if got := objects(s); len(got) != len(want) || s.Unread() != 4 || !s.State("work/other").Known() || s.State("work/dir/secret") != corpus.Unreadable {
				t.Errorf("%s", s.Text())
			}
		}
		for i, s := range read(t, o, "dir", "dir/secret", "dir/f", "file", "tmpfs", "tmpfs/f", "self", "self/f") {
			if s != corpus.Unreadable {
				t.Errorf("%d: %s", i, s)
			}
		}
		// The root itself may be a mount.
		if s := take(t, open(t, in("self"), rehash.Options{Workers: 1}).Snapshot); s.Len() != 2 || s.Unread() > 0 {
			t.Errorf("%s", s.Text())
		}
	})
}

// As somebody who may not read: what is shown is shown, the rest is unreadable.
func TestDenied(t *testing.T) {
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, name) }
	for _, name := range []string{"shown", "file", "listed/f", "closed/f", "blind/f"} {
		write(t, in(name), name, 0o644)
	}
	must(t, os.Chmod(filepath.Dir(root), 0o755), os.Chmod(root, 0o755), os.Chmod(in("file"), 0), os.Chmod(in("closed"), 0), os.Chmod(in("listed"), 0o744), os.Chmod(in("blind"), 0o711))
	t.Cleanup(func() { os.Chmod(in("closed"), 0o755) })
	onThread(func() {
		unix.Setfsuid(65534) // no effect for an ordinary user, who needs none but for what is his own
		unix.Setfsgid(65534)
		o := open(t, root, rehash.Options{Workers: 1})
		s := take(t, o.Snapshot)
		want := map[corpus.Object]bool{"work/.": true, "work/shown": true, "work/file": false, "work/closed": false, "work/closed/f": false}
		if os.Getuid() == 0 {
			want["work/listed"], want["work/listed/f"], want["work/blind"], want["work/blind/f"] = true, false, false, false
		} else {
			t.Log("NOT CHECKED HERE: directories of somebody else need root to make")
		}
		for object, known := range want {
			if got := s.State(object); got.Known() != known {
				t.Errorf("%s is %s in the snapshot", object, got)
			}
		}
		for path, known := range map[string]bool{"shown": true, "file": false, "closed/f": false, "closed/gone": false, "gone": true} {
			if got := read(t, o, path)[0]; got.Known() != known {
				t.Errorf("%s is read as %s", path, got)
			}
		}
	})
}

func TestDeepTree(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, strings.Repeat("d/", 127)+"f"), "x", 0o644)
	o := open(t, root, rehash.Options{})
	same(t, "deep", take(t, o.Snapshot), reference(t, root, corpus.Patterns{}))
	write(t, filepath.Join(root, strings.Repeat("d/", 128)+"f"), "x", 0o644)
	if _, err := o.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), string(rehash.TooDeep)) {
		t.Errorf("%v", err)
	}
}

// Every descriptor is given back.
func TestNoDescriptorLeft(t *testing.T) {
	root := t.TempDir()
	everyKind(t, root)
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		return len(open)
	}
	o := open(t, root, rehash.Options{})
	before := count()
	for range 10 {
		s := take(t, o.Full)
		if _, err := o.Read(t.Context(), append(objects(s), "work/gone/x", "work/file/x", "work/link/x")); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after > before+1 {
		t.Errorf("%d descriptors were open, %d are", before, after)
	}
}
