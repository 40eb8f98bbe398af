package skillmd

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// tools takes in the field allowed-tools: text of entries between blanks, as the
// specification has it, or between commas, or a list.
func (p *parser) tools(key, value *yaml.Node) {
	switch {
	case value.Kind == yaml.SequenceNode:
		p.find(Note, ToolsList, value.Line, value.Column, "allowed-tools is a list; some clients read only text")
		for _, item := range value.Content {
			p.entries(key, follow(item))
		}
	case value.Kind == yaml.ScalarNode:
		p.entries(key, value)
	default:
		p.text(key, value)
	}
	if n := len(p.doc.AllowedTools); n > MaxTools {
		p.doc.AllowedTools = p.doc.AllowedTools[:MaxTools]
		p.find(Deviation, ToolsTooMany, value.Line, value.Column, "allowed-tools has %d entries; those after the first %d are left out", n, MaxTools)
	}
}

// entries takes in the entries of one text.
func (p *parser) entries(key, value *yaml.Node) {
	p.text(key, value) // for its findings
	if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
		return
	}
	tools, commas, balanced := splitTools(value.Value)
	if commas {
		p.find(Deviation, ToolsCommas, value.Line, value.Column, "commas separate the entries of allowed-tools, not blanks")
	}
	if !balanced {
		p.find(Deviation, ToolsUnbalanced, value.Line, value.Column, "a parenthesis in allowed-tools has no partner")
	}
	for _, t := range tools {
		if value.Style&yaml.LiteralStyle == 0 {
			t.Line = 0
		} else {
			t.Line++ // the text of a block begins below its indicator
		}
		p.doc.AllowedTools = append(p.doc.AllowedTools, Tool{t.Text, value.Line + t.Line})
	}
}

// splitTools splits the text of allowed-tools into its entries, the Line of each
// counted from 0 within s. Blanks and commas separate entries, though not in
// parentheses: "Bash(git add *), Read" has two. commas reports whether there was
// a comma between entries, balanced whether the parentheses match; an open one
// reaches to the end.
func splitTools(s string) (tools []Tool, commas, balanced bool) {
	depth, line, start, first := 0, 0, 0, 0
	balanced = true
	flush := func(end int) {
		if start < end {
			tools = append(tools, Tool{strings.TrimSpace(s[start:end]), first})
		}
		start = end + 1
	}
	for i := range len(s) {
		if start == i {
			first = line
		}
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			balanced = false
		case c == ')':
			depth--
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			commas = commas || c == ','
			flush(i)
		}
		if s[i] == '\n' {
			line++
		}
	}
	flush(len(s))
	return tools, commas, balanced && depth == 0
}
