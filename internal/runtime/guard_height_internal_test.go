package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/iff-run/iff/corpus"
)

// TestHeights: a corpus that has come to lie in a skill is guarded from the next
// barrier on, and where a link leads out of the corpus is looked at for each call. The
// planted guard, which takes what the barrier saw for that too, does not find it.
func TestHeights(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	work, helper := filepath.Join(top, "a", "work"), filepath.Join(top, "helper")
	must(os.MkdirAll(work, 0o755), os.Mkdir(helper, 0o755), os.WriteFile(filepath.Join(helper, "run.sh"), nil, 0o644))
	must(os.WriteFile(filepath.Join(work, "a.md"), nil, 0o644), os.Symlink("../new.sh", filepath.Join(work, "out")))
	g, err := rootsOf([]Corpus{{Name: "work", Dir: work}}, corpus.Patterns{})
	must(err)
	g.inodes = make(map[inode]int)
	must(g.remember(g.add("helper", "", helper), 0))

	route := func(path string) string {
		found, _ := g.Find([]corpus.Object{corpus.Name("work", path)})
		return found.Route
	}
	g.seeHeights()
	if r := route("a.md") + route("out"); r != "" {
		t.Errorf("guarded by %s before anything was moved", r)
	}
	must(os.Rename(filepath.Join(top, "a"), filepath.Join(top, "was")), os.Rename(helper, filepath.Join(top, "a")))
	must(os.Rename(filepath.Join(top, "was", "work"), work))
	if r := route("out"); r != "inode" {
		t.Errorf("what a link leads out to: %q", r)
	}
	planted := g.way(work, "out")
	planted.root = filepath.Dir(planted.end)
	if found, ok := g.aliased(planted); ok {
		t.Errorf("the planted guard finds %+v", found)
	}
	g.seeHeights()
	if r := route("a.md"); r != "inode" {
		t.Errorf("in a corpus that lies in a skill: %q", r)
	}
	if told := g.Tells([]corpus.Object{corpus.Name("work", "a.md")}); len(told) != 1 {
		t.Errorf("told %v", told)
	}
}
