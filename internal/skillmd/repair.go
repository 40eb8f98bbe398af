package skillmd

import "strings"

// repair rewrites frontmatter that is not YAML: it quotes the values at the left
// margin that are plain text with a ": " inside or with a character that no
// plain text begins with, and replaces tabs that indent. It keeps the lines, and
// says what it did; nothing to repair is no finding.
func repair(front string) (string, []Finding) {
	var out strings.Builder
	var findings []Finding
	lines := strings.SplitAfter(front, "\n")
	if i, ok := untab(lines); ok {
		findings = append(findings, Finding{Deviation, TabIndent, FileName, i + 1, 1, "YAML does not allow a tab to indent; it was read as two spaces"})
	}
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && continues(lines[i+n]) {
			n++
		}
		key, value := cutField(strings.Join(lines[i:i+n], ""))
		if key != "" && faulty(value) {
			value = quoted(value)
			findings = append(findings, Finding{Deviation, UnquotedValue, FileName, i + 1, len(key) + 1,
				"the value of " + quote(strings.TrimSuffix(key, ": ")) + " is not valid YAML; it was read as if it were quoted"})
		}
		out.WriteString(key + value)
		i += n
	}
	return out.String(), findings
}

// continues reports whether a line belongs to the field above it.
func continues(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.TrimSpace(line) == "" && line != ""
}

// untab replaces the tabs that indent lines by two spaces each and returns the
// index of the first such line.
func untab(lines []string) (first int, found bool) {
	for i, line := range lines {
		body := strings.TrimLeft(line, " \t")
		indent := line[:len(line)-len(body)]
		if !strings.Contains(indent, "\t") || strings.TrimSpace(body) == "" {
			continue
		}
		lines[i] = strings.ReplaceAll(indent, "\t", "  ") + body
		if !found {
			first, found = i, true
		}
	}
	return first, found
}

// cutField splits "name: value" behind the colon and the blanks, leaving key
// empty if the text is no field at the left margin.
func cutField(field string) (key, value string) {
	i := 0
	for i < len(field) && (letter(field[i]) || field[i] == '-' || field[i] == '_' || field[i] >= '0' && field[i] <= '9') {
		i++
	}
	rest := strings.TrimLeft(field[i:], " ")
	if i == 0 || !strings.HasPrefix(rest, ":") {
		return "", field
	}
	value = strings.TrimLeft(rest[1:], " \t")
	if len(value) == len(rest)-1 {
		return "", field // "http://..." is no field
	}
	return field[:i] + ": ", value
}

// faulty reports whether a value is plain text that YAML does not take as such.
func faulty(value string) bool {
	value = strings.TrimRight(value, " \t\r\n")
	if value == "" || strings.IndexByte("\"'[{|>&*!#\r\n", value[0]) >= 0 {
		return false
	}
	return strings.IndexByte("@`%", value[0]) >= 0 || strings.HasSuffix(value, ":") ||
		strings.Contains(value, ": ") || strings.Contains(value, ":\t") || strings.Contains(value, ":\n")
}

// quoted puts single quotes around a value, leaving what blanks follow it.
func quoted(value string) string {
	text := strings.TrimRight(value, " \t\r\n")
	return "'" + strings.ReplaceAll(text, "'", "''") + "'" + value[len(text):]
}
