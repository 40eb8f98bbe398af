package beneath

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the longest name that [CheckName] lets pass, in bytes: the limit of nearly every file system.
const MaxName = 255

// CheckName refuses a file name that a person could misread or another system could not hold: empty, "." and "..", a NUL
// or a slash, invalid UTF-8, control characters, line and paragraph separators, characters that show nothing or turn
// the reading direction (zero-width, bidi, tags, variation selectors), a space or dot at the end, and more than
// [MaxName] bytes. The error is an [*Error] with reason file-name, Path the name and Detail saying which and at what byte.
//
// Entries and ReadFile do not call it, so that a caller can name the file it refuses.
func CheckName(name string) error {
	detail := notComponent(name)
	if detail == "" {
		detail = badText(name)
	}
	if detail == "" {
		return nil
	}
	return &Error{Reason: FileName, Path: name, Detail: detail}
}

// notComponent says why name cannot be one step of a path, or "".
func notComponent(name string) string {
	switch {
	case name == "":
		return "an empty name"
	case name == "." || name == "..":
		return "the name of a directory itself or of its parent"
	}
	for i := range len(name) {
		switch name[i] {
		case 0:
			return fmt.Sprintf("a NUL at byte %d of the name", i)
		case '/':
			return fmt.Sprintf("a slash at byte %d of the name", i)
		}
	}
	return ""
}

func badText(name string) string {
	if len(name) > MaxName {
		return fmt.Sprintf("a name of %d bytes, more than %d", len(name), MaxName)
	}
	for i, r := range name {
		if what := badRune(r, name[i:]); what != "" {
			return fmt.Sprintf("%s at byte %d of the name", what, i)
		}
	}
	if strings.HasSuffix(name, " ") || strings.HasSuffix(name, ".") {
		return "a name that ends in a space or a dot"
	}
	return ""
}

func badRune(r rune, rest string) string {
	switch {
	case ' ' <= r && r < 0x7f: // as most are
		return ""
	case r == utf8.RuneError && !strings.HasPrefix(rest, "\uFFFD"):
		return fmt.Sprintf("invalid UTF-8 (0x%02x)", rest[0])
	case unicode.IsControl(r):
		return fmt.Sprintf("control character U+%04X", r)
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return fmt.Sprintf("invisible character U+%04X", r)
	}
	return ""
}
