package connect

import (
	"errors"
	"slices"
	"strings"
)

// jsonFormat edits JSON, and keeps what it does not change to the byte. Agents
// differ in what else they read; one that cannot read a file may ignore it.
type jsonFormat struct {
	comments bool
	commas   bool // behind the last value of an object or array
}

// What agents were seen to read.
var (
	plainJSON  = jsonFormat{}
	commented  = jsonFormat{comments: true}
	everything = jsonFormat{comments: true, commas: true}
)

func (f jsonFormat) parse(text string) (tree, error) {
	if strings.TrimSpace(text) == "" {
		return tree{}, nil
	}
	n, err := parseJSON(text, f)
	if err != nil {
		return nil, err
	}
	t, ok := n.tree().(tree)
	if !ok {
		return nil, &syntaxError{1, "it is no object"}
	}
	return t, nil
}

// raw is the text of the value at a path.
func (jsonFormat) raw(text string, path []string) (string, bool) {
	n, err := parseJSON(text, everything)
	if err != nil {
		return "", false
	}
	found, depth := n.find(path)
	return text[found.start:found.end], depth == len(path)
}

// setRaw puts a text in the place of the value at a path, which is there.
func (jsonFormat) setRaw(text string, path []string, raw string) (string, error) {
	n, err := parseJSON(text, everything)
	if err != nil {
		return "", err
	}
	found, depth := n.find(path)
	if depth < len(path) {
		return "", errGone
	}
	return text[:found.start] + raw + text[found.end:], nil
}

// misplaced says that a value is there, and other members of its object behind it.
func (jsonFormat) misplaced(text string, path []string) bool {
	n, err := parseJSON(text, everything)
	if err != nil {
		return false
	}
	object, depth := n.find(path[:len(path)-1])
	i := slices.IndexFunc(object.members, func(m member) bool { return m.name == path[len(path)-1] })
	return depth == len(path)-1 && i >= 0 && i < len(object.members)-1
}

var errGone = errors.New("it is not there any more")

// set puts a value at a path, making the objects above it.
func (f jsonFormat) set(text string, path []string, v any) (string, error) {
	newline := newlineOf(text)
	if strings.TrimSpace(text) == "" {
		return jsonText(nested(path, v), "  ", "  ", newline) + newline, nil
	}
	n, err := parseJSON(text, everything)
	if err != nil {
		return "", err
	}
	found, depth := n.find(path)
	if depth == len(path) || found.kind != '{' { // what is no object gives way to one
		lead, step, nl := style(text, found, newline)
		return text[:found.start] + jsonText(nested(path[depth:], v), lead+step, step, nl) + text[found.end:], nil
	}
	lead, step, nl := inside(text, found, newline)
	part := quote(path[depth]) + ": " + jsonText(nested(path[depth+1:], v), lead+step, step, nl)
	return insert(text, found, part, lead, step, nl), nil
}

// add puts items at the end of the array at a path.
func (f jsonFormat) add(text string, path []string, more []string) (string, error) {
	n, err := parseJSON(text, everything)
	for _, item := range more {
		if err != nil {
			return "", err
		}
		found, _ := n.find(path)
		lead, step, nl := inside(text, found, newlineOf(text))
		if len(found.items) == 0 {
			return f.set(text, path, more)
		}
		text = insert(text, found, quote(item), lead, step, nl)
		n, err = parseJSON(text, everything)
	}
	return text, err
}

func nested(path []string, v any) any {
	for i := len(path) - 1; i >= 0; i-- {
		v = Object{{path[i], v}}
	}
	return v
}

func newlineOf(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// leading is the white space that begins the line of a place.
func leading(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// style is how a value in the place of another is written.
func style(text string, n *node, newline string) (lead, step, nl string) {
	lead = leading(text, n.start)
	return lead, stepOf(text), newline
}

// inside is how the parts of an object or array are written: what begins their
// lines, one step of it, and the end of a line; none where all stands on one line.
func inside(text string, n *node, newline string) (lead, step, nl string) {
	step = stepOf(text)
	lead = leading(text, n.start) + step
	first := -1
	if len(n.members) > 0 {
		first = n.members[0].start
	} else if len(n.items) > 0 {
		first = n.items[0].start
	}
	if first < 0 {
		return lead, step, newline
	}
	if !strings.Contains(text[n.start:first], "\n") && !strings.Contains(text[n.start:n.end], "\n") {
		return lead, step, ""
	}
	if strings.Contains(text[n.start:first], "\n") {
		lead = leading(text, first)
	}
	return lead, step, newline
}

// stepOf is the indentation of the first line that has one.
func stepOf(text string) string {
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); len(rest) < len(line) && strings.HasPrefix(rest, `"`) {
			return line[:len(line)-len(rest)]
		}
	}
	return "  "
}

// insert puts a part behind the last one of an object or array. A comment on the
// last one's line stays with it.
func insert(text string, n *node, part, lead, step, nl string) string {
	last := 0
	if len(n.members) > 0 {
		last = n.members[len(n.members)-1].value.end
	} else if len(n.items) > 0 {
		last = n.items[len(n.items)-1].end
	}
	switch {
	case last == 0: // empty
		return text[:n.start+1] + nl + lead + part + emptyEnd(text, n, nl, strings.TrimSuffix(lead, step)) + text[n.start+1:]
	case nl == "" && n.comma > 0:
		return text[:n.comma] + " " + part + text[n.comma:]
	case nl == "":
		return text[:last] + ", " + part + text[last:]
	case n.comma > 0:
		end := n.comma + commentEnd(text[n.comma:])
		return text[:end] + nl + lead + part + "," + text[end:]
	}
	end := last + commentEnd(text[last:])
	return text[:last] + "," + text[last:end] + nl + lead + part + text[end:]
}

// emptyEnd is what stands between a first part and what was in the brackets.
func emptyEnd(text string, n *node, nl, lead string) string {
	if strings.TrimSpace(text[n.start+1:n.end-1]) == "" && !strings.Contains(text[n.start:n.end], "\n") {
		return nl + lead
	}
	return ""
}

// commentEnd is the length of a comment on the rest of the line, if there is
// nothing else.
func commentEnd(text string) int {
	line := text[:lineEnd(text)]
	rest := strings.TrimSpace(line)
	whole := strings.HasPrefix(rest, "/*") && strings.Index(rest, "*/") == len(rest)-2 && len(rest) >= 4
	if strings.HasPrefix(rest, "//") || whole {
		return len(line)
	}
	return 0
}

// remove takes the member at a path away, with its line where it has one of its own.
func (jsonFormat) remove(text string, path []string) (string, error) {
	n, err := parseJSON(text, everything)
	if err != nil {
		return "", err
	}
	found, depth := n.find(path[:len(path)-1])
	if depth < len(path)-1 {
		return "", errGone
	}
	for i, m := range found.members {
		if m.name == path[len(path)-1] {
			before, after := 0, 0
			if i > 0 {
				before = found.members[i-1].value.end
			}
			if i+1 < len(found.members) {
				after = found.members[i+1].start
			}
			return cut(text, found, m.start, m.value.end, before, after), nil
		}
	}
	return "", errGone
}

// drop takes items away from the array at a path.
func (jsonFormat) drop(text string, path []string, less []string) (string, error) {
	for _, item := range less {
		n, err := parseJSON(text, everything)
		if err != nil {
			return "", err
		}
		found, depth := n.find(path)
		if depth < len(path) {
			return "", errGone
		}
		for i, it := range found.items {
			if it.value != item {
				continue
			}
			before, after := 0, 0
			if i > 0 {
				before = found.items[i-1].end
			}
			if i+1 < len(found.items) {
				after = found.items[i+1].start
			}
			text = cut(text, found, it.start, it.end, before, after)
			break
		}
	}
	return text, nil
}

// cut takes a part away, from start to end, and one comma; before and after are
// where its neighbours end and begin, 0 without one.
func cut(text string, n *node, start, end, before, after int) string {
	switch {
	case after > 0: // with the comma and space behind it, comments included that stand on its own line
		comma := end + commaIn(text[end:after])
		rest := comma + commentEnd(text[comma:])
		return text[:start] + strings.TrimLeft(text[rest:], " \t\r\n")
	case before > 0 && n.comma == 0: // with the comma before it
		comma := before + commaIn(text[before:start])
		return text[:comma-1] + trimLast(text[comma:start]) + text[end+commentEnd(text[end:]):]
	case n.comma > 0:
		end = n.comma
	}
	end += commentEnd(text[end:])
	head := strings.TrimRight(text[:start], " \t\r\n")
	if rest := strings.TrimLeft(text[end:], " \t\r\n"); before == 0 && head == text[:n.start+1] && strings.IndexAny(rest, "]}") == 0 {
		return head + rest
	}
	return head + text[end:]
}

// commaIn is where the comma in the space between two parts ends.
func commaIn(text string) int {
	r := &jsonReader{text: text, jsonFormat: everything}
	r.space()
	return min(r.at+1, len(text))
}

// trimLast keeps a comment between two parts and nothing of the white space.
func trimLast(text string) string { return strings.TrimRight(text, " \t\r\n") }
