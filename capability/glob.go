package capability

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Patterns and targets are held as codes: the text with escapes resolved,
// wildcards replaced by bytes that UTF-8 never contains, and arguments
// separated by NUL, which no argument contains. Two codes are equal exactly if
// they mean the same, and matching needs no memory of its own.
const (
	anyRun   = "\xff" // any run of bytes within a segment, argument or name
	anyMore  = "\xfe" // any number of segments or arguments
	argBreak = "\x00"
)

func isPattern(code string) bool {
	return strings.IndexByte(code, anyRun[0]) >= 0 || strings.IndexByte(code, anyMore[0]) >= 0
}

// matchRun reports whether s is pattern with each anyRun replaced by some run
// of bytes. The literal pieces between them are looked for from left to right,
// each at its first place: taking a later place never helps, for it only
// leaves less for the pieces that follow.
func matchRun(pattern, s string) bool {
	i := strings.IndexByte(pattern, anyRun[0])
	if i < 0 {
		return pattern == s
	}
	if !strings.HasPrefix(s, pattern[:i]) {
		return false
	}
	s, pattern = s[i:], pattern[i+1:]
	for {
		i = strings.IndexByte(pattern, anyRun[0])
		if i < 0 {
			return strings.HasSuffix(s, pattern)
		}
		at := strings.Index(s, pattern[:i])
		if at < 0 {
			return false
		}
		s, pattern = s[at+i:], pattern[i+1:]
	}
}

// unescape turns text into code: a backslash makes one of the bytes in
// escapable literal, a run of * becomes anyRun. With a u in escapable \u{hex}
// is a code point and \u{} is nothing.
func unescape(text, escapable string) (string, *fault) {
	if strings.IndexByte(text, '\\') < 0 && strings.IndexByte(text, '*') < 0 {
		return text, nil // as most are: it is its own code
	}
	var code strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '*':
			for i+1 < len(text) && text[i+1] == '*' {
				i++
			}
			if !strings.HasSuffix(code.String(), anyRun) { // \u{} may stand between two
				code.WriteString(anyRun)
			}
		case text[i] != '\\':
			code.WriteByte(text[i])
		case i+1 == len(text) || strings.IndexByte(escapable, text[i+1]) < 0:
			return "", wrong(i, `a backslash stands before * or a backslash (in arguments also a space or u{hex}); write a literal one as \\`)
		case text[i+1] == 'u':
			n, f := unescapeRune(&code, text[i:])
			if f != nil {
				f.offset += i
				return "", f
			}
			i += n - 1
		default:
			i++
			code.WriteByte(text[i])
		}
	}
	return code.String(), nil
}

// unescapeRune reads the \u{hex} at the start of text, and returns its length.
func unescapeRune(code *strings.Builder, text string) (int, *fault) {
	const open, mostDigits = len(`\u{`), 6
	end := strings.IndexByte(text, '}')
	if end < open || end > open+mostDigits || text[open-1] != '{' {
		return 0, wrong(0, `write a code point as \u{hex}, up to six digits`)
	}
	if end == open {
		return end + 1, nil
	}
	n, err := strconv.ParseUint(text[open:end], 16, 32)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return 0, wrong(0, "%s is not a character that an argument can hold", text[:end+1])
	}
	code.WriteRune(rune(n))
	return end + 1, nil
}

// escapeLiteral is escape for text that holds no wildcards. What is not UTF-8
// stays as it is, for checkText to refuse.
func escapeLiteral(s, escapable string) string {
	if isPlain(s, escapable) || !utf8.ValidString(s) {
		return s
	}
	return escape(s, escapable)
}

// escape is the inverse of unescape: the one spelling of a code.
func escape(code, escapable string) string {
	if isPlain(code, escapable) {
		return code
	}
	var text strings.Builder
	for i, r := range code {
		switch {
		case code[i] == anyRun[0]:
			text.WriteByte('*')
		case code[i] == anyMore[0]:
			text.WriteString("**")
		case r != 'u' && strings.ContainsRune(escapable, r):
			text.WriteByte('\\')
			text.WriteRune(r)
		case (hidden(r) || unicode.Is(unicode.Zs, r)) && strings.Contains(escapable, "u"):
			text.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		default:
			text.WriteRune(r)
		}
	}
	return text.String()
}

// isPlain reports whether nothing in a code is to be escaped: most codes are
// such, and are their own spelling. Where code points have escapes it is ASCII
// that shows, without spaces; elsewhere any UTF-8, which has no wildcards.
func isPlain(code, escapable string) bool {
	if !shows(code) && (strings.Contains(escapable, "u") || !utf8.ValidString(code)) {
		return false
	}
	for i := range len(escapable) {
		if c := escapable[i]; c != 'u' && strings.IndexByte(code, c) >= 0 {
			return false
		}
	}
	return true
}

// shows reports whether s is ASCII that shows, without spaces.
func shows(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// hidden reports whether a reader cannot see r, or cannot tell what it does to
// the text around it.
func hidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// checkText finds the first byte of s that is not plain visible text.
func checkText(s string) *fault {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return wrong(i, "byte %#02x is not UTF-8", s[i])
		}
		if hidden(r) {
			return wrong(i, "the invisible character U+%04X; take it out", r)
		}
	}
	return nil
}
