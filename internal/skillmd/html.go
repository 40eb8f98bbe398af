package skillmd

import (
	"fmt"
	"strings"
)

// angle handles what begins with "<" at offset and returns where to go on.
func (m *markup) angle(offset int, inCode bool) int {
	text := m.text[offset:]
	switch {
	case strings.HasPrefix(text, "<!--"):
		return m.comment(offset, inCode)
	case len(text) < 2:
	case text[1] == '?' || text[1] == '!':
		m.declaration(offset, inCode)
	case text[1] == '/' || letter(text[1]):
		m.element(offset, inCode)
	}
	return offset + 1
}

// element handles a tag.
func (m *markup) element(offset int, inCode bool) {
	text := m.text[offset:min(len(m.text), offset+maxTag)]
	name, attributes, size := tag(text)
	if !shownElement(strings.TrimPrefix(name, "/")) {
		class := Note // the word in brackets, or an element that is never closed
		if name[0] == '/' {
			class = Hazard
		}
		m.found(offset, class, inCode, HiddenHTML, func() string {
			return fmt.Sprintf("tag <%s> of an element %s: %s", name, shownAs(inCode), m.around(offset, offset+size))
		})
	}
	if why := concealed(attributes); why != "" {
		m.found(offset, Hazard, inCode, HiddenHTML, func() string {
			return fmt.Sprintf("element with %s, %s: %s", why, shownAs(inCode), quote(text[:size]))
		})
	}
}

func shownElement(name string) bool {
	switch name {
	case "script", "style", "template", "noscript", "iframe", "title", "noembed", "noframes", "datalist":
		return false
	}
	return true
}

// declaration handles <? ... ?> and <! ... >, which a page leaves out, other than
// the usual first line of HTML.
func (m *markup) declaration(offset int, inCode bool) {
	text := m.text[offset:min(len(m.text), offset+maxTag)]
	end := ">"
	switch {
	case text[1] == '?':
		end = "?>"
	case strings.HasPrefix(text, "<![CDATA["):
		end = "]]>"
	case len(text) < 3 || !letter(text[2]):
		return
	}
	n := strings.Index(text, end)
	if n < 0 {
		return
	}
	if text = text[:n+len(end)]; len(text) <= maxTitle && strings.HasPrefix(strings.ToLower(text), "<!doctype ") {
		return
	}
	m.found(offset, Hazard, inCode, HTMLComment, func() string {
		return fmt.Sprintf("HTML declaration, %s: %s", shownAs(inCode), quote(text))
	})
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

// attribute is one attribute of an HTML tag: its name in lower case, its value.
type attribute struct{ name, value string }

// tag reads the HTML tag at the start of text: its name, in lower case and with a
// slash in front if it closes, its attributes, its length. A "<" outside quotes
// ends it, so that little text is read for two tags.
func tag(text string) (name string, attributes []attribute, size int) {
	i := 1
	for i < len(text) && (letter(text[i]) || text[i] >= '0' && text[i] <= '9' || text[i] == '-' || text[i] == '/' && i == 1) {
		i++
	}
	name = strings.ToLower(text[1:i])
	for i < len(text) && text[i] != '>' && text[i] != '<' {
		if strings.IndexByte(" \t\r\n/", text[i]) >= 0 {
			i++
			continue
		}
		a, n := readAttribute(text[i:])
		attributes = append(attributes, a)
		i += n
	}
	return name, attributes, min(i+1, len(text))
}

// readAttribute reads the attribute at the start of s, which is neither blank nor
// the end of a tag; the size is at least 1.
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
	a.value = value
	return a, size
}

// concealed says which attribute hides the element or holds text that is not
// shown, "" if none does.
func concealed(attributes []attribute) string {
	for _, a := range attributes {
		switch {
		case a.name == "hidden":
			return "the attribute hidden"
		case a.name == "style":
			if why := hidingStyle(a.value); why != "" {
				return why
			}
		case longer(a.value, maxTitle) && sentence(a):
			return "a long attribute " + escape(a.name)
		}
	}
	return ""
}

// sentence reports whether the value of an attribute may be meant for reading.
func sentence(a attribute) bool {
	switch a.name {
	case "class", "d", "points", "srcset", "sizes", "transform", "viewbox", "values":
		return false
	}
	return len(strings.Fields(a.value)) > 8
}

func hidingStyle(style string) string {
	style = strings.ToLower(strings.Join(strings.Fields(style), ""))
	for declaration := range strings.SplitSeq(strings.ReplaceAll(style, "!important", ""), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		switch property {
		case "display", "visibility":
			if value == "none" || value == "hidden" {
				return "the style " + declaration
			}
		case "font-size", "opacity":
			if zero(value) {
				return "the style " + escape(declaration)
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
