package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/internal/durable"
)

func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func namesIn(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOnTheRealFileSystem(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"", "one", strings.Repeat("two", 1<<20)} {
		if err := durable.WriteFile(fsys, path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if content(t, path) != text {
			t.Errorf("not the %d bytes written", len(text))
		}
	}
	if err := durable.WriteNew(fsys, path, []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("WriteNew over a file: %v", err)
	}
	added := filepath.Join(dir, "new")
	if err := durable.WriteNew(fsys, added, []byte("new"), 0o600); err != nil || content(t, added) != "new" {
		t.Errorf("WriteNew: %v", err)
	}
	log := filepath.Join(dir, "log")
	for _, line := range []string{"a\n", "b\n", ""} {
		if err := durable.Append(fsys, log, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if content(t, log) != "a\nb\n" {
		t.Errorf("%q", content(t, log))
	}
	sub := filepath.Join(dir, "sub")
	if err := durable.Mkdir(fsys, sub, 0o700); err != nil {
		t.Error(err)
	}
	if err := durable.Mkdir(fsys, sub, 0o700); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Mkdir again: %v", err)
	}
	if got := fmt.Sprint(namesIn(t, dir)); got != "[f log new sub]" {
		t.Error(got)
	}
}

func TestRefusedTargets(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	for _, path := range []string{dir, filepath.Join(dir, "absent", "f"), "", filepath.Join(dir, "a\x00b")} {
		for what, err := range map[string]error{
			"WriteFile": durable.WriteFile(fsys, path, []byte("x"), 0o600),
			"WriteNew":  durable.WriteNew(fsys, path, []byte("x"), 0o600),
			"Append":    durable.Append(fsys, path, []byte("x"), 0o600),
		} {
			if err == nil {
				t.Errorf("%s to %q succeeds", what, path)
			}
		}
	}
	if names := namesIn(t, dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
	if names, _ := filepath.Glob(durable.TempPrefix + "*"); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// Readers see one content or the other while writers replace the file.
func TestReadersSeeWholeFiles(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	path := filepath.Join(dir, "f")
	texts := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)}
	if err := durable.WriteFile(fsys, path, texts[0], 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var writers, reader sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 30 {
				if err := durable.WriteFile(fsys, path, text, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	reader.Go(func() {
		for {
			if got := []byte(content(t, path)); !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
				t.Errorf("a mixture of %d bytes", len(got))
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	reader.Wait()
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func TestOneWriteNewWins(t *testing.T) {
	dir, fsys := t.TempDir(), durable.OS()
	for round := range 20 {
		path := filepath.Join(dir, fmt.Sprint(round))
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = durable.WriteNew(fsys, path, fmt.Appendf(nil, "writer %d", i), 0o600) })
		}
		all.Wait()
		var won []string
		for i, err := range errs {
			if err == nil {
				won = append(won, fmt.Sprintf("writer %d", i))
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		}
		if len(won) != 1 || content(t, path) != won[0] {
			t.Errorf("%v won, it holds %q", won, content(t, path))
		}
	}
}
