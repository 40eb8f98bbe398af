package skillmd

import (
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/visible"
)

// Limits on what is looked at around a piece of markup.
const (
	maxTag   = 4096 // bytes of an HTML tag, or of a link with its title
	maxTitle = 80   // characters of a link title or an info string that is a note
)

// markup finds what a rendered Markdown page leaves out. In code, where the page
// shows it, a hazard becomes a note and a note is dropped.
type markup struct {
	*sheet
	code
	done   int    // everything before this offset is part of an earlier piece
	target int    // end of the last link target
	closer int    // offset of the next "-->", past the end if there is none
	label  string // of a link definition on the last line whose title may follow
}

func (m *markup) blank() {
	m.code.blank()
	m.label = ""
}

// line looks at text[start:end], a line that is not blank.
func (m *markup) line(start, end int) {
	text := m.text[start:end]
	if start >= m.done {
		m.info(start, m.code.line(text))
		if !m.fenced() && m.definition(start, text) {
			return
		}
	}
	shown := 0 // up to here a code span shows the text
	for i := max(0, m.done-start); i < len(text); i++ {
		inCode := m.fenced() || i < shown
		switch text[i] {
		case '`':
			if m.fence == "" && i >= shown {
				if shown = m.span(text, i); shown > i {
					shown++
				}
			}
		case '<':
			m.dangling = m.dangling || !inCode // HTML binds tighter than backticks
			i = max(i, m.angle(start+i, inCode)-start-1)
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
// [label]: target "title", the title perhaps on the next line. It is a common
// way to write comments.
func (m *markup) definition(start int, text string) bool {
	title := strings.TrimLeft(text, " \t")
	label, target := m.label, ""
	if m.label = ""; label == "" {
		var ok bool
		label, title, ok = strings.Cut(title, "]:")
		if !ok || !strings.HasPrefix(label, "[") || strings.HasPrefix(label, "[^") || strings.Contains(label[1:], "]") {
			return false
		}
		target, title, _ = strings.Cut(strings.TrimSpace(title), " ")
		if title = strings.TrimSpace(title); title == "" {
			if m.label = label; target == "#" || target == "<>" {
				m.label = "[//"
			}
			return true
		}
	}
	if strings.IndexByte("\"'(", title[0]) < 0 {
		return false
	}
	class := Note
	if label == "[//" || target == "#" || target == "<>" || longer(title, maxTitle) {
		class = Hazard
	}
	m.add(start, class, HiddenMarkdown, func() string {
		return "a page does not show link definitions: " + quote(strings.TrimSpace(text))
	})
	return true
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
	text = strings.TrimLeft(text[n:], " \t\r\n")
	if text == "" || strings.IndexByte("\"'(", text[0]) < 0 {
		return
	}
	closing := text[0]
	if closing == '(' {
		closing = ')'
	}
	if n = strings.IndexByte(text[1:], closing); n <= 0 {
		return
	}
	title, class := text[1:1+n], Note
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

// angle handles what begins with "<" at offset and returns where to go on.
func (m *markup) angle(offset int, inCode bool) int {
	text := m.text[offset:]
	if strings.HasPrefix(text, "<!--") {
		return m.comment(offset, inCode)
	}
	if len(text) < 2 || !letter(text[1]) {
		return offset + 1
	}
	attributes, size := tag(text[:min(len(text), maxTag)])
	if why := concealed(attributes); why != "" {
		m.found(offset, Hazard, inCode, HiddenHTML, func() string {
			return fmt.Sprintf("element with %s, %s: %s", why, shownAs(inCode), quote(text[:size]))
		})
	}
	return offset + 1
}

// comment handles an HTML comment, to the end of the text if it is not closed.
func (m *markup) comment(offset int, inCode bool) int {
	if m.closer < offset+2 {
		m.closer = len(m.text) + 1
		if n := strings.Index(m.text[offset+2:], "-->"); n >= 0 {
			m.closer = offset + 2 + n
		}
	}
	end, what := m.closer+len("-->"), "HTML comment"
	if m.closer > len(m.text) {
		end, what = len(m.text), "HTML comment without an end"
	}
	m.found(offset, Hazard, inCode, HTMLComment, func() string {
		return fmt.Sprintf("%s, %s: %s", what, shownAs(inCode), quote(m.text[offset:end]))
	})
	if inCode {
		return offset + 1 // the code may end before the comment does
	}
	m.done = end
	return end
}

func shownAs(inCode bool) string {
	if inCode {
		return "which a page shows as code"
	}
	return "which a page does not show"
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// attribute is one attribute of an HTML tag, lower-case and without the blanks
// in its value.
type attribute struct{ name, value string }

// tag reads the HTML tag at the start of text: its attributes and its length. A
// "<" outside quotes ends it, so that no text is read for two tags.
func tag(text string) (attributes []attribute, size int) {
	i := 1
	for i < len(text) && (letter(text[i]) || text[i] >= '0' && text[i] <= '9' || text[i] == '-') {
		i++
	}
	for i < len(text) && text[i] != '>' && text[i] != '<' {
		if strings.IndexByte(" \t\r\n/", text[i]) >= 0 {
			i++
			continue
		}
		a, n := readAttribute(text[i:])
		if n == 0 {
			break
		}
		attributes = append(attributes, a)
		i += n
	}
	return attributes, min(i+1, len(text))
}

func readAttribute(s string) (a attribute, size int) {
	end := strings.IndexAny(s, " \t\r\n/>=<")
	if end < 0 {
		end = len(s)
	}
	a.name = strings.ToLower(s[:end])
	rest := strings.TrimLeft(s[end:], " \t\r\n")
	if !strings.HasPrefix(rest, "=") {
		return a, end
	}
	rest = strings.TrimLeft(rest[1:], " \t\r\n")
	size = len(s) - len(rest)
	var value string
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		n := strings.IndexByte(rest[1:], rest[0])
		if n < 0 {
			n = len(rest) - 1
		}
		value, size = rest[1:1+n], min(len(s), size+n+2)
	} else {
		n := strings.IndexAny(rest, " \t\r\n><")
		if n < 0 {
			n = len(rest)
		}
		value, size = rest[:n], size+n
	}
	a.value = strings.ToLower(strings.Join(strings.Fields(value), ""))
	return a, size
}

// concealed says which attribute hides the element, "" if none does.
func concealed(attributes []attribute) string {
	for _, a := range attributes {
		if a.name == "hidden" {
			return "the attribute hidden"
		}
		if a.name != "style" {
			continue
		}
		for declaration := range strings.SplitSeq(strings.ReplaceAll(a.value, "!important", ""), ";") {
			switch property, value, _ := strings.Cut(declaration, ":"); property {
			case "display", "visibility":
				if value == "none" || value == "hidden" {
					return "the style " + declaration
				}
			case "font-size", "opacity":
				if zero(value) {
					return "the style " + visible.Escape(declaration)
				}
			}
		}
	}
	return ""
}

// zero reports whether a CSS length or number is nothing.
func zero(value string) bool {
	number := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%")
	return number != "" && strings.Trim(number, "0.") == ""
}
