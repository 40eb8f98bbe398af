package skillmd

import "strings"

// code tells, line by line, which Markdown is code and therefore shown as it
// stands. Renderers disagree in the corners, and a wrong "code" would excuse
// something hidden, so it only says so where every reading of the text agrees:
// in a fence at the left margin, and between two single backticks on one line of
// a paragraph whose backticks have all been paired. The zero value is at the
// start of a text.
type code struct {
	fence    string // the run that opened the code we are in, at the margin
	loose    string // the run that opened indented code, perhaps of a list item
	indent   int    // of the loose fence
	html     bool   // in an HTML block, which a blank line ends
	lost     bool   // readings of the text differ from here on
	dangling bool   // the paragraph has a backtick that may be open
}

// blank takes in a blank line.
func (c *code) blank() { c.html, c.dangling = false, false }

// line takes in a line that is not blank and returns the info string if it opens
// a fence.
func (c *code) line(text string) (info string) {
	text = strings.TrimSuffix(text, "\r")
	c.lost = c.lost || strings.IndexByte(text, '\r') >= 0 // some end lines there
	if c.fence != "" {
		c.inFence(text)
		return ""
	}
	body := strings.TrimLeft(text, " \t>-*+0123456789.)")
	prefix := text[:len(text)-len(body)]
	run, info := fenceRun(body)
	switch {
	case c.loose != "":
		c.inLoose(text, run, info, prefix)
	case run == "":
		c.html = c.html || strings.HasPrefix(body, "<") && !strings.HasPrefix(body, "<!--")
		c.lost = c.lost || rawHTML(body)
	case c.html || strings.Contains(prefix, ">"):
		c.lost = true
	case prefix != "":
		c.loose, c.indent = run, len(prefix)
	default:
		c.fence = run
	}
	return info
}

func (c *code) inFence(text string) {
	body := strings.TrimLeft(text, " ")
	run, info := fenceRun(body)
	if info == "" && len(text)-len(body) <= 3 && strings.HasPrefix(run, c.fence) {
		c.fence = ""
	}
}

// inLoose follows indented code, whose end depends on whether it is part of a
// list item.
func (c *code) inLoose(text, run, info, prefix string) {
	switch {
	case len(text)-len(strings.TrimLeft(text, " ")) < c.indent:
		c.lost = true
	case run == "":
	case info == "" && strings.HasPrefix(run, c.loose) && len(prefix) == c.indent:
		c.loose = ""
	default:
		c.lost = true
	}
}

// fenceRun splits a line that may be a fence into its run of backticks or tildes,
// empty if it is none, and what follows.
func fenceRun(s string) (run, info string) {
	s = strings.TrimRight(s, " \t")
	info = strings.TrimLeft(s, "`")
	if len(info) == len(s) {
		info = strings.TrimLeft(s, "~")
	}
	run = s[:len(s)-len(info)]
	if len(run) < 3 || run[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return run, strings.TrimSpace(info)
}

// rawHTML reports whether a line begins an HTML block that no blank line ends.
func rawHTML(body string) bool {
	if !strings.HasPrefix(body, "<") {
		return false
	}
	body = strings.ToLower(body[1:min(len(body), 10)])
	for _, name := range []string{"pre", "script", "style", "textarea", "?", "![", "!d"} {
		if strings.HasPrefix(body, name) {
			return true
		}
	}
	return false
}

// fenced reports whether the current line is code as a whole.
func (c *code) fenced() bool { return c.fence != "" && !c.lost }

// span returns the end of the code span that the backtick at text[i] opens, i if
// it opens none that is certain.
func (c *code) span(text string, i int) int {
	if c.dangling || c.lost || c.html || i > 0 && (text[i-1] == '\\' || text[i-1] == '`') {
		c.dangling = true
		return i
	}
	n := strings.IndexByte(text[i+1:], '`')
	if n <= 0 || strings.HasPrefix(text[i+1+n:], "``") {
		c.dangling = true
		return i
	}
	return i + 1 + n
}
