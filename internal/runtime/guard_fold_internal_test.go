package runtime

import (
	"strings"
	"testing"
)

// slowFold is fold of ASCII without its shortcuts.
func slowFold(path string) string {
	names := strings.Split(strings.ToLower(path), "/")
	for i, name := range names {
		if end := strings.TrimRight(name, ". "); end != "" {
			names[i] = end
		}
	}
	return strings.Join(names, "/")
}

// eachPath calls f with all texts of up to so many of the characters.
func eachPath(characters string, most int, f func(path string)) {
	var longer func(path string)
	longer = func(path string) {
		f(path)
		for _, c := range characters {
			if len(path) < most {
				longer(path + string(c))
			}
		}
	}
	longer("")
}

// The shortcuts of fold change nothing. What the planted one forgets is that a name
// ends in the middle of a path too.
func TestFoldShortcuts(t *testing.T) {
	planted := func(path string) bool { return strings.ToLower(path) == path && strings.TrimRight(path, ". ") == path }
	paths, caught := 0, 0
	eachPath("/. aB_", 6, func(path string) {
		want := slowFold(path)
		if got := fold(path); got != want {
			t.Errorf("%q folds to %q, want %q", path, got, want)
		}
		if folded(path) && want != path {
			t.Errorf("%q is said to fold to itself, and folds to %q", path, want)
		}
		paths++
		if planted(path) && want != path {
			caught++
		}
	})
	if t.Logf("%d paths, %d catch the planted shortcut", paths, caught); caught == 0 {
		t.Error("the paths do not show what a careless shortcut misses")
	}
	for _, path := range []string{"É", "ﬁ", "a\u200b", "\xff", "ａ"} {
		if folded(path) {
			t.Errorf("%q is not ASCII and passes as folded", path)
		}
	}
}
