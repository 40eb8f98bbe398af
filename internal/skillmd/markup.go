package skillmd

import (
	"strings"

	"github.com/iff-run/iff/internal/visible"
)

// Limits on what is looked at around a piece of markup.
const (
	maxTag   = 4096 // bytes of an HTML tag, or of a link with its title
	maxAlt   = 1024 // bytes of the text of an image
	maxTitle = 80   // characters of a link title or an info string that is a note
)

// markup finds what a rendered Markdown page leaves out. In code, where the page
// shows it, a hazard becomes a note and a note is dropped.
type markup struct {
	*sheet
	code
	done   int // everything before this offset is part of an earlier piece
	target int // end of the last link target
	closer int // offset of the next "-->", past the end if there is none
}

// line looks at text[start:end], a line that is not blank.
func (m *markup) line(start, end int) {
	text := m.text[start:end]
	if start >= m.done {
		m.info(start, m.code.line(text))
		m.definition(start)
	}
	span := 0 // up to here a code span shows the text
	for i := max(0, m.done-start); i < len(text); i++ {
		inCode := m.fenced() || i < span
		switch text[i] {
		case '`':
			if m.fence == "" && i >= span {
				if span = m.span(text, i); span > i {
					span++
				}
			}
		case '<':
			m.dangling = m.dangling || !inCode // HTML binds tighter than backticks
			i = max(i, m.angle(start+i, inCode)-start-1)
		case '!':
			m.image(start+i, inCode)
		case ']':
			m.title(start+i, inCode)
		}
	}
}

func (m *markup) found(offset int, class Class, inCode bool, kind Kind, detail func() string) {
	if inCode && class == Note {
		return
	}
	if inCode {
		class = Note
	}
	m.add(offset, class, kind, detail)
}

// info reports an info string too long to be the name of a language.
func (m *markup) info(start int, info string) {
	if longer(info, maxTitle) {
		m.add(start, Hazard, HiddenMarkdown, func() string {
			return "a page does not show the words behind a code fence: " + quote(info)
		})
	}
}

// longer reports whether s has more than n characters.
func longer(s string, n int) bool { return len(s) > n && visible.Truncate(s, n) != s }

// definition handles a link reference definition, which a page does not show:
// [label]: target "title", on one line or several. It is a common way to write
// comments: nothing of it need be used.
func (m *markup) definition(start int) {
	text := m.text[start:min(len(m.text), start+maxTag)]
	text = strings.TrimLeft(text, " \t>-*+0123456789.)")
	if !strings.HasPrefix(text, "[") || strings.HasPrefix(text, "[^") {
		return
	}
	n := closingBracket(text)
	if !strings.HasPrefix(text[n:], "]:") || strings.TrimSpace(text[1:n]) == "" {
		return
	}
	label, rest := text[1:n], skipBlank(text[n+2:])
	n = linkTarget(rest)
	target, rest := rest[:n], rest[n:]
	title, rest := linkTitle(skipBlank(rest), rest)
	if line, _, _ := strings.Cut(rest, "\n"); strings.TrimSpace(line) != "" || target == "" {
		return // a paragraph like any other
	}
	class := Note
	comment := target == "#" || target == "<>"
	switch {
	case label == "//", comment && title != "", comment && strings.ContainsAny(label, " \t\n"),
		strings.ContainsAny(target, " \t"), longer(title, maxTitle), longer(label, maxTitle):
		class = Hazard
	case title == "":
		return
	}
	m.found(start, class, m.fenced(), HiddenMarkdown, func() string {
		return "a page does not show link definitions: " + quote(text[:len(text)-len(rest)])
	})
}

// closingBracket returns the offset of the bracket that ends the label at the
// start of s, or of what cannot be part of one.
func closingBracket(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[', ']':
			return i
		}
	}
	return len(s)
}

// skipBlank skips blanks and at most one line end.
func skipBlank(s string) string {
	s = strings.TrimLeft(s, " \t\r")
	if rest, ok := strings.CutPrefix(s, "\n"); ok {
		return strings.TrimLeft(rest, " \t\r")
	}
	return s
}

// linkTitle reads the link title at the start of s and what follows it. If there
// is none, what follows is otherwise.
func linkTitle(s, otherwise string) (title, rest string) {
	if s == "" || len(s) == len(otherwise) || strings.IndexByte("\"'(", s[0]) < 0 {
		return "", otherwise
	}
	closing := s[0]
	if closing == '(' {
		closing = ')'
	}
	n := strings.IndexByte(s[1:], closing)
	if n < 0 {
		return "", otherwise
	}
	return s[1 : 1+n], s[2+n:]
}

// title handles the title of a link or an image, shown only under the pointer:
// ](target "title"). offset is that of the bracket.
func (m *markup) title(offset int, inCode bool) {
	text, ok := strings.CutPrefix(m.text[offset:min(len(m.text), offset+maxTag)], "](")
	if !ok || offset < m.target {
		return
	}
	n := linkTarget(text)
	m.target = offset + n
	title, _ := linkTitle(skipBlank(text[n:]), text[n:])
	if title == "" {
		return
	}
	class := Note
	if longer(title, maxTitle) {
		class = Hazard
	}
	m.found(offset, class, inCode, HiddenMarkdown, func() string {
		return "a page shows a link's title only under the pointer: " + quote(title)
	})
}

// linkTarget returns the length of the link target at the start of s.
func linkTarget(s string) int {
	if strings.HasPrefix(s, "<") {
		return strings.IndexByte(s, '>') + 1
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\r', '\n':
			return i
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(s)
}

// image notes a long text for an image, ![text](target), shown only if the image
// is not.
func (m *markup) image(offset int, inCode bool) {
	text, ok := strings.CutPrefix(m.text[offset:min(len(m.text), offset+maxAlt)], "![")
	if !ok {
		return
	}
	n := strings.IndexByte(text, ']')
	if n < 0 || !longer(text[:n], maxTitle) {
		return
	}
	m.found(offset, Note, inCode, HiddenMarkdown, func() string {
		return "a page shows an image, not the text for it: " + quote(text[:n])
	})
}
