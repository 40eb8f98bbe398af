package record

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/visible"
)

// hidden reports whether a character is written as an escape. See the package
// doc; the set is part of the format.
func hidden(r rune) bool {
	switch {
	case r < 0x20:
		return true
	case r < 0x7f:
		return false
	case r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// appendText writes a string in its one spelling. altered says that it was not
// UTF-8 and that its escaped form was written.
func appendText(dst []byte, s string) (out []byte, altered bool) {
	n := canonical.PlainPrefix(s)
	if n < len(s) && !utf8.ValidString(s) {
		s, altered = visible.Escape(s), true
		n = canonical.PlainPrefix(s)
	}
	dst = append(dst, '"')
	for {
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"'), altered
		}
		if letter := shortEscape(s[0]); letter != 0 {
			dst = append(dst, '\\', letter)
			s = s[1:]
		} else {
			r, size := utf8.DecodeRuneInString(s)
			dst = appendRune(dst, r)
			s = s[size:]
		}
		n = canonical.PlainPrefix(s)
	}
}

// shortEscape is the letter behind the backslash for what has a short
// escape; 0 for another byte.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\n':
		return 'n'
	case '\t':
		return 't'
	case '\r':
		return 'r'
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	}
	return 0
}

// shortMeaning is what a backslash and a letter stand for; 0 for none.
func shortMeaning(letter byte) byte {
	switch letter {
	case '"', '\\':
		return letter
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return 0
}

// appendRune writes a character that has no short escape.
func appendRune(dst []byte, r rune) []byte {
	if !hidden(r) {
		return utf8.AppendRune(dst, r)
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendUnit(appendUnit(dst, high), low)
	}
	return appendUnit(dst, r)
}

func appendUnit(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// scanText looks at a string in its one spelling at the start of s, with its
// quotes: how many bytes it takes, 0 if there is none, and whether there are
// escapes in it.
func scanText(s string) (size int, escaped bool) {
	if s == "" || s[0] != '"' {
		return 0, false
	}
	for i := 1; ; {
		i += canonical.PlainPrefix(s[i:])
		if i >= len(s) {
			return 0, false
		}
		n := 0
		switch c := s[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			n, escaped = scanEscape(s[i+1:])+1, true
		case c >= utf8.RuneSelf:
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 || hidden(r) {
				return 0, false
			}
		}
		if n < 2 {
			return 0, false
		}
		i += n
	}
}

// scanEscape is the length of an escape behind its backslash, 0 if it is none
// that a writer would have used.
func scanEscape(s string) int {
	if s == "" {
		return 0
	}
	if s[0] != 'u' {
		if shortMeaning(s[0]) != 0 {
			return 1
		}
		return 0
	}
	r, size := unescapeUnit(s)
	if size == 0 || !hidden(r) || r < ' ' && shortEscape(byte(r)) != 0 {
		return 0
	}
	for _, c := range []byte(s[1:size]) {
		if c >= 'A' && c <= 'F' {
			return 0
		}
	}
	return size
}

// unescape is the text of a string that was scanned, without its quotes.
func unescape(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:i])
		s = s[i+1:]
		if c := shortMeaning(s[0]); c != 0 {
			out.WriteByte(c)
			s = s[1:]
			continue
		}
		r, size := unescapeUnit(s)
		out.WriteRune(r)
		s = s[size:]
	}
}

// unescapeUnit reads uXXXX, or a pair of them, and says how long it was.
func unescapeUnit(s string) (rune, int) {
	r := unit(s)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 5
	case len(s) < 11 || s[5] != '\\':
		return 0, 0
	}
	if r = utf16.DecodeRune(r, unit(s[6:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 11
}

// unit reads uXXXX; -1 if it is not there.
func unit(s string) rune {
	if len(s) < 5 || s[0] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(s[1:5], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
