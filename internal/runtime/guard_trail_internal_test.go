package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text leads where the system takes it, and each step on the way is looked at
// once, by its own path. The planted way, which cleans the text first, does not
// get there.
func TestTrail(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o755),
		os.WriteFile(filepath.Join(dir, "a", "b", "f"), nil, 0o644),
		os.Symlink("a/b/", filepath.Join(dir, "l")),
		os.Symlink("../../l//c/.", filepath.Join(dir, "a", "b", "m")),
		os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "a", "b", "c", "n")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a", "b", "c", "f", "l", "m", "n", "", ".", ".."}
	texts, caught := 0, 0
	var longer func(text string, left int)
	longer = func(text string, left int) {
		if want, err := filepath.EvalSymlinks(dir + "/" + text); err == nil && text != "" {
			texts++
			w := trail(dir, text)
			if w.end != want {
				t.Errorf("%q leads to %s, not %s", text, w.end, want)
			}
			at := w.end
			for i := len(w.seen) - 1; i >= 0; i-- {
				if w.seen[i] != look(at) {
					t.Errorf("%q: at %s something else was seen", text, at)
				}
				at = up(at)
			}
			if planted := trail(dir, strings.TrimPrefix(filepath.Clean("/"+text), "/")).end; planted != want {
				caught++
			}
		}
		for _, name := range names {
			if left > 0 {
				longer(text+name+"/", left-1)
				longer(text+name, 0)
			}
		}
	}
	longer("", 4)
	if t.Logf("%d texts, %d catch the planted way", texts, caught); texts < 300 || caught == 0 {
		t.Error("the texts do not show what a careless way misses")
	}
}
