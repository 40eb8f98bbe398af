package beneath

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// everyWay runs a test against each implementation this system can run.
func everyWay(t *testing.T, test func(t *testing.T, open func(string) (*Dir, error))) {
	t.Helper()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) { test(t, opener(way)) })
	}
}

func opener(way func(string) (handle, error)) func(string) (*Dir, error) {
	return func(path string) (*Dir, error) {
		h, err := way(path)
		if err != nil {
			return nil, refusal(path, err)
		}
		return &Dir{h: h, path: path}, nil
	}
}

func mustOpen(t testing.TB, open func(string) (*Dir, error), path string) *Dir {
	t.Helper()
	d, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t testing.TB, path string, data string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// reasonOf is the reason of err, "" for nil, and fails the test for an error without one.
func reasonOf(t testing.TB, err error) Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v (%T) is no *Error", err, err)
	}
	if advice[e.Reason] == "" || e.Detail == "" {
		t.Errorf("%#v has no advice or no detail", e)
	}
	return e.Reason
}

func wantReason(t testing.TB, what string, err error, want Reason) {
	t.Helper()
	if got := reasonOf(t, err); got != want {
		t.Errorf("%s: reason %q (%v), want %q", what, got, err, want)
	}
}

func TestReadFile(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		d := mustOpen(t, open, dir)
		for _, size := range []int{0, 1, 4095, 4096, 4097, 70_000, 1 << 20} {
			data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
			for _, mode := range []fs.FileMode{0o644, 0o755, 0o601} {
				name := fmt.Sprintf("f%d-%o", size, mode)
				write(t, filepath.Join(dir, name), string(data), mode)
				f, err := d.ReadFile(name, int64(size))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(f.Data, data) || f.Size != int64(size) || f.Executable != (mode&0o111 != 0) || cap(f.Data) != len(f.Data) {
					t.Errorf("%s: %d bytes, size %d, capacity %d, executable %v", name, len(f.Data), f.Size, cap(f.Data), f.Executable)
				}
				_, err = d.ReadFile(name, int64(size)-1)
				wantReason(t, name+" one byte over", err, FileTooLarge)
			}
		}
	})
}

func TestWalk(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		mkdir(t, filepath.Join(dir, "a", "b"))
		write(t, filepath.Join(dir, "a", "b", "f"), "deep", 0o644)
		root := mustOpen(t, open, dir)
		a, err := root.Dir("a")
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Dir("b")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		f, err := b.ReadFile("f", 10)
		if err != nil || string(f.Data) != "deep" {
			t.Errorf("%q, %v", f.Data, err)
		}
		// A handle stays with the directory, whatever becomes of its name.
		if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "z")); err != nil {
			t.Fatal(err)
		}
		if f, err = b.ReadFile("f", 10); err != nil || string(f.Data) != "deep" {
			t.Errorf("after a rename above: %q, %v", f.Data, err)
		}
	})
}

func TestEntries(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		d := mustOpen(t, open, dir)
		if got, err := d.Entries(0); err != nil || len(got) != 0 {
			t.Errorf("empty directory: %v, %v", got, err)
		}
		const n = 1000 // several blocks
		for i := range n {
			write(t, filepath.Join(dir, fmt.Sprintf("%03d-%s", (i*7919)%n, strings.Repeat("x", 40))), "", 0o644)
		}
		mkdir(t, filepath.Join(dir, "Z"))
		for range 2 { // the second time starts at the beginning again
			got, err := d.Entries(n + 1)
			if err != nil || len(got) != n+1 {
				t.Fatalf("%d entries, %v", len(got), err)
			}
			for i, e := range got[:n] {
				if e.Kind != Regular || !strings.HasPrefix(e.Name, fmt.Sprintf("%03d-", i)) {
					t.Fatalf("entry %d is %+v", i, e)
				}
			}
			if last := got[n]; last != (Entry{"Z", Directory}) {
				t.Errorf("last is %+v", last)
			}
		}
		for _, max := range []int{-1, 0, 1, n} {
			got, err := d.Entries(max)
			wantReason(t, fmt.Sprint("max ", max), err, TooManyEntries)
			if got != nil {
				t.Errorf("max %d: %d entries beside an error", max, len(got))
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "file"), "x", 0o644)
		mkdir(t, filepath.Join(dir, "sub"))
		write(t, filepath.Join(dir, "sub", "f"), "x", 0o644)
		d := mustOpen(t, open, dir)
		for _, c := range []struct {
			name       string
			file, into Reason
		}{
			{"file", "", NotADirectory},
			{"sub", NotAFile, ""},
			{"absent", NotFound, NotFound},
			{"", FileName, FileName},
			{".", FileName, FileName},
			{"..", FileName, FileName},
			{"sub/f", FileName, FileName},
			{"/etc", FileName, FileName},
			{"sub/", FileName, FileName},
			{"file\x00", FileName, FileName},
			{strings.Repeat("n", 300), FileName, FileName},
		} {
			_, err := d.ReadFile(c.name, 10)
			wantReason(t, fmt.Sprintf("ReadFile(%q)", c.name), err, c.file)
			sub, err := d.Dir(c.name)
			wantReason(t, fmt.Sprintf("Dir(%q)", c.name), err, c.into)
			if sub != nil {
				sub.Close()
			}
		}
		_, err := d.ReadFile("absent", 10)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
		for _, max := range []int64{0, -1, -1 << 63} {
			_, err := d.ReadFile("file", max)
			wantReason(t, fmt.Sprint("limit ", max), err, FileTooLarge)
		}
		for path, want := range map[string]Reason{"file": NotADirectory, "absent": NotFound} {
			_, err := open(filepath.Join(dir, path))
			wantReason(t, "open "+path, err, want)
		}
	})
	for _, path := range []string{"", "a\x00b"} {
		_, err := Open(path)
		wantReason(t, fmt.Sprintf("Open(%q)", path), err, FileName)
	}
}

func TestClosed(t *testing.T) {
	closed := mustOpen(t, Open, t.TempDir())
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for what, d := range map[string]*Dir{"closed": closed, "zero": {}} {
		if err := d.Close(); err != nil {
			t.Errorf("%s: second Close: %v", what, err)
		}
		_, e1 := d.ReadFile("x", 1)
		_, e2 := d.Dir("x")
		_, e3 := d.Entries(1)
		_, e4 := d.Stamp()
		for _, err := range []error{e1, e2, e3, e4} {
			wantReason(t, what, err, ReadFailed)
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: %v is not fs.ErrClosed", what, err)
			}
		}
	}
}

func TestStamp(t *testing.T) {
	everyWay(t, func(t *testing.T, open func(string) (*Dir, error)) {
		dir := t.TempDir()
		d := mustOpen(t, open, dir)
		first, err := d.Stamp()
		if err != nil || first == (Stamp{}) {
			t.Fatalf("%v, %v", first, err)
		}
		if again, _ := d.Stamp(); again != first {
			t.Errorf("%v then %v, and nothing happened", first, again)
		}
		// Until the clock moved: on kernels with a coarse one the first write may share its tick with the directory's birth.
		for i := 0; ; i++ {
			write(t, filepath.Join(dir, fmt.Sprint(i)), "", 0o644)
			if now, _ := d.Stamp(); now != first {
				break
			}
			if i == 100_000 {
				t.Fatal("no new entry changes the stamp")
			}
		}
	})
}

func TestErrorText(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "12345", 0o644)
	d := mustOpen(t, Open, dir)
	_, err := d.ReadFile("f", 4)
	want := dir + "/f: file-too-large: 5 bytes, more than the 4 allowed; make it smaller, or remove it"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	_, err = mustOpen(t, opener(openRoot), dir).Dir("absent")
	if want := dir + "/absent: not-found: no such file or directory; check the spelling"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want) // and not the name twice
	}
	_, err = d.ReadFile("a\x1b[31m\u202eb\xff/", 4)
	if err == nil || !strings.Contains(err.Error(), `a\x1b[31m\u202eb\xff/"`) {
		t.Errorf("not escaped: %v", err)
	}
}

func TestKindString(t *testing.T) {
	seen := map[string]bool{}
	for k := Unknown; k <= Socket; k++ {
		seen[k.String()] = true
	}
	if len(seen) != 7 || Kind(99).String() != Unknown.String() {
		t.Errorf("%v", seen)
	}
}
