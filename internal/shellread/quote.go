package shellread

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// globs splits unquoted text into exact pieces and globs. With escapes a
// backslash takes the meaning of the next character away.
func globs(text string, escapes bool) []piece {
	var out []piece
	var run strings.Builder
	flush := func() {
		if run.Len() > 0 {
			out = append(out, piece{exact, run.String()})
			run.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && escapes && i+1 < len(text):
			i++
			run.WriteByte(text[i])
		case c == '*' || c == '?':
			flush()
			out = append(out, piece{within, text[i : i+1]})
		case c == '[' && bracket(text[i:]) > 0:
			n := bracket(text[i:])
			flush()
			out = append(out, piece{within, text[i : i+n]})
			i += n - 1
		default:
			run.WriteByte(c)
		}
	}
	flush()
	return out
}

// bracket returns the length of the bracket expression that text begins with,
// or 0. A slash ends the attempt: [ matches within a segment.
func bracket(text string) int {
	const most = 64
	for i := 2; i < len(text) && i < most; i++ {
		switch text[i] {
		case ']':
			return i + 1
		case '/':
			return 0
		}
	}
	return 0
}

// unquote takes the backslashes away that stand before one of these bytes, and
// those before a newline with the newline.
func unquote(text, before string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch next := text[i+1]; {
			case next == '\n':
				i++
				continue
			case strings.IndexByte(before, next) >= 0:
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// ansiC decodes the inside of $'...' (Bash manual, 3.1.2.4).
func ansiC(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		i += ansiEscape(&b, text[i:]) - 1
	}
	decoded, _, _ := strings.Cut(b.String(), "\x00") // the string ends there
	return decoded
}

// ansiEscape writes what stands after a backslash, and returns its length.
func ansiEscape(b *strings.Builder, s string) int {
	const plain, means = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"
	if i := strings.IndexByte(plain, s[0]); i >= 0 {
		b.WriteByte(means[i])
		return 1
	}
	switch c := s[0]; {
	case c >= '0' && c <= '7':
		n, used := digits(s, 3, 8)
		b.WriteByte(byte(n))
		return used
	case strings.HasPrefix(s, "x{"):
		return ansiBraces(b, s)
	case c == 'x' || c == 'u' || c == 'U':
		n, used := digits(s[1:], map[byte]int{'x': 2, 'u': 4, 'U': 8}[c], 16)
		switch {
		case used == 0:
			b.WriteString(`\` + s[:1])
		case c == 'x':
			b.WriteByte(byte(n))
		default:
			b.WriteRune(rune(min(n, utf8.MaxRune+1)))
		}
		return 1 + used
	case c == 'c' && len(s) > 1:
		b.WriteByte(s[1] & 0x1f)
		return 2
	}
	b.WriteString(`\` + s[:1])
	return 1
}

// ansiBraces decodes \x{72}, which bash has without documenting it.
func ansiBraces(b *strings.Builder, s string) int {
	const most = 16
	n, used := digits(s[2:], most, 16)
	b.WriteByte(byte(n))
	end := 2 + used
	if end < len(s) && s[end] == '}' {
		end++
	}
	return end
}

// digits reads up to most digits of a base, and returns how many there are.
func digits(s string, most, base int) (n uint64, used int) {
	for used < most && used < len(s) {
		v, err := strconv.ParseUint(s[used:used+1], base, 8)
		if err != nil {
			break
		}
		n = n*uint64(base) + v
		used++
	}
	return n, used
}
