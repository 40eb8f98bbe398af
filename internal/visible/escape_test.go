package visible_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/visible"
	"pgregory.net/rapid"
)

func ExampleEscape() {
	fmt.Println(visible.Escape("pay\u202elap\nnext"))
	fmt.Println(visible.Escape("Grüße, 世界 👩\u200d🔬"))
	fmt.Println(visible.Escape(`C:\users and \u{202e}`))
	// Output:
	// pay\u{202e}lap\u{a}next
	// Grüße, 世界 👩‍🔬
	// C:\users and \\u{202e}
}

func ExampleTruncate() {
	fmt.Println(visible.Truncate("a long sentence", 7))
	// Output: a long…
}

// ordinary is text as people write it; none of it is to be written out.
var ordinary = []string{
	"plain ASCII with ~ ` \\ { } and 'quotes'",
	"Äpfel, façade, ¿qué?, naïve, Łódź, Việt Nam, 5 × 3 ÷ 2 © ® ™ — “so”",
	"Прочитайте файл", "Διάβασε το αρχείο", "קרא את הקובץ", "اقرأ الملف بِسْمِ", "می\u200cخواهم فایل\u200cهای API\u200cها را",
	"क्\u200dष हिन्दी में लिखें", "ന്\u200d മലയാളം", "ශ්\u200dරී ලංකාව", "ภาษาไทย\u200bภาษา", "ខ្មែរ\u200bភាសា",
	"使用此技能。　全角", "日本語の「技能」々ー", "한국어 기술", "葛󠄀城", "ᠮᠣᠩᠭᠣᠯ᠋",
	"🖼️ ❤️ ☎︎ 👍🏽 👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🏴\u200d☠️ 👁️\u200d🗨️ 1️⃣ #️⃣ 🇩🇪 ↔️ ‼️ ℹ️ 🙋🏽\u200d♀️",
	"🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U0001fae9 of a later Unicode", "⠋⠙⠹ │ ├── ▌", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋", "\u06dd", "C:\\users\\x and \\d+",
}

func TestOrdinaryTextStays(t *testing.T) {
	for _, s := range ordinary {
		if got := visible.Escape(s); got != s {
			t.Errorf("Escape(%q) = %q", s, got)
		}
	}
}

func TestEscape(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"controls", "a\x00\x1b[2J\x7f\u0085\t\r\n", `a\u{0}\u{1b}[2J\u{7f}\u{85}\u{9}\u{d}\u{a}`},
		{"separators", "\u2028\u2029", `\u{2028}\u{2029}`},
		{"spaces like U+0020", "a\u00a0b\u2003c\u202fd", `a\u{a0}b\u{2003}c\u{202f}d`},
		{"bidi", "\u202a\u202e\u2066\u2069\u200e\u200f\u061c", `\u{202a}\u{202e}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}`},
		{"bidi mark in Arabic", "ا\u200f", `ا\u{200f}`},
		{"zero width", "a\u200bb\u200c\u200d\u2060\ufeff\u00ad", `a\u{200b}b\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}`},
		{"ignorable letters", "\u115f\u1160\u3164\uffa0\u034f\u17b4\u180e", `\u{115f}\u{1160}\u{3164}\u{ffa0}\u{34f}\u{17b4}\u{180e}`},
		{"tags", "x\U000e0041\U000e007f", `x\u{e0041}\u{e007f}`},
		{"flag that no font draws", "🏴\U000e0069\U000e0067\U000e006e\U000e007f", `🏴\u{e0069}\u{e0067}\u{e006e}\u{e007f}`},
		{"flag without an end", "🏴\U000e0067\U000e0062", `🏴\u{e0067}\u{e0062}`},
		{"selector after a letter", "a\ufe0f", `a\u{fe0f}`},
		{"two selectors", "😀\ufe0f\ufe0e", `😀\u{fe0f}\u{fe0e}`},
		{"selector carrying a byte", "中\U000e0180", `中\u{e0180}`},
		{"joiner after an emoji", "😀\u200d", `😀\u{200d}`},
		{"two joiners", "ا\u200c\u200cب", "ا\u200c\\u{200c}ب"},
		{"digit and selector", "1\ufe0f", `1\u{fe0f}`},
		{"private use", "\ue000\U000f0000\U0010fffd", `\u{e000}\u{f0000}\u{10fffd}`},
		{"no character", "\ufffe\uffff\U000e0080\u0378", `\u{fffe}\u{ffff}\u{e0080}\u{378}`},
		{"bytes", "a\xff\xc3", `a\x{ff}\x{c3}`},
		{"surrogate", "\xed\xa0\x80", `\x{ed}\x{a0}\x{80}`},
		{"replacement character", "\ufffd", "\ufffd"},
		{"backslash", `\`, `\`},
		{"backslash before an escape", "\\\n", `\\\u{a}`},
		{"two backslashes before an escape", "\\\\\n", `\\\\\u{a}`},
		{"literal escape", `\x{ff} \u{a}`, `\\x{ff} \\u{a}`},
		{"literal escape, escaped", `\\u{a}`, `\\\\u{a}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := visible.Escape(tt.in); got != tt.want {
				t.Errorf("Escape(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestEscapeMultiline(t *testing.T) {
	if got, want := visible.EscapeMultiline("a\tb\r\nc\u202e\\\n"), "a\tb\\u{d}\nc\\u{202e}\\\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"", 3, ""}, {"abc", 0, ""}, {"abc", -1, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abc", 1, "…"},
		{"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"\xff\xff\xff\xff", 3, "\xff\xff…"},
		{`ab\u{202e}c`, 8, "ab…"}, {`ab\u{202e}cd`, 11, `ab\u{202e}…`}, {`ab\users`, 6, `ab\us…`}, {`ab\x{f`, 5, "ab…"},
		{"👩\u200d🔬👩\u200d🔬", 3, "👩…"}, {"1️⃣1️⃣", 3, "1…"}, {"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 5, "🏴…"},
	}
	for _, tt := range tests {
		if got := visible.Truncate(tt.in, tt.n); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestTruncateLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.OneOf(rapid.String(), rapid.StringOf(odd)).Draw(t, "s"), rapid.IntRange(0, 30).Draw(t, "n")
		got := visible.Truncate(s, n)
		if utf8.RuneCountInString(got) > n {
			t.Fatalf("%d runes of at most %d", utf8.RuneCountInString(got), n)
		}
		for spot := range visible.Spots(visible.Truncate(visible.Escape(s), n)) {
			t.Fatalf("%U is left of %q", spot.Rune, s)
		}
		if head, cut := strings.CutSuffix(got, "…"); got != s && (!cut && n > 0 || !strings.HasPrefix(s, head)) {
			t.Fatalf("Truncate(%q, %d) = %q", s, n, got)
		}
	})
}

// unescape is Escape backwards, as the package comment defines it.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], `\`))
		rest := s[i+run:]
		i += run
		if !strings.HasPrefix(rest, "u{") && !strings.HasPrefix(rest, "x{") {
			b.WriteString(strings.Repeat(`\`, run))
			continue
		}
		b.WriteString(strings.Repeat(`\`, run/2))
		if run%2 == 0 {
			continue
		}
		digits, _, _ := strings.Cut(rest[2:], "}")
		n, _ := strconv.ParseUint(digits, 16, 32)
		if rest[0] == 'x' {
			b.WriteByte(byte(n))
		} else {
			b.WriteRune(rune(n))
		}
		i += 3 + len(digits)
	}
	return b.String()
}

// check holds an escape function to what Escape promises for one input.
func check(escape func(string) string, in string) error {
	out := escape(in)
	if !utf8.ValidString(out) {
		return fmt.Errorf("%q is not UTF-8", out)
	}
	for spot := range visible.Spots(out) {
		return fmt.Errorf("%q still has %U", out, spot.Rune)
	}
	for i, r := range out {
		if r == '\n' || r == '\r' || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cc, r) {
			return fmt.Errorf("%U at %d of %q", r, i, out)
		}
	}
	if back := unescape(out); back != in {
		return fmt.Errorf("%q does not go back: %q", out, back)
	}
	return nil
}

var hostile = []string{
	"ا\u200c\u200c\u064e\u200cx", "ا\u200d\u061c", "😀\u200d\ufffd", "😀\xff\ufe0f", "😀\u200d\xff", "\\\\\u202e\\", `\u{a}` + "\n",
	"1\ufe0f\u20e3\ufe0f", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\U000e0041", "😀\ufe0f\u200d\u200d😀",
	"ก\u200bก\u200b\u200b", "\u180b\u180b", "\\u{\u200b", "\u3164\u034f\u17b4", "a\u00a0b", "\xff\xfe",
}

func TestHostileText(t *testing.T) {
	for _, in := range append(hostile, ordinary...) {
		if err := check(visible.Escape, in); err != nil {
			t.Error(err)
		}
	}
}

// TestMutants plants the mistakes that are easily made, and expects each caught.
func TestMutants(t *testing.T) {
	mutants := map[string]func(string) string{
		"nothing":  func(s string) string { return s },
		"quote":    func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
		"controls": func(s string) string { return strings.NewReplacer("\n", `\u{a}`, "\u202e", `\u{202e}`).Replace(s) },
		"printable": func(s string) string {
			var b strings.Builder
			for _, r := range s {
				if unicode.IsGraphic(r) {
					b.WriteRune(r)
				} else {
					fmt.Fprintf(&b, `\u{%x}`, r)
				}
			}
			return b.String()
		},
		"no doubling": func(s string) string {
			return strings.NewReplacer(`\\u{`, `\u{`, `\\x{`, `\x{`).Replace(visible.Escape(s))
		},
		"multiline": visible.EscapeMultiline,
	}
	for name, mutant := range mutants {
		var caught error
		for _, in := range append(hostile, "\n") {
			caught = errors.Join(caught, check(mutant, in))
		}
		if caught == nil {
			t.Errorf("the mutant %q passes", name)
		}
	}
}

func TestEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 0x32400 {
			r = 0xdff00 // between them is nothing but unassigned code points
		} else if r == 0xf0100 {
			r = 0x10ff00 // and here private use
		}
		if err := check(visible.Escape, string(r)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEscapeLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := check(visible.Escape, rapid.StringOf(odd).Draw(t, "s")); err != nil {
			t.Fatal(err)
		}
	})
}

// odd are characters whose place decides whether they stay.
var odd = rapid.SampledFrom([]rune("a1\\{}ux \n\u200b\u200c\u200d\u200e\u202e\ufe0e\ufe0f\U000e0100\U000e0180\U000e0067\U000e007f🏴😀👩ا\u064e中क\u094dก\u3164\u061c\u180b\u20e3\ue000\ufffd"))

func FuzzEscape(f *testing.F) {
	for _, s := range append(hostile, ordinary...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := check(visible.Escape, s); err != nil {
			t.Error(err)
		}
		for spot := range visible.Spots(visible.Truncate(visible.Escape(s), 20)) {
			t.Errorf("%U is left when cut", spot.Rune)
		}
		if lines := visible.EscapeMultiline(s); unescape(lines) != s {
			t.Errorf("%q does not go back", lines)
		}
	})
}

func BenchmarkEscape(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":   strings.Repeat("Read the file and run the script. ", 3000),
		"chinese": strings.Repeat("阅读文件并运行脚本。", 3000),
		"arabic":  strings.Repeat("اقرأ الملف وشغّل البرنامج. ", 3000),
		"hostile": strings.Repeat("a\u202e\\\u200b\U000e0041", 3000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				visible.Escape(s)
			}
		})
	}
}
