package connect

import (
	"slices"
	"strings"
)

// statement is one key and its value in a TOML file, or the header of a table.
type statement struct {
	path       []string // of the table, and of the key in it
	header     bool
	many       bool // in or of an array of tables, which no edit reaches
	start, end int  // of its text, without the comment and the end of the line
	value      int  // where the value begins
}

// scanTOML finds the statements of a text that is valid TOML.
func scanTOML(text string) []statement {
	var out []statement
	var table []string
	many := false
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '#':
			at += lineEnd(text[at:])
		case c == '[':
			s := statement{start: at, header: true, many: strings.HasPrefix(text[at:], "[[")}
			s.path, at = tomlPath(text, at+1+btoi(s.many))
			s.end = min(at+1+btoi(s.many), len(text))
			at = s.end
			many = s.many || many && slices.Equal(s.path[:min(len(table), len(s.path))], table)
			s.many, table = many, s.path
			out = append(out, s)
		default:
			s := statement{start: at, many: many}
			key, end := tomlPath(text, at)
			s.path = append(slices.Clone(table), key...)
			s.value = end + 1
			for s.value < len(text) && (text[s.value] == ' ' || text[s.value] == '\t') {
				s.value++
			}
			at = tomlValueEnd(text, s.value)
			s.end = at
			out = append(out, s)
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tomlPath reads a dotted key up to what ends it: an equals sign or bracket.
func tomlPath(text string, at int) ([]string, int) {
	var out []string
	for at < len(text) {
		switch c := text[at]; c {
		case ' ', '\t', '.':
			at++
		case '=', ']', '\n':
			return out, at
		case '"', '\'':
			end := tomlStringEnd(text, at)
			name := text[at+1 : max(end-1, at+1)]
			if c == '"' {
				if decoded, err := (&jsonReader{text: text[at:end]}).quoted(); err == nil {
					name = decoded
				}
			}
			out, at = append(out, name), end
		default:
			end := at
			for end < len(text) && !strings.ContainsRune(" \t.=]\n", rune(text[end])) {
				end++
			}
			out, at = append(out, text[at:end]), end
		}
	}
	return out, at
}

// tomlStringEnd is where the text that begins at a quotation mark ends.
func tomlStringEnd(text string, at int) int {
	mark := text[at : at+1]
	if long := strings.Repeat(mark, 3); strings.HasPrefix(text[at:], long) {
		for i := at + 3; i < len(text); i++ {
			if mark == `"` && text[i] == '\\' {
				i++
			} else if strings.HasPrefix(text[i:], long) {
				for i += 3; strings.HasPrefix(text[i:], mark); i++ { // up to two more belong to it
				}
				return i
			}
		}
		return len(text)
	}
	for i := at + 1; i < len(text); i++ {
		if mark == `"` && text[i] == '\\' {
			i++
		} else if text[i:i+1] == mark {
			return i + 1
		}
	}
	return len(text)
}

// tomlValueEnd is where a value ends.
func tomlValueEnd(text string, at int) int {
	depth, end := 0, at
	for at < len(text) {
		switch c := text[at]; c {
		case '"', '\'':
			at = tomlStringEnd(text, at)
			end = at
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			if depth == 0 {
				return end
			}
			at += lineEnd(text[at:])
			continue
		case '\n':
			if depth <= 0 {
				return end
			}
		}
		if at++; !strings.ContainsRune(" \t\r\n", rune(text[at-1])) {
			end = at
		}
	}
	return end
}
