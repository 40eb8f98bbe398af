package visible

import (
	"strconv"
	"strings"
)

// Escape returns s on one line with everything a reader would not see written
// out, as the package comment says. The result is valid UTF-8, and two
// different inputs never give the same result. The empty string stays empty.
func Escape(s string) string { return escape(s, false) }

// EscapeMultiline is Escape for text that may stand on several lines: line
// feeds and tabs stay. A carriage return is written out.
func EscapeMultiline(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	var b strings.Builder
	done := 0
	for spot := range Spots(s) {
		if lines && (spot.Rune == '\n' || spot.Rune == '\t') {
			continue
		}
		if b.Len() == 0 {
			b.Grow(len(s) + 16)
		}
		copyPlain(&b, s[done:spot.Offset], true)
		writeSpot(&b, s, spot)
		done = spot.Offset + spot.Size
	}
	if done == 0 && !strings.Contains(s, `\u{`) && !strings.Contains(s, `\x{`) {
		return s
	}
	copyPlain(&b, s[done:], false)
	return b.String()
}

func writeSpot(b *strings.Builder, s string, spot Spot) {
	value, prefix := int64(spot.Rune), `\u{`
	if spot.Class == Invalid {
		value, prefix = int64(s[spot.Offset]), `\x{`
	}
	b.WriteString(prefix)
	b.WriteString(strconv.FormatInt(value, 16))
	b.WriteByte('}')
}

// copyPlain copies s, doubling runs of backslashes that would read as the start
// of an escape. spotFollows says that an escape is written after s.
func copyPlain(b *strings.Builder, s string, spotFollows bool) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			b.WriteString(s)
			return
		}
		j := i
		for j < len(s) && s[j] == '\\' {
			j++
		}
		b.WriteString(s[:j])
		rest := s[j:]
		if strings.HasPrefix(rest, "u{") || strings.HasPrefix(rest, "x{") || rest == "" && spotFollows {
			b.WriteString(s[i:j])
		}
		s = rest
	}
}

// Truncate returns s cut to at most so many runes, the last of them an ellipsis
// if anything was cut; a byte that is not UTF-8 counts as one. It does not leave
// half of an emoji or of one of [Escape]'s escapes behind, so it may be used
// before Escape or after it. With runes of 0 or less the result is empty.
func Truncate(s string, runes int) string {
	if runes <= 0 {
		return ""
	}
	if len(s) <= runes {
		return s
	}
	cut, n := 0, 0
	for i := range s {
		if n == runes-1 {
			cut = i
		}
		if n++; n > runes {
			return strings.TrimRightFunc(trimEscape(s[:cut]), leans) + "…"
		}
	}
	return s
}

// leans reports whether r can need what comes after it in order to belong.
func leans(r rune) bool {
	class := classify(r)
	return class == ZeroWidth || class == Variation || class == Tag
}

// trimEscape removes an escape that the end of s cuts through.
func trimEscape(s string) string {
	const longest = len(`\u{10ffff`)
	open := strings.LastIndexByte(s, '\\')
	if open < 0 || len(s)-open > longest || strings.ContainsRune(s[open:], '}') {
		return s
	}
	for i, c := range []byte(s[open+1:]) {
		switch {
		case i == 0 && (c == 'u' || c == 'x'), i == 1 && c == '{':
		case i > 1 && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f'):
		default:
			return s
		}
	}
	return s[:open]
}
