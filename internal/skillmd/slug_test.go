package skillmd_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/skillmd"
	"github.com/iff-run/iff/internal/visible"
	"pgregory.net/rapid"
)

func ExampleSlug() {
	fmt.Println(skillmd.Slug("Release_Notes  (v2.0)"))
	fmt.Println(skillmd.Slug("技能 № 5"))
	fmt.Println(skillmd.Slug("***"))
	// Output:
	// release-notes-v2-0 true
	// 技能-no-5 true
	//  false
}

func TestSlug(t *testing.T) {
	tests := []struct{ in, want string }{
		{"pdf", "pdf"}, {"a-b-2", "a-b-2"}, {"", ""}, {"-", ""}, {"--a--b--", "a-b"}, {"Über Öl", "über-öl"},
		{"ＰＤＦ", "pdf"}, {"ﬁle", "file"}, {"e\u0301", "é"}, {"\u0301a", "a"}, {"a-\u0301b", "a-b"}, {"İstanbul", "istanbul"},
		{"𝐛𝐨𝐥𝐝", "bold"}, {"Ⅷ", "viii"}, {"x²", "x2"}, {"٣", "٣"}, {"ǅ", "dž"}, {"日本語の々ー", "日本語の々ー"}, {"हिन्दी", "हिन्दी"},
		{"a\u200bb", "a-b"}, {"a\ufe0fb", "a-b"}, {"\u3164", ""}, {"\u115f\u1160", ""}, {"a\U000e0041", "a"}, {"a\u034fb", "a-b"},
		{"a/../b", "a-b"}, {"a\x00b\xff", "a-b"}, {"🐦", ""}, {"ꟲ", "c"}, {"\u1d2c", "a"},
		{strings.Repeat("a", 70), strings.Repeat("a", 64)}, {strings.Repeat("a", 63) + "-b", strings.Repeat("a", 63)},
		{strings.Repeat("ü", 64), strings.Repeat("ü", 64)}, {strings.Repeat("-", 1000) + "a", ""},
	}
	for _, tt := range tests {
		got, ok := skillmd.Slug(tt.in)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Slug(%q) = %q, %v; want %q", tt.in, got, ok, tt.want)
		}
		if skillmd.ValidName(tt.in) != (tt.in == tt.want && tt.in != "") {
			t.Errorf("ValidName(%q)", tt.in)
		}
	}
}

// checkSlug holds a slug function to what Slug promises.
func checkSlug(slug func(string) (string, bool), in string) error {
	got, ok := slug(in)
	if !ok {
		if got != "" {
			return fmt.Errorf("%q is nothing, but also %q", in, got)
		}
		return nil
	}
	if again, ok := slug(got); !ok || again != got {
		return fmt.Errorf("%q gives %q, which gives %q", in, got, again)
	}
	if utf8.RuneCountInString(got) > skillmd.MaxName || visible.Escape(got) != got ||
		strings.HasPrefix(got, "-") || strings.HasSuffix(got, "-") || strings.Contains(got, "--") {
		return fmt.Errorf("%q gives %q", in, got)
	}
	for i, r := range got {
		if r != '-' && !unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Nd) &&
			(i == 0 || !unicode.In(r, unicode.Mn, unicode.Mc)) {
			return fmt.Errorf("%q gives %q with %U", in, got, r)
		}
	}
	return nil
}

func TestSlugMutants(t *testing.T) {
	inputs := []string{"A b", "a\u3164b", strings.Repeat("a", 63) + " b", "--a", "ﬁ", "Ａ", "a\u200d"}
	mutants := map[string]func(string) (string, bool){
		"lower": func(s string) (string, bool) { return strings.ToLower(s), s != "" },
		"fields": func(s string) (string, bool) {
			return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }), "-"), true
		},
	}
	for name, mutant := range mutants {
		caught := false
		for _, in := range inputs {
			caught = caught || checkSlug(mutant, in) != nil
		}
		if !caught {
			t.Errorf("the mutant %q passes", name)
		}
	}
}

func TestSlugLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := checkSlug(skillmd.Slug, rapid.String().Draw(t, "name")); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSlugEveryRune tries each character alone, behind a letter, and repeated:
// no lower case or compatibility form escapes the law.
func TestSlugEveryRune(t *testing.T) {
	for r := rune(0); r < 0x32400; r++ { // what lies above is ideographs or not for text
		for _, in := range []string{string(r), "a" + string(r) + "b", string([]rune{r, r, r})} {
			if err := checkSlug(skillmd.Slug, in); err != nil {
				t.Fatalf("%U: %v", r, err)
			}
		}
	}
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"Release Notes", "技能", "a\u200b\u0301b", "ﬁ", "\u1fb3\u0399", "ǅ-٣"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := checkSlug(skillmd.Slug, s); err != nil {
			t.Error(err)
		}
	})
}
