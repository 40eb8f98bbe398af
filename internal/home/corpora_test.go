//go:build unix

package home_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// corpora puts tables for named roots at the end of a home's configuration.
func corpora(t *testing.T, dir string, roots ...string) {
	t.Helper()
	text := ""
	for i, root := range roots {
		text += fmt.Sprintf("[corpus.c%d]\nroot = %q\nlabel = %q\n", i, root, bottom(t))
	}
	configure(t, dir, text)
}

func bottom(t *testing.T) string {
	t.Helper()
	h := open(t, newHome(t), home.Read)
	return h.Scheme().Bottom().String()
}

func mkdir(t *testing.T, path ...string) string {
	t.Helper()
	dir := filepath.Join(path...)
	must(t, os.MkdirAll(dir, 0o755))
	return dir
}

// sharing are ways in which a corpus can share a directory with something. Each
// prepares a home in dir, with work beside it, and gives the roots.
var sharing = map[string]struct {
	prepare func(t *testing.T, dir, work string) []string
	says    string // empty: they are apart
}{
	"apart": {func(t *testing.T, _, work string) []string {
		return []string{mkdir(t, work, "a"), mkdir(t, work, "ab"), mkdir(t, work, "b/a")}
	}, ""},
	"twice": {func(t *testing.T, _, work string) []string {
		a := mkdir(t, work, "a")
		return []string{a, a}
	}, "corpus c0"},
	"one in another": {func(t *testing.T, _, work string) []string {
		return []string{mkdir(t, work, "a/b/c"), mkdir(t, work, "a")}
	}, "corpus c0"},
	"by a link": {func(t *testing.T, _, work string) []string {
		a := mkdir(t, work, "a")
		must(t, os.Symlink(mkdir(t, work, "a/b"), filepath.Join(work, "link")))
		return []string{a, filepath.Join(work, "link")}
	}, "corpus c0"},
	"by a link above": {func(t *testing.T, _, work string) []string {
		b := mkdir(t, work, "a/b")
		must(t, os.Symlink(filepath.Join(work, "a"), filepath.Join(work, "link")))
		return []string{filepath.Join(work, "link", "b"), b}
	}, "corpus c0"},
	"in the home":     {func(t *testing.T, dir, _ string) []string { return []string{filepath.Join(dir, "base")} }, "the home"},
	"the home":        {func(_ *testing.T, dir, _ string) []string { return []string{dir} }, "the home"},
	"around the home": {func(_ *testing.T, dir, _ string) []string { return []string{filepath.Dir(dir)} }, "the home"},
	"the home by a link": {func(t *testing.T, dir, work string) []string {
		must(t, os.Symlink(dir, filepath.Join(work, "link")))
		return []string{filepath.Join(work, "link", "keys")}
	}, "the home"},
	"everything": {func(*testing.T, string, string) []string { return []string{"/"} }, "the home"},
	"where the log is a link to": {func(t *testing.T, dir, work string) []string {
		a := mkdir(t, work, "a")
		must(t, os.Rename(filepath.Join(dir, "log"), filepath.Join(a, "log")))
		must(t, os.Symlink(filepath.Join(a, "log"), filepath.Join(dir, "log")))
		return []string{a}
	}, "the home's log"},
	"where iff.toml is a link to": {func(t *testing.T, dir, work string) []string {
		a := mkdir(t, work, "a")
		must(t, os.Rename(filepath.Join(dir, "iff.toml"), filepath.Join(a, "iff.toml")))
		must(t, os.Symlink(filepath.Join(a, "iff.toml"), filepath.Join(dir, "iff.toml")))
		return []string{a}
	}, "iff.toml"},
	"with an anchor in it": {func(t *testing.T, dir, work string) []string {
		a := mkdir(t, work, "a")
		configure(t, dir, fmt.Sprintf("[[log.anchor]]\nplace = %q\n", filepath.Join(mkdir(t, a, "b"), "checkpoint")))
		return []string{a}
	}, "an anchor"},
	"beside an anchor": {func(t *testing.T, dir, work string) []string {
		configure(t, dir, fmt.Sprintf("[[log.anchor]]\nplace = %q\n", filepath.Join(work, "checkpoint")))
		return []string{mkdir(t, work, "a")}
	}, ""},
}

func TestCorporaShareNothing(t *testing.T) {
	naive := 0
	for name, c := range sharing {
		t.Run(name, func(t *testing.T) {
			dir, work := newHome(t), t.TempDir()
			roots := c.prepare(t, dir, work)
			corpora(t, dir, roots...)
			err := open(t, dir, home.Read).CheckCorpora()
			if c.says == "" {
				must(t, err)
				return
			}
			if reason(err) != "corpus-overlap" || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if !naivelyShared(dir, roots) {
				naive++
			}
		})
	}
	if naive < 4 {
		t.Errorf("who compares paths misses %d; the cases do not tell the two apart", naive)
	}
}

// naivelyShared is the planted bug: it compares paths.
func naivelyShared(dir string, roots []string) bool {
	all := append([]string{dir}, roots...)
	for i, a := range all {
		for j, b := range all {
			if i != j && strings.HasPrefix(a+"/", strings.TrimSuffix(b, "/")+"/") {
				return true
			}
		}
	}
	return false
}

func TestCorporaThatAreNotThere(t *testing.T) {
	work := t.TempDir()
	file, fifo := filepath.Join(work, "file"), filepath.Join(work, "fifo")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, syscall.Mkfifo(fifo, 0o600))
	must(t, os.Symlink("nowhere", filepath.Join(work, "dangling")))
	for _, root := range []string{"none", "file", "fifo", "dangling", "file/x"} {
		dir := newHome(t)
		corpora(t, dir, filepath.Join(work, root))
		h := open(t, dir, home.Write)
		if err := h.CheckCorpora(); reason(err) != "corpus-missing" {
			t.Errorf("%s: %v", root, err)
		}
		if _, err := h.LockCorpora(); reason(err) != "corpus-missing" {
			t.Errorf("%s: %v", root, err)
		}
	}
	dir := newHome(t)
	corpora(t, dir, filepath.Join(work, "none"))
	if err := open(t, dir, home.Read).CheckCorpora(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// Two homes, one machine: a directory is one runtime's.
func TestCorporaAreLockedAcrossHomes(t *testing.T) {
	work := t.TempDir()
	a, inside, beside := mkdir(t, work, "a"), mkdir(t, work, "a/inside"), mkdir(t, work, "b")
	must(t, os.Symlink(a, filepath.Join(work, "link")))
	first := newHome(t)
	corpora(t, first, a)
	h := open(t, first, home.Write)
	roots, err := h.LockCorpora()
	must(t, err)
	if again, err := h.LockCorpora(); err != nil || len(again) != 1 || again[0] != roots[0] {
		t.Errorf("asked again: %v, %v", again, err)
	}
	if roots[0].Path() != a || roots[0].Dir() == nil || roots[0].Held() != nil {
		t.Errorf("%+v", roots[0])
	}
	for root, busy := range map[string]bool{a: true, filepath.Join(work, "link"): true, inside: true, work: true, beside: false} {
		second := newHome(t)
		corpora(t, second, root)
		h := open(t, second, home.Write)
		_, err := h.LockCorpora()
		if busy != (reason(err) == "corpus-busy") || !busy && err != nil {
			t.Errorf("%s: %v", root, err)
		}
		if busy && runtime.GOOS == "linux" && !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
			t.Logf("%s: the kernel does not name the holder: %v", root, err)
		}
		must(t, h.Close())
	}
	must(t, h.Close())
	second := newHome(t)
	corpora(t, second, a)
	if _, err := open(t, second, home.Write).LockCorpora(); err != nil {
		t.Errorf("given up: %v", err)
	}
}

func TestLockedRootThatIsReplaced(t *testing.T) {
	dir, work := newHome(t), t.TempDir()
	a := mkdir(t, work, "a")
	corpora(t, dir, a)
	roots, err := open(t, dir, home.Write).LockCorpora()
	must(t, err)
	must(t, os.Rename(a, a+"2"))
	if err := roots[0].Held(); reason(err) != "corpus-missing" {
		t.Errorf("moved: %v", err)
	}
	mkdir(t, a)
	if err := roots[0].Held(); reason(err) != "corpus-missing" {
		t.Errorf("replaced: %v", err)
	}
	must(t, os.Remove(a))
	must(t, os.Rename(a+"2", a))
	must(t, roots[0].Held())
}

// A home without corpora, or read only, locks nothing.
func TestNothingToLock(t *testing.T) {
	dir := newHome(t)
	h := open(t, dir, home.Write)
	roots, err := h.LockCorpora()
	if err != nil || len(roots) != 0 {
		t.Errorf("%v, %v", roots, err)
	}
	must(t, h.Close())
	if _, err := open(t, dir, home.Read).LockCorpora(); err == nil {
		t.Error("a reader locks")
	}
}

func TestInitWithCorpora(t *testing.T) {
	work := t.TempDir()
	notes, odd := mkdir(t, work, "notes"), mkdir(t, work, `o"d\d`)
	plan := func(corpora ...home.CorpusPlan) home.Plan {
		scheme := open(t, newHome(t), home.Read).Scheme()
		return home.Plan{Operator: "me", Scheme: scheme, Passphrase: []byte(secret), Corpora: corpora}
	}
	for name, c := range map[string]struct {
		want string
		plan home.Plan
	}{
		"missing":  {"corpus-missing", plan(home.CorpusPlan{Name: "work", Root: filepath.Join(work, "none")})},
		"around":   {"corpus-overlap", plan(home.CorpusPlan{Name: "work", Root: work})},
		"twice":    {"corpus-invalid", plan(home.CorpusPlan{Name: "work", Root: notes}, home.CorpusPlan{Name: "work", Root: odd})},
		"shared":   {"corpus-overlap", plan(home.CorpusPlan{Name: "a", Root: notes}, home.CorpusPlan{Name: "b", Root: notes})},
		"name":     {"corpus-invalid", plan(home.CorpusPlan{Name: "My Notes", Root: notes})},
		"no name":  {"corpus-invalid", plan(home.CorpusPlan{Root: notes})},
		"relative": {"corpus-invalid", plan(home.CorpusPlan{Name: "work", Root: "notes"})},
		"no UTF-8": {"corpus-invalid", plan(home.CorpusPlan{Name: "work", Root: "/\xff"})},
	} {
		if err := home.CheckPlan(filepath.Join(work, "new", "h"), c.plan); reason(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	h, err := home.Init(t.Context(), filepath.Join(work, "h"), plan(home.CorpusPlan{Name: "work", Root: notes}, home.CorpusPlan{Name: "odd", Root: odd}), home.Options{})
	must(t, err)
	defer h.Close()
	must(t, h.CheckCorpora())
	c, ok := h.Config().Corpus("odd")
	if !ok || c.Root != odd || c.Label != h.Scheme().Bottom() || !c.Volatile.Match("x/.git/config") || c.Volatile.Match("x/git") {
		t.Errorf("%+v", c)
	}
	if _, ok := h.Config().Corpus("none"); ok {
		t.Error("a corpus that is not there is found")
	}
}
