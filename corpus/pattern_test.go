package corpus_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
)

func mustPatterns(t testing.TB, texts ...string) corpus.Patterns {
	t.Helper()
	p, err := corpus.ParsePatterns(texts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMatch(t *testing.T) {
	for pattern, paths := range map[string]struct{ match, not []string }{
		"build":   {[]string{"build", "build/a", "build/a/b", "build/caf\xe9", "build/x."}, []string{"Build", "builds", "a/build", ".", ""}},
		".git/**": {[]string{".git/HEAD", ".git/a/b", ".git/caf\xe9", ".git/a\u202eb", ".git/end.", ".git/a\nb/c "}, []string{".git", ".gitignore", "a/.git/HEAD", ".GIT/HEAD"}},
		"**/*.swp": {[]string{".a.swp", "d/.a.swp", "d/e/caf\xe9.swp", "x.swp/below", "\xff/x.swp"},
			[]string{"a.swpx", "a.SWP", "swp", "a.swp.", "a.swp\xff", "."}},
		"*":           {[]string{"a", "a/b", "\xff", ".hidden", "end."}, []string{".", ""}},
		"**":          {[]string{"a", "a/b/c", "\xff/\xfe"}, []string{"."}},
		`a\*b`:        {[]string{"a*b", "a*b/c"}, []string{"axb", `a\*b`, "a\xffb"}},
		`back\\slash`: {[]string{`back\slash`}, []string{`back\\slash`}},
		"work:c:d":    {[]string{"c:d", "c:d/e"}, []string{"work:c:d", "d"}},
		"a)":          {[]string{"a)"}, []string{"a"}},
		"caf\u00e9":   {[]string{"caf\u00e9"}, []string{"cafe\u0301", "caf\xe9", "caf\ufffd"}},
	} {
		p := mustPatterns(t, pattern)
		for _, path := range paths.match {
			if !p.Match(path) {
				t.Errorf("%s does not name %q", pattern, path)
			}
		}
		for _, path := range paths.not {
			if p.Match(path) {
				t.Errorf("%s names %q", pattern, path)
			}
		}
	}
	long := strings.Repeat("d/", capability.MaxPath)
	if !mustPatterns(t, "d/**").Match(long+"x") || (corpus.Patterns{}).Match("a") {
		t.Error("a path too long for a grant is not named through its directories, or no patterns name something")
	}
}

func TestParsePatternsRefuses(t *testing.T) {
	for text, spelling := range map[string]bool{
		"": true, "a//b": true, "../a": true, "/a": true, "a/": true, "a\xff": true, "a\n": true, `a\b`: true, "a***": true, "end.": true,
		".": false, "work:.": false, "other:a": false, "other:.": false, "caf\ufffd": false, strings.Repeat("a", capability.MaxGrant): true,
	} {
		p, err := corpus.ParsePatterns([]string{"fine", text})
		var e *capability.Error
		if err == nil || p.Len() != 0 || errors.As(err, &e) != spelling {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := corpus.ParsePatterns(make([]string, corpus.MaxPatterns+1)); err == nil {
		t.Error("too many are accepted")
	}
	texts := []string{"b", "a"}
	p := mustPatterns(t, texts...)
	texts[0] = "c"
	if got := p.Strings(); len(got) != 2 || got[0] != "b" || p.Match("c") {
		t.Errorf("%v", got)
	}
	p.Strings()[0] = "c"
	if p.Strings()[0] != "b" || corpus.Patterns.Strings(corpus.Patterns{}) == nil {
		t.Error("the list is shared, or nil")
	}
}

// What a pattern names is named with all that is below it, whatever the bytes.
func TestMatchCoversWhatIsBelow(t *testing.T) {
	pattern := rapid.SampledFrom([]string{"*", "a*", "**/b", "x/**", "*/*", `\\*`, "**/*x*/**"})
	rapid.Check(t, func(t *rapid.T) {
		p, err := corpus.ParsePatterns(rapid.SliceOfNDistinct(pattern, 1, 3, rapid.ID).Draw(t, "patterns"))
		if err != nil {
			t.Fatal(err)
		}
		dir, rest := filePath().Draw(t, "dir"), filePath().Draw(t, "rest")
		if p.Match(dir) && !p.Match(dir+"/"+rest) {
			t.Fatalf("%q names %q and not what is below", p.Strings(), dir)
		}
		if p.Match(".") || p.Names(dir) && !p.Match(dir) {
			t.Fatalf("%q", p.Strings())
		}
		at, any := dir, false
		for more := true; more; {
			any = any || p.Names(at)
			i := strings.LastIndexByte(at, '/')
			if more = i >= 0; more {
				at = at[:i]
			}
		}
		if any != p.Match(dir) {
			t.Fatalf("%q and %q: by hand %v", p.Strings(), dir, any)
		}
	})
}

// Names that are no paths come to an end too, as what others take for a path may be
// one: of a name in which nothing shows a slash alone is left.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{"/x", "/", "//", "a//b/", "/../x", "./x", "\u200b/x", "", "x", "a/b/c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := mustPatterns(t, "**/b", "x")
		want := p.Names(name)
		for i, c := range []byte(name) {
			want = want || c == '/' && p.Names(name[:i])
		}
		if got := p.Match(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	})
}
