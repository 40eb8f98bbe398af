package home_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// A bind mount shows a directory a second time, below other directories.
func TestBindMountsHideNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("NOT RUN: to make a bind mount needs root")
		return
	}
	dir, work := newHome(t), t.TempDir()
	a, inside, view := mkdir(t, work, "a"), mkdir(t, work, "a/inside"), mkdir(t, work, "view")
	other, nested := mkdir(t, work, "other"), mkdir(t, work, "a/mounted")
	bind := func(from, to string) {
		must(t, syscall.Mount(from, to, "", syscall.MS_BIND, ""))
		t.Cleanup(func() { must(t, syscall.Unmount(to, 0)) })
	}
	bind(inside, view)
	bind(other, nested)
	corpora(t, dir, a, view)
	h := open(t, dir, home.Read)
	if err := h.CheckCorpora(); reason(err) != "corpus-overlap" {
		t.Errorf("a view of a part of another corpus: %v", err)
	}
	if got := h.MountsIn(h.Config().Corpora[0]); len(got) != 1 || got[0] != nested {
		t.Errorf("mounted inside: %q, want %q", got, nested)
	}
	dir = newHome(t)
	keys := mkdir(t, work, "keys")
	bind(filepath.Join(dir, "keys"), keys)
	corpora(t, dir, keys)
	if err := open(t, dir, home.Read).CheckCorpora(); reason(err) != "corpus-overlap" {
		t.Errorf("a view of the keys: %v", err)
	}
	dir = newHome(t)
	corpora(t, dir, other, view)
	must(t, open(t, dir, home.Read).CheckCorpora())
}
