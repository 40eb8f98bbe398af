//go:build linux || darwin || dragonfly || netbsd || openbsd

package beneath

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func symlink(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestSpecialFiles(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		write(t, in("file"), "x", 0o644)
		mkdir(t, in("sub"))
		symlink(t, "file", in("to-file"))
		symlink(t, "sub", in("to-dir"))
		symlink(t, "/etc/passwd", in("outside"))
		symlink(t, "..", in("up"))
		symlink(t, "nowhere", in("dangling"))
		symlink(t, "loop", in("loop"))
		symlink(t, "/proc/self/root", in("magic"))
		want := map[string]Kind{"file": Regular, "sub": Directory, "fifo": FIFO, "socket": Socket}
		for _, name := range []string{"to-file", "to-dir", "outside", "up", "dangling", "loop", "magic"} {
			want[name] = Link
		}
		for name, kind := range map[string]uint32{"fifo": unix.S_IFIFO, "socket": unix.S_IFSOCK} {
			if err := unix.Mknod(in(name), kind|0o644, 0); err != nil {
				t.Fatal(err)
			}
		}
		for name, number := range map[string]int{"null": int(unix.Mkdev(1, 3)), "zero": int(unix.Mkdev(1, 5))} {
			if err := unix.Mknod(in(name), unix.S_IFCHR|0o666, number); err != nil {
				t.Logf("NOT CHECKED HERE: device nodes cannot be made (%v); /dev itself is checked below", err)
				break
			}
			want[name] = Device
		}
		d := mustOpen(t, open, dir)
		entries, err := d.Entries(100)
		if err != nil || len(entries) != len(want) {
			t.Fatalf("%v, %v", entries, err)
		}
		for _, e := range entries {
			if e.Kind != want[e.Name] {
				t.Errorf("%s is a %v, want %v", e.Name, e.Kind, want[e.Name])
			}
			reason := map[Kind]Reason{Link: FileLink, FIFO: FileSpecial, Socket: FileSpecial, Device: FileSpecial}[e.Kind]
			if reason == "" {
				continue
			}
			_, err = d.ReadFile(e.Name, 1<<20)
			wantReason(t, "read "+e.Name, err, reason)
			if !strings.Contains(err.Error(), e.Kind.String()) {
				t.Errorf("%v does not say %v", err, e.Kind)
			}
			_, err = d.Dir(e.Name)
			wantReason(t, "enter "+e.Name, err, reason)
		}
	})
}

// /dev holds devices everywhere, also for those who cannot make one.
func TestDeviceDirectory(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		d := mustOpen(t, open, "/dev")
		for _, name := range []string{"null", "zero", "random"} {
			_, err := d.ReadFile(name, 1<<20)
			wantReason(t, name, err, FileSpecial)
		}
	})
}

// The caller may name the root through a link; a FIFO there is refused at once.
func TestOpenPath(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		mkdir(t, filepath.Join(dir, "real"))
		symlink(t, "real", filepath.Join(dir, "link"))
		if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		mustOpen(t, open, filepath.Join(dir, "link"))
		_, err := open(filepath.Join(dir, "fifo"))
		wantReason(t, "fifo", err, NotADirectory)
	})
}

// The opens themselves must hold when the first look is bypassed: that is the attacker's window.
func TestOpensRefuseByThemselves(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "x", 0o644)
	symlink(t, filepath.Join(outside, "secret"), filepath.Join(dir, "file-link"))
	symlink(t, outside, filepath.Join(dir, "dir-link"))
	mkdir(t, filepath.Join(dir, "sub"))
	write(t, filepath.Join(dir, "sub", "f"), "x", 0o644)
	symlink(t, "sub/f", filepath.Join(dir, "file-beneath"))
	symlink(t, "sub", filepath.Join(dir, "dir-beneath"))
	for name, way := range ways {
		h, err := way(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range []string{"file-link", "file-beneath"} {
			if f, err := h.file(link); err == nil {
				f.Close()
				t.Errorf("%s opened a file through %s", name, link)
			}
		}
		for _, link := range []string{"dir-link", "dir-beneath"} {
			if sub, err := h.dir(link); err == nil {
				sub.Close()
				t.Errorf("%s opened a directory through %s", name, link)
			}
		}
		h.Close()
	}
}

// A FIFO that took the file's place between look and open neither hangs the reader nor is read.
func TestFIFOInTheWindow(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "f"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, way := range ways {
		h, err := way(dir)
		if err != nil {
			t.Fatal(err)
		}
		f, err := h.file("f") // without O_NONBLOCK this waits for a writer for ever
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readUnchanged(f, info{kind: Regular, size: 4}); !errors.Is(err, errChanged) {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
		h.Close()
	}
}

func TestReasonOfErrno(t *testing.T) {
	wantReason(t, "EACCES", refusal("x", unix.EACCES), NoAccess)
	wantReason(t, "EPERM", refusal("x", unix.EPERM), NoAccess)
	wantReason(t, "EIO", refusal("x", unix.EIO), ReadFailed)
	wantReason(t, "EAGAIN", refusal("x", unix.EAGAIN), FileChanging)
}

func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "x", 0o644)
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, Open, dir)
	if f, err := d.ReadFile("b", 1); err != nil || f.Links != 2 {
		t.Errorf("%d links, %v", f.Links, err)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// Every descriptor is given back, on refusals too.
func TestNoDescriptorLeft(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x", 0o644)
	mkdir(t, filepath.Join(dir, "sub"))
	symlink(t, "file", filepath.Join(dir, "link"))
	before := descriptors(t)
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		for range 50 {
			d, err := open(dir)
			if err != nil {
				t.Fatal(err)
			}
			d.Entries(1)
			d.Entries(10)
			for _, name := range []string{"file", "sub", "link", "absent"} {
				d.ReadFile(name, 0)
				d.ReadFile(name, 1)
				if sub, err := d.Dir(name); err == nil {
					sub.Close()
				}
			}
			d.Close()
			open(filepath.Join(dir, "file"))
		}
	})
	if after := descriptors(t); after > before+2 { // the runtime may have opened its poller
		t.Errorf("%d descriptors were open, %d are", before, after)
	}
}
