package connect

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/canonical"
)

const maxNesting = 128

// node is a value of a JSON file, with comments and trailing commas allowed, and
// where it stands.
type node struct {
	start, end int
	kind       byte // { [ " or 0 for what has no parts
	members    []member
	items      []*node
	value      any // of what has no parts
	comma      int // where the comma behind the last part ends; 0: there is none
}

type member struct {
	name  string
	start int
	value *node
}

// syntaxError says on which line of a file somebody's syntax is wrong.
type syntaxError struct {
	line   int
	detail string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.detail) }

type jsonReader struct {
	text string
	at   int
	jsonFormat
}

// parseJSON reads a whole file.
func parseJSON(text string, f jsonFormat) (*node, error) {
	r := &jsonReader{text: text, jsonFormat: f}
	if !utf8.ValidString(text) {
		return nil, r.wrong("it is not UTF-8")
	}
	r.space()
	if err := r.comment(); err != nil {
		return nil, err
	}
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	r.space()
	if err := r.comment(); err != nil {
		return nil, err
	}
	if r.at < len(text) {
		return nil, r.wrong("there is more behind the value")
	}
	return n, nil
}

func (r *jsonReader) wrong(detail string) error {
	return &syntaxError{1 + strings.Count(r.text[:min(r.at, len(r.text))], "\n"), detail}
}

// space passes white space and comments.
func (r *jsonReader) space() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			r.at++
		case !r.comments && rest[0] == '/':
			return
		case strings.HasPrefix(rest, "//"):
			r.at += lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return // what comes next is refused
			}
			r.at += end + 4
		default:
			return
		}
	}
}

// comment is the error for a comment where the agent reads none.
func (r *jsonReader) comment() error {
	if !r.comments && r.peek() == '/' {
		return r.wrong("there is a comment, which the agent does not read; take it out")
	}
	return nil
}

func lineEnd(text string) int {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		return i
	}
	return len(text)
}

func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) value(depth int) (*node, error) {
	if depth > maxNesting {
		return nil, r.wrong("it is nested too deep")
	}
	n := &node{start: r.at}
	var err error
	switch c := r.peek(); c {
	case '{', '[':
		n.kind = c
		r.at++
		err = r.parts(n, depth)
	case '"':
		n.kind = c
		n.value, err = r.quoted()
	default:
		n.value, err = r.bare()
	}
	n.end = r.at
	return n, err
}

// parts reads what is between the brackets of an object or array.
func (r *jsonReader) parts(n *node, depth int) error {
	closing := map[byte]byte{'{': '}', '[': ']'}[n.kind]
	for seen := map[string]bool{}; ; {
		r.space()
		if r.peek() == closing {
			if n.comma > 0 && !r.commas {
				return r.wrong("there is a comma behind the last value, which the agent does not read; take it out")
			}
			r.at++
			return nil
		}
		if err := r.comment(); err != nil {
			return err
		}
		if len(n.members)+len(n.items) > 0 && n.comma == 0 {
			return r.wrong("a comma is missing")
		}
		if err := r.part(n, depth, seen); err != nil {
			return err
		}
		n.comma = 0
		if r.space(); r.peek() == ',' {
			r.at++
			n.comma = r.at
		}
	}
}

func (r *jsonReader) part(n *node, depth int, seen map[string]bool) error {
	if err := r.comment(); err != nil {
		return err
	}
	if n.kind == '[' {
		item, err := r.value(depth + 1)
		n.items = append(n.items, item)
		return err
	}
	m := member{start: r.at}
	if r.peek() != '"' {
		return r.wrong("a name between quotation marks is missing")
	}
	var err error
	if m.name, err = r.quoted(); err != nil {
		return err
	}
	if seen[m.name] {
		return r.wrong(quote(m.name) + " stands there twice")
	}
	seen[m.name] = true
	if r.space(); r.peek() != ':' {
		return r.wrong("a colon is missing")
	}
	r.at++
	r.space()
	m.value, err = r.value(depth + 1)
	n.members = append(n.members, m)
	return err
}

func (r *jsonReader) quoted() (string, error) {
	end := r.at + 1
	for ; end < len(r.text) && r.text[end] != '"'; end++ {
		switch r.text[end] {
		case '\\':
			end++
		case '\n', '\r':
			return "", r.wrong("a text does not end on its line")
		}
	}
	if end >= len(r.text) {
		return "", r.wrong("a text does not end")
	}
	var out string
	err := canonical.Parse([]byte(r.text[r.at:end+1]), &out, canonical.Limits{Bytes: len(r.text) + 2})
	if err != nil {
		return "", r.wrong(err.Error())
	}
	r.at = end + 1
	return out, nil
}

func (r *jsonReader) bare() (any, error) {
	rest := r.text[r.at:]
	word := rest
	if i := strings.IndexAny(rest, " \t\r\n,:{}[]\"/"); i >= 0 {
		word = rest[:i]
	}
	var v any
	switch word {
	case "true", "false":
		v = word == "true"
	case "null":
	default:
		if _, err := strconv.ParseFloat(word, 64); err != nil || !strings.ContainsRune("-0123456789", rune(word[0])) || strings.ContainsAny(word, "xX_pPiInN") {
			return nil, r.wrong("a value is missing or is none")
		}
		v = number(word)
	}
	r.at += len(word)
	return v, nil
}

// tree is what a node means.
func (n *node) tree() any {
	switch n.kind {
	case '{':
		out := tree{}
		for _, m := range n.members {
			out[m.name] = m.value.tree()
		}
		return out
	case '[':
		out := []any{}
		for _, item := range n.items {
			out = append(out, item.tree())
		}
		return out
	}
	return n.value
}

// find goes down a path as far as there is something, and gives how far.
func (n *node) find(path []string) (*node, int) {
	for i, name := range path {
		next := (*node)(nil)
		for _, m := range n.members {
			if m.name == name {
				next = m.value
			}
		}
		if next == nil {
			return n, i
		}
		n = next
	}
	return n, len(path)
}
