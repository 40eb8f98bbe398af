package skillmd

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/visible"
)

// What counts as off screen, too long for a line, and too long for a word.
const (
	maxBlanks     = 120  // columns between two pieces of text on a line
	tabColumns    = 4    // of which a tab counts so many
	maxBlankLines = 40   // before a line with text
	maxLineRunes  = 2000 // in a line
	maxWord       = 200  // characters of base64 in a row
)

// line is one line of a text, without its line feed, and what was found out
// about it.
type line struct {
	start, end int
	counted    bool
	count      letters
	sought     bool
	rtl        bool
}

// lineAt returns the line around offset. Calls with rising offsets look at each
// line once.
func (s *sheet) lineAt(offset int) *line {
	if l := &s.line; offset >= l.start && offset < l.end {
		return l
	}
	start, end := strings.LastIndexByte(s.text[:offset], '\n')+1, len(s.text)
	if i := strings.IndexByte(s.text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	s.line = line{start: start, end: end}
	return &s.line
}

func (l *line) letters(text string) letters {
	if !l.counted {
		l.counted, l.count = true, count(text[l.start:l.end])
	}
	return l.count
}

// rightToLeft reports whether the line has a letter that runs right to left.
func (l *line) rightToLeft(text string) bool {
	if !l.sought {
		l.sought = true
		l.rtl = strings.IndexFunc(text[l.start:l.end], visible.RightToLeft) >= 0
	}
	return l.rtl
}

// lines goes through the text line by line: for what is far away on the screen,
// and for the markup that a rendered page does not show.
func (s *sheet) lines() {
	m := markup{sheet: s}
	blank := 0
	for start := 0; start < len(s.text); {
		end := len(s.text)
		if i := strings.IndexByte(s.text[start:], '\n'); i >= 0 {
			end = start + i
		}
		text := s.text[start:end]
		if body := strings.TrimLeftFunc(text, isBlank); body == "" {
			blank++
		} else {
			if blank >= maxBlankLines {
				s.add(start, Hazard, OffScreen, func() string {
					return fmt.Sprintf("%d blank lines push this text down: %s", blank, quote(body))
				})
			}
			blank = 0
			s.width(start, text)
		}
		if strings.Trim(text, " \t\r") == "" {
			m.blank()
		} else {
			m.line(start, end)
		}
		start = end + 1
	}
}

// isBlank reports whether r leaves a place on the screen empty.
func isBlank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\r' || r > 0x7f && (unicode.IsSpace(r) || r == 0x2800 || r == 0x3164)
}

// width finds text far to the right, very long lines, and long words that look
// like encoded data, in one line that has text.
func (s *sheet) width(start int, text string) {
	if len(text) < maxBlanks/tabColumns {
		return
	}
	s.blanks(start, text)
	if len(text) <= maxWord {
		return
	}
	if n := utf8.RuneCountInString(text); n > maxLineRunes {
		s.add(start, Note, LongLine, func() string { return fmt.Sprintf("the line has %d characters", n) })
	}
	s.blobs(start, text)
}

// blanks reports the first text on a line that stands behind a wide gap. In a row
// of a Markdown table the gap is usually padding, so there it is a note.
func (s *sheet) blanks(start int, text string) {
	columns := 0
	for i, r := range text {
		switch {
		case r == '\t':
			columns += tabColumns
		case r == ' ' || r > 0x7f && isBlank(r):
			columns++
		case columns >= maxBlanks && strings.TrimLeft(text[i:], " \t|\r") != "":
			class := Hazard
			if strings.HasPrefix(strings.TrimSpace(text), "|") {
				class = Note
			}
			s.add(start+i, class, OffScreen, func() string {
				return fmt.Sprintf("%d blank columns push text out of sight: %s", columns, quote(text[i:]))
			})
			return
		default:
			columns = 0
		}
	}
}

// blobs notes long words of the base64 alphabets with capitals, small letters
// and digits in them.
func (s *sheet) blobs(start int, text string) {
	for i := 0; i < len(text); {
		n := base64Prefix(text[i:])
		if word := text[i : i+n]; n > maxWord && encoded(word) {
			s.add(start+i, Note, Blob, func() string {
				return fmt.Sprintf("%d characters that look like encoded data: %s", n, quote(word))
			})
		}
		i += n + 1
	}
}

// base64Prefix returns how many characters of base64 s starts with.
func base64Prefix(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '+', c == '/', c == '-', c == '_', c == '=':
		default:
			return i
		}
	}
	return len(s)
}

func encoded(word string) bool {
	return strings.ContainsAny(word, "0123456789") &&
		strings.ToLower(word) != word && strings.ToUpper(word) != word
}
