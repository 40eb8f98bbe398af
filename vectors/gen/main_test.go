package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckedInFiles: what lies in the repository is what is made, every time.
func TestCheckedInFiles(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second time over the first
		if err := writeAll(dir, all()); err != nil {
			t.Fatal(err)
		}
	}
	made, err := fs.Glob(os.DirFS(dir), "*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	there, err := fs.Glob(os.DirFS(".."), "*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(made, "\n") != strings.Join(there, "\n") {
		t.Errorf("%d files are made, %d are there; run go run ./vectors/gen", len(made), len(there))
	}
	for _, name := range made {
		want, _ := os.ReadFile(filepath.Join(dir, name))
		got, _ := os.ReadFile(filepath.Join("..", name))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what is made; run go run ./vectors/gen", name)
		}
	}
}

func TestNoNameTwice(t *testing.T) {
	v := vector{family: "labels", name: "a", expect: "ok", comment: "c"}
	if err := writeAll(t.TempDir(), []vector{v, v}); err == nil {
		t.Error("one vector overwrites another")
	}
}

func TestSpoils(t *testing.T) {
	for payload, want := range map[string]bool{
		"": false, "plain": false, "é 日本": false, "two\nlines": false,
		"\xff": true, "a\x00": true, "a\r\n": true, "\ufeff": true, "a ": true, "a \nb": true, "a\n": true, "\na": true,
		"a\tb": true, "\u202e": true, "\u00a0": true,
	} {
		if spoils([]byte(payload)) != want {
			t.Errorf("spoils(%q) is not %v", payload, want)
		}
	}
}
