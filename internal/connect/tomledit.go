package connect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/iff-run/iff/internal/visible"
)

// tomlFormat edits TOML by statements, and keeps the others to the byte.
type tomlFormat struct{}

const (
	maxTOMLFile  = 1 << 20
	maxTOMLParts = 1000 // of a line, in which the parser takes time quadratic
)

func (tomlFormat) parse(text string) (tree, error) {
	if len(text) > maxTOMLFile {
		return nil, &syntaxError{1, "it is larger than is read"}
	}
	for _, mark := range []string{"\ufeff", "\xff\xfe", "\xfe\xff"} { // which the parser would step over
		if strings.HasPrefix(text, mark) {
			return nil, &syntaxError{1, "it begins with a byte order mark that is not of UTF-8, or with two"}
		}
	}
	n := 0
	for line := range strings.Lines(text) {
		if n++; strings.Count(line, ".")+strings.Count(line, "{")+strings.Count(line, "[") > maxTOMLParts {
			return nil, &syntaxError{n, "the line has more parts than are read"}
		}
	}
	var v map[string]any
	if _, err := toml.Decode(text, &v); err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			line := p.Position.Line
			if strings.HasSuffix(p.Message, `got '\n' instead`) {
				line-- // it has read the end of the line
			}
			return nil, &syntaxError{max(line, 1), visible.Escape(p.Message)}
		}
		return nil, &syntaxError{1, visible.Escape(err.Error())}
	}
	out, _ := plain(v).(tree)
	if out == nil {
		out = tree{}
	}
	return out, nil
}

// plain is a value of the TOML parser as a tree has it.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := tree{}
		for name, item := range v {
			out[name] = plain(item)
		}
		return out
	case []map[string]any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	case int64:
		return number(strconv.FormatInt(v, 10))
	case float64:
		return number(strconv.FormatFloat(v, 'g', -1, 64))
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return v
}

func findTOML(text string, path []string) (statement, bool) {
	for _, s := range scanTOML(text) {
		if !s.header && !s.many && slices.Equal(s.path, path) {
			return s, true
		}
	}
	return statement{}, false
}

func (tomlFormat) raw(text string, path []string) (string, bool) {
	s, ok := findTOML(text, path)
	if !ok {
		return "", false
	}
	return text[s.value:s.end], true
}

func (tomlFormat) setRaw(text string, path []string, raw string) (string, error) {
	s, ok := findTOML(text, path)
	if !ok {
		return "", errGone
	}
	return text[:s.value] + raw + text[s.end:], nil
}

// set puts a value at a path: in the place of the one there, in the table if the
// file has it, or in a new table at the end.
func (f tomlFormat) set(text string, path []string, v any) (string, error) {
	if object, ok := v.(Object); ok && len(object) > 0 {
		var err error
		for _, m := range object {
			if text, err = f.set(text, append(slices.Clone(path), m.Name), m.Value); err != nil {
				return "", err
			}
		}
		return text, nil
	}
	if out, err := f.setRaw(text, path, tomlLines(v, newlineOf(text))); err == nil {
		return out, nil
	}
	table, key := path[:len(path)-1], path[len(path)-1]
	nl := newlineOf(text)
	line := tomlKey(key) + " = " + tomlLines(v, nl)
	last, dotted, found := endOfTable(text, table)
	switch {
	case found:
		return text[:last] + before(text, last, nl) + line + behind(text, last, nl) + text[last:], nil
	case dotted >= 0: // features.x = 1 says that the table is written so
		var keys []string
		for _, name := range path {
			keys = append(keys, tomlKey(name))
		}
		return text[:dotted] + nl + strings.Join(keys, ".") + " = " + tomlText(v) + text[dotted:], nil
	}
	var names []string
	for _, name := range table {
		names = append(names, tomlKey(name))
	}
	lead := ""
	if text != "" {
		lead = nl
		if !strings.HasSuffix(text, "\n") {
			lead += nl
		}
	}
	return text + lead + "[" + strings.Join(names, ".") + "]" + nl + line + nl, nil
}

// tomlLines is a value, a long array with an item to a line.
func tomlLines(v any, nl string) string {
	out := tomlText(v)
	items, _ := v.([]string)
	if len(out) < longLine || len(items) == 0 {
		return out
	}
	out = "["
	for _, item := range items {
		out += nl + "  " + quote(item) + ","
	}
	return out + nl + "]"
}

// endOfTable is where one more statement of a table goes, if the table is there
// under a header of its own; dotted is where one goes whose table is written by
// dotted keys at the top, -1 without one.
func endOfTable(text string, table []string) (last, dotted int, found bool) {
	dotted = -1
	var current []string
	many := false
	for _, s := range scanTOML(text) {
		end := s.end + restOfLine(text[s.end:])
		switch {
		case s.header:
			current, many = s.path, s.many
			if slices.Equal(current, table) && !many {
				last, found = end, true
			}
		case slices.Equal(current, table) && !many:
			last, found = end, true
		case len(current) == 0 && len(s.path) > len(table) && slices.Equal(s.path[:len(table)], table):
			dotted = end
		}
	}
	if len(table) == 0 && !found { // before the first table
		return 0, -1, true
	}
	return last, dotted, found
}

// restOfLine is the length of what is on a line behind a statement.
func restOfLine(text string) int { return lineEnd(text) }

// before and behind are the ends of lines that a new statement needs: it goes
// behind another, or to the start of the file.
func before(text string, at int, nl string) string {
	if at == 0 {
		return ""
	}
	return nl
}

func behind(text string, at int, nl string) string {
	if at == 0 {
		return nl
	}
	return ""
}

// add puts items at the end of the array at a path.
func (f tomlFormat) add(text string, path []string, more []string) (string, error) {
	s, ok := findTOML(text, path)
	if !ok {
		return f.set(text, path, more)
	}
	var parts []string
	for _, item := range more {
		parts = append(parts, quote(item))
	}
	value := text[s.value:s.end]
	last, end := lastToken(value)
	if !strings.HasPrefix(value, "[") || last == 0 {
		return "", errUneasy
	}
	joint := ","
	if last == '[' || last == ',' {
		joint = ""
	}
	if short := joint + " " + strings.Join(parts, ", "); last != '[' && !strings.Contains(value, "\n") && len(value)+len(short) < longLine {
		return text[:s.value] + value[:end] + short + value[end:] + text[s.end:], nil
	}
	nl := newlineOf(text)
	for _, part := range parts {
		joint += nl + "  " + part + ","
	}
	if value[end:] == "]" {
		joint += nl
	}
	return text[:s.value] + value[:end] + joint + value[end:] + text[s.end:], nil
}

// longLine is what an array is broken into lines at.
const longLine = 100

// lastToken is the last character of an array but for its closing bracket, space
// and comments, and where it ends; 0 if it is none.
func lastToken(value string) (last byte, end int) {
	var before byte
	beforeEnd := 0
	for at := 0; at < len(value); {
		next := at + 1
		switch c := value[at]; c {
		case ' ', '\t', '\r', '\n':
			at = next
			continue
		case '#':
			at += lineEnd(value[at:])
			continue
		case '"', '\'':
			next = tomlStringEnd(value, at)
		}
		before, beforeEnd = last, end
		last, end, at = value[at], next, next
	}
	if last != ']' {
		return 0, 0
	}
	return before, beforeEnd
}

var errUneasy = errors.New("what is there is written in another way")

// inline says that a table above a value is an inline one, to which TOML lets no
// statement add.
func inline(f format, text string, path []string) error {
	if _, ok := f.(tomlFormat); !ok {
		return nil
	}
	for n := 1; n < len(path); n++ {
		if s, ok := findTOML(text, path[:n]); ok && strings.HasPrefix(text[s.value:], "{") {
			return &inlineError{path[:n]}
		}
	}
	return nil
}

// inlineError names a table that is written in braces.
type inlineError struct{ table []string }

func (e *inlineError) Error() string {
	return byHandName(e.table) + " is a table in braces, which takes no more keys"
}

// drop takes items away from the array at a path.
func (f tomlFormat) drop(text string, path []string, less []string) (string, error) {
	s, ok := findTOML(text, path)
	if !ok {
		return "", errGone
	}
	value := text[s.value:s.end]
	for _, item := range less {
		q := quote(item)
		i := strings.Index(value, q)
		if i < 0 {
			continue
		}
		head, tail := value[:i], value[i+len(q):]
		if rest := strings.TrimLeft(tail, " \t"); strings.HasPrefix(rest, ",") {
			tail = strings.TrimLeft(rest[1:], " \t")
		} else if h := strings.TrimRight(head, " \t\r\n"); strings.HasSuffix(h, ",") {
			head = strings.TrimSuffix(h, ",")
		}
		value = head + tail
	}
	return text[:s.value] + value + text[s.end:], nil
}

// remove takes a statement away with its line, or all statements of a table.
func (f tomlFormat) remove(text string, path []string) (string, error) {
	var cuts []statement
	for _, s := range scanTOML(text) {
		if !s.many && len(s.path) >= len(path) && slices.Equal(s.path[:len(path)], path) {
			cuts = append(cuts, s)
		}
	}
	if len(cuts) == 0 {
		return "", errGone
	}
	slices.Reverse(cuts)
	for _, s := range cuts {
		start := strings.LastIndexByte(text[:s.start], '\n') + 1
		end := s.end + lineEnd(text[s.end:])
		if strings.HasPrefix(text[end:], "\r\n") {
			end += 2
		} else if end < len(text) {
			end++
		}
		if s.header { // and the empty line before it
			if head := text[:start]; strings.HasSuffix(head, "\r\n\r\n") {
				start -= 2
			} else if strings.HasSuffix(head, "\n\n") {
				start--
			}
		}
		text = text[:start] + text[end:]
	}
	return text, nil
}

// byHand is what a person would add.
func byHand(f format, path []string, v any) string {
	if _, ok := f.(tomlFormat); ok {
		var keys []string
		for _, name := range path {
			keys = append(keys, tomlKey(name))
		}
		return strings.Join(keys, ".") + " = " + tomlText(v)
	}
	return fmt.Sprintf("%s = %s", strings.Join(path, "."), jsonText(v, "", "", ""))
}
