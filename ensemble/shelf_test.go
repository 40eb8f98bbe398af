//go:build unix

package ensemble

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// adders make a file on a shelf: ours, and planted bugs.
var adders = map[string]func(s *shelf, dir, name string) error{
	"ours": func(s *shelf, _, name string) error { return s.add(name, []byte("new\n"), 0o666) },
	"by path": func(_ *shelf, dir, name string) error {
		return os.WriteFile(filepath.Join(dir, name), []byte("new\n"), 0o666)
	},
	"not alone": func(s *shelf, _, name string) error {
		f, err := os.OpenFile(filepath.Join(s.dir.Name(), name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return err
		}
		_, err = f.WriteString("new\n")
		return errors.Join(err, f.Close())
	},
}

// A file is made where the directory is that was opened, and nowhere else.
func TestShelfLeadsNowhereElse(t *testing.T) {
	for how, add := range adders {
		if astray := stray(t, add); (astray == "") != (how == "ours") {
			t.Errorf("%s: went astray: %q", how, astray)
		}
	}
}

// stray says of what was tried what should not have happened.
func stray(t *testing.T, add func(s *shelf, dir, name string) error) string {
	t.Helper()
	base := t.TempDir()
	dir, outside := filepath.Join(base, "root", "shelf"), filepath.Join(base, "outside")
	root, err := os.OpenRoot(base)
	if err == nil {
		err = errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(outside, []byte("old\n"), 0o644),
			os.Symlink(outside, filepath.Join(dir, "link")), os.Symlink(filepath.Join(base, "gone"), filepath.Join(dir, "dangling")),
			os.WriteFile(filepath.Join(dir, "there"), []byte("old\n"), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, err := openShelf(root, "root/shelf")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, name := range []string{"link", "dangling", "there", "../away", ".", ".."} {
		if add(s, dir, name) == nil {
			return name
		}
	}
	// Somebody puts a link in the directory's place.
	if err := errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(base, dir)); err != nil {
		t.Fatal(err)
	}
	if err := add(s, dir, "file"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{outside: "old\n", filepath.Join(dir+"-moved", "there"): "old\n", filepath.Join(dir+"-moved", "file"): "new\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			return path
		}
	}
	return ""
}

// The umask takes nothing away.
func TestShelfMode(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, err := openShelf(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for name, mode := range map[string]uint32{"a": 0o666, "b": 0o600, "c": 0o777} {
		if err := s.add(name, nil, mode); err != nil {
			t.Fatal(err)
		}
		if info, err := root.Stat(name); err != nil || info.Mode() != os.FileMode(mode) {
			t.Errorf("%v, %v; want %o", info, err, mode)
		}
	}
}

// What is taken away is what has the name, and not what it leads to.
func TestShelfRemove(t *testing.T) {
	base := t.TempDir()
	root, err := os.OpenRoot(base)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(base, "shelf", "full", "in"), 0o755), os.WriteFile(filepath.Join(base, "away"), nil, 0o600),
			os.Symlink("../away", filepath.Join(base, "shelf", "link")), os.WriteFile(filepath.Join(base, "shelf", "file"), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, err := openShelf(root, "shelf")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, c := range []struct {
		name string
		goes bool
	}{{"link", true}, {"file", true}, {"gone", false}, {"../away", false}, {"full/in", false}, {"full", false}, {".", false}} {
		if err := s.remove(c.name); (err == nil) != c.goes {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if left := treeOf(t, base); len(left) != 5 { // itself, away, shelf, full and in
		t.Errorf("there is still %v", left)
	}
	if err := os.Remove(filepath.Join(base, "shelf", "full", "in")); err != nil {
		t.Fatal(err)
	}
	if err := s.remove("full"); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
	if err := unix.Mkfifo(filepath.Join(base, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "away"} { // nobody will write to the pipe
		if s, err := openShelf(root, name); err == nil {
			t.Errorf("%s is a shelf", name)
			_ = s.close()
		}
	}
}
