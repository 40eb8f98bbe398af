package beneath

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"SKILL.md", ".hidden", "...a", "a b", "日本語.txt", "é", "e\u0301", "🎉.md", "a\\b", "C:", "-rf", "~", "*", "\uFFFD",
		strings.Repeat("n", MaxName), "\ue000",
	} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, detail := range map[string]string{
		"":                  "an empty name",
		".":                 "the name of a directory itself or of its parent",
		"..":                "the name of a directory itself or of its parent",
		"a/b":               "a slash at byte 1 of the name",
		"a\x00":             "a NUL at byte 1 of the name",
		"é\xff":             "invalid UTF-8 (0xff) at byte 2 of the name",
		"\xed\xa0\x80":      "invalid UTF-8 (0xed) at byte 0 of the name", // a surrogate
		"a\n":               "control character U+000A at byte 1 of the name",
		"\x7f":              "control character U+007F at byte 0 of the name",
		"\u0085":            "control character U+0085 at byte 0 of the name",
		"gpj\u202efdp":      "invisible character U+202E at byte 3 of the name",
		"\u2066x":           "invisible character U+2066 at byte 0 of the name",
		"a\u200bb":          "invisible character U+200B at byte 1 of the name",
		"\ufeffx":           "invisible character U+FEFF at byte 0 of the name",
		"a\u2028":           "invisible character U+2028 at byte 1 of the name",
		"a\U000e0041":       "invisible character U+E0041 at byte 1 of the name",
		"a\U000e0101":       "invisible character U+E0101 at byte 1 of the name",
		"a\ufe0f":           "invisible character U+FE0F at byte 1 of the name",
		"\u3164":            "invisible character U+3164 at byte 0 of the name",
		"a\u00adb":          "invisible character U+00AD at byte 1 of the name",
		"a ":                "a name that ends in a space or a dot",
		"a.":                "a name that ends in a space or a dot",
		long:                "a name of 256 bytes, more than 255",
		"x\xff" + long[:10]: "invalid UTF-8 (0xff) at byte 1 of the name",
	} {
		err := CheckName(name)
		var e *Error
		if !errors.As(err, &e) || e.Reason != FileName || e.Path != name || e.Detail != detail {
			t.Errorf("%q: %v, want %s", name, err, detail)
		}
	}
}

var long = strings.Repeat("n", MaxName+1)

// A name that passes shows every one of its characters and is one component; one that is refused is refused in print.
func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"", ".", "a/b", "SKILL.md", "a\u202eb", "\xff", "a\x00", "日本", "x ", long} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		err := CheckName(name)
		if err == nil {
			if !utf8.ValidString(name) || name == "" || len(name) > MaxName || strings.ContainsAny(name, "/\x00") {
				t.Errorf("%q passed", name)
			}
			for _, r := range name {
				if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
					t.Errorf("%q passed with %U", name, r)
				}
			}
			return
		}
		for _, r := range err.Error() {
			if !unicode.IsPrint(r) {
				t.Errorf("%q: the error holds %U", name, r)
			}
		}
	})
}
