package trial

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	need(t, os.MkdirAll(filepath.Dir(path), 0o755))
	need(t, os.WriteFile(path, []byte(text), 0o644))
}

// links are the targets of links that a tree has, and whether they stay inside. All of
// them together must not lead out either.
var links = map[string]struct {
	target string
	stays  bool
}{
	"plain":       {"a/one.txt", true},
	"a/b/up":      {"../one.txt", true},
	"a/b/top":     {"../../top.txt", true},
	"dot":         {"./a//b", true},
	"absolute":    {"/etc/passwd", false},
	"outside":     {"../secret", false},
	"a/outside":   {"../../secret", false},
	"a/b/through": {"../../../secret", false},
	"back":        {"a/../top.txt", false},
	"chain":       {"a/b/root/../secret", false}, // root leads up to the root, and so this would leave it
	"a/b/root":    {"../..", true},
	"hanging":     {"nothing", true},
}

// tree makes a corpus with what a copy has to cope with, and a file beside it.
func tree(t testing.TB) string {
	t.Helper()
	above := t.TempDir()
	write(t, above, "secret", "SECRET")
	dir := filepath.Join(above, "corpus")
	write(t, dir, "top.txt", "top")
	write(t, dir, "a/one.txt", "one")
	write(t, dir, "a/b/two.sh", "two")
	need(t, os.Chmod(filepath.Join(dir, "a/b/two.sh"), 0o750))
	need(t, os.Link(filepath.Join(dir, "top.txt"), filepath.Join(dir, "a/second.txt")))
	need(t, os.Mkdir(filepath.Join(dir, "sealed"), 0o755))
	write(t, dir, "sealed/in.txt", "in")
	need(t, os.Chmod(filepath.Join(dir, "sealed"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "sealed"), 0o700) })
	for name, l := range links {
		need(t, os.Symlink(l.target, filepath.Join(dir, name)))
	}
	need(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	listener, err := net.Listen("unix", filepath.Join(dir, "sock"))
	need(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return dir
}

type copies func(ctx context.Context, from, to string, files, bytes int64) (Copied, error)

// faults says what a copy did wrong.
func faults(t *testing.T, do copies) []string {
	t.Helper()
	from := tree(t)
	before := sum(t, from)
	to := filepath.Join(t.TempDir(), "copy")
	need(t, os.Mkdir(to, 0o700))
	out, err := do(t.Context(), from, to, 1000, 1000)
	if err != nil {
		return []string{err.Error()}
	}
	defer os.Chmod(filepath.Join(to, "sealed"), 0o700)
	var wrong []string
	check := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	left := make(map[string]string)
	for _, l := range out.Left {
		left[l.Path] = l.Why
	}
	for name, l := range links {
		target, err := os.Readlink(filepath.Join(to, name))
		check(l.stays == (err == nil && target == l.target), "link "+name)
		check(l.stays != (left[name] == linkOutside), "told of "+name)
	}
	for name, text := range map[string]string{"top.txt": "top", "a/one.txt": "one", "a/b/two.sh": "two", "sealed/in.txt": "in", "a/second.txt": "top"} {
		data, err := os.ReadFile(filepath.Join(to, name))
		check(err == nil && string(data) == text, "file "+name)
	}
	mode := func(name string) fs.FileMode {
		info, err := os.Lstat(filepath.Join(to, name))
		if err != nil {
			return 0
		}
		return info.Mode()
	}
	check(mode("a/b/two.sh").Perm() == 0o750 && mode("sealed").Perm() == 0o500, "modes")
	first, err := os.Stat(filepath.Join(to, "top.txt"))
	second, e := os.Stat(filepath.Join(to, "a/second.txt"))
	check(err == nil && e == nil && os.SameFile(first, second), "two names of one file")
	for _, name := range []string{"pipe", "sock"} {
		_, err := os.Lstat(filepath.Join(to, name))
		check(errors.Is(err, fs.ErrNotExist) && left[name] == "file-special", name)
	}
	check(out.Files == 5 && out.Directories == 3 && out.Links == 6 && out.Bytes == 11 && out.Omitted == 8, "counts")
	check(sum(t, from) == before, "the source changed")
	check(!slices.Contains(texts(t, to), "SECRET"), "what lies outside was copied")
	return wrong
}

// texts are the contents of all files, whatever leads to them.
func texts(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	need(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			data, _ := os.ReadFile(name)
			out = append(out, string(data))
		}
		return err
	}))
	return out
}

func TestCopy(t *testing.T) {
	for _, problem := range faults(t, copyTree) {
		t.Error(problem)
	}
	for name, mutant := range map[string]copies{
		"nothing": func(context.Context, string, string, int64, int64) (Copied, error) { return Copied{}, nil },
		"follows links": func(ctx context.Context, from, to string, files, bytes int64) (Copied, error) {
			out, err := copyTree(ctx, from, to, files, bytes)
			for name, l := range links {
				if data, e := os.ReadFile(filepath.Join(from, name)); e == nil && !l.stays {
					err = errors.Join(err, os.WriteFile(filepath.Join(to, name), data, 0o600))
				}
			}
			return out, err
		},
		"links as they are": func(ctx context.Context, from, to string, files, bytes int64) (Copied, error) {
			out, err := copyTree(ctx, from, to, files, bytes)
			for name, l := range links {
				if !l.stays {
					err = errors.Join(err, os.Symlink(l.target, filepath.Join(to, name)))
				}
			}
			return out, err
		},
		"leaves a mode": func(ctx context.Context, from, to string, files, bytes int64) (Copied, error) {
			out, err := copyTree(ctx, from, to, files, bytes)
			return out, errors.Join(err, os.Chmod(filepath.Join(to, "sealed"), 0o755))
		},
	} {
		if len(faults(t, mutant)) == 0 {
			t.Errorf("%s: the check lets it pass", name)
		}
	}
}

func TestCopyIsBounded(t *testing.T) {
	from := tree(t)
	for _, c := range []struct {
		files, bytes int64
		fits         bool
	}{{14, 11, true}, {13, 11, false}, {14, 10, false}, {0, 11, false}, {14, 0, false}} {
		to := t.TempDir()
		_, err := copyTree(t.Context(), from, to, c.files, c.bytes)
		_ = os.Chmod(filepath.Join(to, "sealed"), 0o700)
		var e *Error
		if c.fits != (err == nil) || err != nil && (!errors.As(err, &e) || e.Reason != TooLarge) {
			t.Errorf("%d files, %d bytes: %v", c.files, c.bytes, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := copyTree(ctx, from, t.TempDir(), 100, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("a copy goes on: %v", err)
	}
	if _, err := copyTree(t.Context(), filepath.Join(from, "nowhere"), t.TempDir(), 100, 100); err == nil {
		t.Error("nothing was copied")
	}
}

// TestCopyCannotWrite has the copy meet a place that does not take it.
func TestCopyCannotWrite(t *testing.T) {
	to := t.TempDir()
	write(t, to, "top.txt", "it is there already")
	_, err := copyTree(t.Context(), tree(t), to, 100, 100)
	_ = os.Chmod(filepath.Join(to, "sealed"), 0o700)
	var e *Error
	if !errors.As(err, &e) || e.Reason != CopyFailed {
		t.Errorf("%v", err)
	}
}
