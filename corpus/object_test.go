package corpus_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/iff-run/iff/corpus"
)

func TestName(t *testing.T) {
	for path, want := range map[string]corpus.Object{
		".":               "work/.",
		"a/b":             "work/a/b",
		"été/日本":          "work/été/日本",
		"a b":             "work/a b",
		"a\\b":            `work/a\\b`,
		"a\\x41":          `work/a\\x41`,
		"caf\xe9":         `work/caf\xe9`,
		"line\nbreak\x7f": `work/line\x0abreak\x7f`,
		"\ufffd":          "work/\ufffd", // the character itself is well-formed
		"\xed\xa0\x80/x":  `work/\xed\xa0\x80/x`,
		"..a/...":         "work/..a/...",
	} {
		o := corpus.Name("work", path)
		if o != want || o.Path() != path || o.Corpus() != "work" || !o.Valid() || o.IsRoot() != (path == ".") {
			t.Errorf("%q is %q, path %q, valid %v; want %q", path, o, o.Path(), o.Valid(), want)
		}
	}
}

func TestInvalidObjects(t *testing.T) {
	for _, o := range []corpus.Object{
		"", "work", "/a", "work/", "work//a", "work/a/", "work//", "work/./a", "work/a/.", "work/..", "work/../etc/passwd", "work/a/../b",
		`work/\x41`, `work/\xE9`, `work/a\b`, `work/a\`, `work/\x4`, `work/\xzz`, "work/a\nb", "work/\xff", "work/\x00", "wo\nrk/a", `wo\rk/a`,
		`work/\x2f`, `work/\x2e\x2e/a`,
	} {
		if o.Valid() {
			t.Errorf("%q is valid", o)
		}
		_ = o.Path() // whatever it is, it is no panic
	}
}

func TestParentAndBelow(t *testing.T) {
	for _, c := range []struct{ object, parent corpus.Object }{
		{"work/a", "work/."}, {"work/a/b", "work/a"}, {`work/a\\b/c`, `work/a\\b`}, {"work/.", ""}, {"", ""}, {"work", ""},
	} {
		parent, ok := c.object.Parent()
		if parent != c.parent || ok != (c.parent != "") {
			t.Errorf("the parent of %q is %q, %v", c.object, parent, ok)
		}
	}
	for _, c := range []struct {
		object, dir corpus.Object
		want        bool
	}{
		{"work/a", "work/.", true}, {"work/a/b", "work/.", true}, {"work/a/b", "work/a", true}, {"work/ab", "work/a", false},
		{`work/a\\b`, "work/a", false}, {"work/a", "work/a", false}, {"work/.", "work/.", false}, {"other/a", "work/.", false},
		{"work", "work/.", false}, {"workshop/a", "work/.", false}, {"", "work/.", false}, {"work/a", "", false}, {"", "", false},
	} {
		if got := c.object.Below(c.dir); got != c.want {
			t.Errorf("%q below %q: %v", c.object, c.dir, got)
		}
	}
}

// component is a name as a file system may hold it: any bytes but NUL and slash.
func component() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]string{`\`, `\x41`, "\xff", "\xc3", "é", "\n", "\x7f", " ", ".", "..", "x", "\ufffd"})
	anyBytes := rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 6), func(b []byte) string { return string(b) })
	joined := rapid.Map(rapid.SliceOfN(rapid.OneOf(odd, anyBytes), 1, 4), func(parts []string) string { return strings.Join(parts, "") })
	return joined.Filter(func(s string) bool { return s != "." && s != ".." && !strings.Contains(s, "/") })
}

func filePath() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(component(), 1, 4), func(s []string) string { return strings.Join(s, "/") })
}

func TestNameIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := filePath().Draw(t, "path")
		o := corpus.Name("work", path)
		if o.Path() != path || !o.Valid() || o.IsRoot() || !o.Below("work/.") {
			t.Fatalf("%q is %q, of path %q, valid %v", path, o, o.Path(), o.Valid())
		}
		if !utf8.ValidString(string(o)) || strings.ContainsAny(string(o), "\n\r\x00\x7f") {
			t.Fatalf("%q cannot be written down", o)
		}
		parent, ok := o.Parent()
		if !ok || !parent.Valid() || !o.Below(parent) {
			t.Fatalf("the parent of %q is %q", o, parent)
		}
		if child := corpus.Name("work", path+"/x"); !child.Below(o) || o.Below(child) {
			t.Fatalf("%q and %q", o, child)
		}
	})
}

// A planted bug: without escaping the backslash two files share a name.
func TestNameKeepsPathsApart(t *testing.T) {
	naive := func(path string) string {
		return strings.ReplaceAll(string(corpus.Name("work", path)), `\\`, `\`)
	}
	if naive("\xff") != naive(`\xff`) {
		t.Error("the planted bug is none")
	}
	rapid.Check(t, func(t *rapid.T) {
		a := filePath().Draw(t, "a")
		b := rapid.OneOf(filePath(), rapid.Just(strings.TrimPrefix(string(corpus.Name("work", a)), "work/"))).Draw(t, "b")
		if (a == b) != (corpus.Name("work", a) == corpus.Name("work", b)) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{".", "a/b", `\x41`, "\xff\\", "", "a//b", "../x", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if o := corpus.Name("work", s); o.Path() != s || o.Corpus() != "work" {
			t.Errorf("%q is %q, of path %q", s, o, o.Path())
		}
		if o := corpus.Object(s); o.Valid() && corpus.Name(o.Corpus(), o.Path()) != o {
			t.Errorf("%q is valid and another's name", o)
		}
	})
}
