package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sweeps are the directories of these tests.
func sweeps() Kind {
	return Kind{Prefix: "iff-sweep-", Marker: "made-by-iff-sweep", Text: "All that is here is removed.\n"}
}

// killed is a directory whose process is gone: nobody holds it, and nobody removed it.
func killed(t *testing.T, dir string) string {
	t.Helper()
	p := live(t, dir)
	if err := errors.Join(os.MkdirAll(filepath.Join(p.Path(), "iff-ensemble-1", "work"), 0o700), p.dir.Close(), p.parent.Close()); err != nil {
		t.Fatal(err)
	}
	return p.Path()
}

func live(t *testing.T, dir string) *Dir {
	t.Helper()
	p, err := sweeps().Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// keptApart fills a directory with what a remover has to remove, and what it must
// not touch, and says what it did wrong.
func keptApart(t *testing.T, remove func(*os.Root) error) []string {
	t.Helper()
	dir, elsewhere := t.TempDir(), t.TempDir()
	alive := live(t, dir)
	outside := killed(t, elsewhere)
	keep := []string{alive.Path(), outside}
	for name, marker := range map[string]string{"iff-sweep-mine": "", "iff-sweep-other": "something else\n", "iff-ensemble-7": sweeps().Text, "my-iff-sweep-1": sweeps().Text} {
		at := filepath.Join(dir, name)
		need(t, os.Mkdir(at, 0o700))
		if marker != "" {
			need(t, os.WriteFile(filepath.Join(at, sweeps().Marker), []byte(marker), 0o600))
		}
		keep = append(keep, at)
	}
	open := filepath.Join(dir, "iff-sweep-open") // others can write there
	need(t, os.Mkdir(open, 0o700))
	need(t, os.WriteFile(filepath.Join(open, sweeps().Marker), []byte(sweeps().Text), 0o600))
	need(t, os.Chmod(open, 0o777))
	file, link := filepath.Join(dir, "iff-sweep-file"), filepath.Join(dir, "iff-sweep-link")
	need(t, os.WriteFile(file, []byte(sweeps().Text), 0o600))
	need(t, os.Symlink(outside, link))
	linked := filepath.Join(dir, "iff-sweep-linked") // its marker is somewhere else
	need(t, os.Mkdir(linked, 0o700))
	need(t, os.Symlink(filepath.Join(outside, sweeps().Marker), filepath.Join(linked, sweeps().Marker)))
	keep = append(keep, open, file, link, linked)
	gone := []string{killedBeside(t, dir), killedBeside(t, dir)}
	root, err := os.OpenRoot(dir)
	need(t, err)
	defer root.Close()
	var wrong []string
	if err := remove(root); err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, path := range keep {
		if _, err := os.Lstat(path); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s is gone", filepath.Base(path)))
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "iff-ensemble-1", "work")); err != nil {
		wrong = append(wrong, "what a link leads to was emptied")
	}
	for _, path := range gone {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			wrong = append(wrong, fmt.Sprintf("%s is left", path))
		}
	}
	_ = alive.dir.Close()
	return wrong
}

// killedBeside is killed without the next one, which would remove those before.
func killedBeside(t *testing.T, dir string) string {
	t.Helper()
	at := killed(t, t.TempDir())
	to := filepath.Join(dir, filepath.Base(at))
	need(t, os.Rename(at, to))
	return to
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRemoveLeft(t *testing.T) {
	for _, problem := range keptApart(t, sweeps().removeLeft) {
		t.Error(problem)
	}
	for name, mutant := range map[string]func(*os.Root) error{
		"none": func(*os.Root) error { return nil },
		"all that is called so": func(r *os.Root) error {
			there, err := fs.Glob(r.FS(), sweeps().Prefix+"*")
			for _, name := range there {
				err = errors.Join(err, r.RemoveAll(name))
			}
			return err
		},
		"without a look at the lock": func(r *os.Root) error {
			there, err := fs.Glob(r.FS(), sweeps().Prefix+"*")
			for _, name := range there {
				if sweeps().marked(r, name) {
					err = errors.Join(err, sweeps().remove(r, name))
				}
			}
			return err
		},
	} {
		if len(keptApart(t, mutant)) == 0 {
			t.Errorf("%s: the check lets it pass", name)
		}
	}
}

// TestCloseLooks puts another directory where one was made.
func TestCloseLooks(t *testing.T) {
	p := live(t, t.TempDir())
	path := p.Path()
	need(t, os.Rename(path, path+"-moved"))
	need(t, os.Mkdir(path, 0o700))
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "not the directory") {
		t.Errorf("it was closed with %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestLocked removes what its owner cannot write to, and nothing that a link in it
// leads to.
func TestLocked(t *testing.T) {
	d, outside := live(t, t.TempDir()), t.TempDir()
	deep := filepath.Join(d.Path(), "a", "b")
	need(t, os.MkdirAll(deep, 0o755))
	need(t, os.WriteFile(filepath.Join(deep, "f"), nil, 0o400))
	need(t, os.Symlink(outside, filepath.Join(deep, "out")))
	need(t, os.Chmod(outside, 0o555))
	need(t, os.Chmod(deep, 0o555))
	need(t, os.Chmod(filepath.Dir(deep), 0o000))
	path := d.Path()
	need(t, d.Close())
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o555 {
		t.Errorf("what a link leads to was touched: %v %v", info, err)
	}
}

// TestKeep leaves the directory to whoever wants it: the next one does not remove
// it.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	d := live(t, dir)
	path := d.Path()
	need(t, os.WriteFile(filepath.Join(path, "mine"), nil, 0o600))
	need(t, d.Keep())
	need(t, live(t, dir).Close())
	there, err := os.ReadDir(path)
	if err != nil || len(there) != 1 || there[0].Name() != "mine" {
		t.Errorf("%v %v", there, err)
	}
	if d.Close() == nil || d.Keep() == nil || new(Dir).Close() == nil || new(Dir).Path() != "" {
		t.Error("what is closed was closed again")
	}
	if _, err := (Kind{Prefix: "iff-"}).Make(dir); err == nil {
		t.Error("a kind without a marker makes directories")
	}
}
