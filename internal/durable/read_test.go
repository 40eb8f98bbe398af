package durable_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/internal/durable"
	"github.com/iff-run/iff/internal/durable/durabletest"
)

func TestReadFileTakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	regular, fifo, link := filepath.Join(dir, "regular"), filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := os.WriteFile(regular, []byte("12345"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.Mkfifo(fifo, 0o600), os.Symlink(regular, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{regular, link} {
		data, mode, err := durable.ReadFile(path, 5)
		if err != nil || string(data) != "12345" || mode != 0o640 {
			t.Errorf("%s: %q %v %v", path, data, mode, err)
		}
	}
	for name, c := range map[string]struct {
		path string
		max  int64
		want error
	}{
		"larger":    {regular, 4, durable.ErrTooLarge},
		"FIFO":      {fifo, 5, durable.ErrNotRegular},
		"device":    {"/dev/zero", 5, durable.ErrNotRegular},
		"directory": {dir, 5, durable.ErrNotRegular},
		"missing":   {filepath.Join(dir, "none"), 5, fs.ErrNotExist},
	} {
		if _, _, err := durable.ReadFile(c.path, c.max); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	d := durabletest.New()
	if err := withOld(d); err != nil {
		t.Fatal(err)
	}
	if data, err := durable.Load(d, target, int64(len(oldText))); err != nil || string(data) != oldText {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := durable.Load(d, target, int64(len(oldText))-1); !errors.Is(err, durable.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if _, err := durable.Load(d, "/home", 1); !errors.Is(err, durable.ErrNotRegular) {
		t.Errorf("%v", err)
	}
	cut := cutAfterSize{d}
	if data, err := durable.Load(cut, target, 100); err != nil || string(data) != "the" {
		t.Errorf("cut while it was read: %q, %v", data, err)
	}
}

// cutAfterSize has its files cut once their size was asked for.
type cutAfterSize struct{ *durabletest.Disk }

type cutReader struct {
	durable.Reader
	disk *durabletest.Disk
	path string
}

func (c cutAfterSize) Open(path string) (durable.Reader, error) {
	r, err := c.Disk.Open(path)
	return cutReader{r, c.Disk, path}, err
}

func (c cutReader) Size() (int64, error) {
	size, err := c.Reader.Size()
	f, err2 := c.disk.OpenAt(c.path)
	if err == nil && err2 == nil {
		err = f.Truncate(3)
	}
	return size, errors.Join(err, err2)
}

func TestSweep(t *testing.T) {
	d := durabletest.New()
	for _, dir := range []string{"/home", "/home/" + durable.TempPrefix, "/home/" + durable.TempPrefix + "dir"} {
		if err := d.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", durable.TempPrefix + "a", durable.TempPrefix + "b", "x" + durable.TempPrefix} {
		f, err := d.Create("/home/"+name, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, name); err != nil {
			t.Fatal(err)
		}
	}
	d.Arm(durabletest.Fault{At: 0, Mode: durabletest.FailLost})
	if err := durable.Sweep(d, "/home"); err == nil {
		t.Error("a name that could not be removed is not told")
	}
	names, err := d.List("/home")
	want := fmt.Sprint([]string{durable.TempPrefix, durable.TempPrefix + "a", durable.TempPrefix + "dir", "file", "x" + durable.TempPrefix})
	if err != nil || fmt.Sprint(names) != want {
		t.Errorf("%v, %v, want %v", names, err, want)
	}
	if err := errors.Join(durable.Sweep(d, "/home"), durable.Sweep(d, "/absent")); err != nil {
		t.Error(err)
	}
	if names, _ := d.List("/home"); len(names) != 4 {
		t.Errorf("%v", names)
	}
}
