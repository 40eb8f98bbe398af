package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iff-run/iff/internal/durable"
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
