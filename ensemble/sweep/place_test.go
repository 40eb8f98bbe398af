package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// killed is a place whose sweep is gone: nobody holds it, and nobody removed it.
func killed(t *testing.T, dir string) string {
	t.Helper()
	p := live(t, dir)
	if err := errors.Join(os.MkdirAll(filepath.Join(p.path(), "iff-ensemble-1", "work"), 0o700), p.dir.Close(), p.parent.Close()); err != nil {
		t.Fatal(err)
	}
	return p.path()
}

func live(t *testing.T, dir string) *place {
	t.Helper()
	p, err := newPlace(dir)
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
	keep := []string{alive.path(), outside}
	for name, marker := range map[string]string{"iff-sweep-mine": "", "iff-sweep-other": "something else\n", "iff-ensemble-7": placeText, "my-iff-sweep-1": placeText} {
		at := filepath.Join(dir, name)
		need(t, os.Mkdir(at, 0o700))
		if marker != "" {
			need(t, os.WriteFile(filepath.Join(at, placeMarker), []byte(marker), 0o600))
		}
		keep = append(keep, at)
	}
	open := filepath.Join(dir, "iff-sweep-open") // others can write there
	need(t, os.Mkdir(open, 0o700))
	need(t, os.WriteFile(filepath.Join(open, placeMarker), []byte(placeText), 0o600))
	need(t, os.Chmod(open, 0o777))
	file, link := filepath.Join(dir, "iff-sweep-file"), filepath.Join(dir, "iff-sweep-link")
	need(t, os.WriteFile(file, []byte(placeText), 0o600))
	need(t, os.Symlink(outside, link))
	linked := filepath.Join(dir, "iff-sweep-linked") // its marker is somewhere else
	need(t, os.Mkdir(linked, 0o700))
	need(t, os.Symlink(filepath.Join(outside, placeMarker), filepath.Join(linked, placeMarker)))
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

// killedBeside is killed without the next sweep, which would remove those before.
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
	for _, problem := range keptApart(t, removeLeft) {
		t.Error(problem)
	}
	for name, mutant := range map[string]func(*os.Root) error{
		"none": func(*os.Root) error { return nil },
		"all that is called so": func(r *os.Root) error {
			there, err := fs.Glob(r.FS(), placePrefix+"*")
			for _, name := range there {
				err = errors.Join(err, r.RemoveAll(name))
			}
			return err
		},
		"without a look at the lock": func(r *os.Root) error {
			there, err := fs.Glob(r.FS(), placePrefix+"*")
			for _, name := range there {
				if marked(r, name) {
					err = errors.Join(err, removePlace(r, name))
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

// TestNextSweepRemoves has a sweep begin where another one was killed.
func TestNextSweepRemoves(t *testing.T) {
	dir := t.TempDir()
	left := killed(t, dir)
	if _, err := Make(t.Context(), small(1), new(fake), Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		t.Errorf("%s: left is %v %v", left, there, err)
	}
}

// TestCloseLooks puts another directory where a place was.
func TestCloseLooks(t *testing.T) {
	p := live(t, t.TempDir())
	need(t, os.Rename(p.path(), p.path()+"-moved"))
	need(t, os.Mkdir(p.path(), 0o700))
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "not the directory") {
		t.Errorf("it was closed with %v", err)
	}
	if _, err := os.Stat(p.path()); err != nil {
		t.Error(err)
	}
}
