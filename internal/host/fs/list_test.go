//go:build linux || darwin

package fs

import (
	"os"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/gate"
)

// untyped is a system whose directories say of no entry what it is, and name one
// that is gone.
type untyped struct{ sys }

func (u untyped) list(at, most int) ([]dirent, error) {
	entries, err := u.sys.list(at, most)
	for i := range entries {
		entries[i].kind = ""
	}
	return append(entries, dirent{name: "gone"}), err
}

// trusting is one that takes what it does not know for a file.
type trusting struct{ sys }

func (c trusting) list(at, most int) ([]dirent, error) {
	entries, err := c.sys.list(at, most)
	for i := range entries {
		entries[i].kind = corpus.File
	}
	return entries, err
}

// What a directory does not say of its entries is looked at, and a listing tells
// the same.
func TestListUntyped(t *testing.T) {
	s, err := system()
	must(t, err)
	dir := t.TempDir()
	listing := func(s sys) string {
		got, err := benchOver(t, s, dir).read(".", `{"op":"list"}`)
		must(t, err)
		return got
	}
	must(t, os.Mkdir(dir+"/d", 0o755))
	must(t, os.WriteFile(dir+"/f", nil, 0o644))
	must(t, os.Symlink("f", dir+"/l"))
	must(t, mkfifo(dir+"/p"))
	const want = `{"entries":[{"kind":"directory","name":"d"},{"kind":"file","name":"f"},{"kind":"link","name":"l"},{"kind":"special","name":"p"}]}`
	for name, s := range map[string]sys{"typed": s, "untyped": untyped{s}} {
		if got := listing(s); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if listing(trusting{s}) == want {
		t.Error("the entries do not show what a trusting system says")
	}
}

// What a session has put in the place of something else is listed as what it is.
func TestListStagedKind(t *testing.T) {
	b := newBench(t)
	b.mkdir("x")
	list := func(k kept) string {
		env := envelope(t, capability.FSRead, ".", `{"op":"list"}`)
		r, err := b.h.do(t.Context(), gate.Order{Phase: gate.Read, Envelope: env, Staged: k})
		must(t, err)
		return string(r.Data)
	}
	file := corpus.NewCopy(corpus.Facts{Kind: corpus.File, Mode: 0o644}, "", nil)
	if got := list(kept{}); !strings.Contains(got, `{"kind":"directory","name":"x"}`) {
		t.Error(got)
	}
	if got := list(kept{"work/x": file, "work/a": file}); got != `{"entries":[{"kind":"file","name":"a"},{"kind":"file","name":"x"}]}` {
		t.Error(got)
	}
}
