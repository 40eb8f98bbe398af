package approval

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/visible"
)

// Bounds of a rendering.
const (
	width         = 96        // columns, one a character
	maxTarget     = 16 << 10  // characters of the target
	maxValue      = 200       // characters of another name or text
	maxShown      = 200 << 10 // bytes of contents
	maxArguments  = 80 << 10  // bytes of arguments, and what contents left
	maxReasoning  = 4000      // characters of the agent's words
	maxWords      = 80 << 10  // bytes of these, escaped and with prefixes
	maxDoubts     = 20        // objects in doubt
	maxListed     = 200       // changes in a list
	valueColumn   = 13        // where the values of fields begin
	payloadPrefix = "  | "    // of a line that somebody else wrote
	restPrefix    = "  : "    // of the rest of one that was too long
)

// page is a rendering as it is written. Lines of ours begin with two spaces and
// a word or "!!", or with no space; every line that somebody else wrote begins
// with one of the prefixes, which no line of ours does.
type page struct {
	b    strings.Builder
	room int // bytes left for payload
	lost int // payload lines that found none
}

// own writes a line of ours. What is not ours in it has gone through show.
func (p *page) own(format string, args ...any) {
	fmt.Fprintf(&p.b, "  "+format+"\n", args...)
}

// loud writes a line of ours that must not be overlooked.
func (p *page) loud(format string, args ...any) {
	p.field("!!", fmt.Sprintf(format, args...))
}

// field writes a name and its value. What is too long for a line goes on behind
// the prefix of the rest.
func (p *page) field(name, value string) {
	name = "  " + name
	for _, part := range wrap(value, width-valueColumn) {
		gap := strings.Repeat(" ", max(0, valueColumn-utf8.RuneCountInString(name)))
		p.b.WriteString(strings.TrimRight(name+gap+part, " ") + "\n")
		name = restPrefix
	}
}

// payload writes one line that somebody else wrote, behind a mark of ours.
func (p *page) payload(mark, text string) { p.row(mark, line(text)) }

// row is payload for a line that is escaped already.
func (p *page) row(mark, text string) {
	prefix := payloadPrefix + mark
	for _, part := range wrap(text, width-len(prefix)) {
		row := prefix + part + "\n"
		if part == "" {
			row = strings.TrimRight(prefix, " ") + "\n"
		}
		if p.lost > 0 || len(row) > p.room {
			p.lost++
			return
		}
		p.b.WriteString(row)
		p.room -= len(row)
		prefix = restPrefix + strings.Repeat(" ", len(mark))
	}
}

// full ends a part in which not all payload may have found room.
func (p *page) full(what string) {
	if p.lost > 0 {
		p.loud("NOT ALL IS SHOWN of the %s: there was no room for %s", what, count(p.lost, "line"))
	}
	p.lost = 0
}

// block writes lines that somebody else wrote.
func (p *page) block(mark, text string) {
	for _, l := range lines(text) {
		p.payload(mark, strings.TrimSuffix(l, "\n"))
	}
}

// show is somebody else's text within a line of ours: escaped, bounded, and in
// quotes if it has spaces, so that it cannot look like our words.
func show(s string) string { return quoted(s, maxValue) }

func quoted(s string, most int) string {
	out := visible.Truncate(visible.Escape(s), most)
	if out != "" && !strings.ContainsAny(out, " \"\u3000\u2800") {
		return out
	}
	return `"` + strings.ReplaceAll(out, `"`, `\u{22}`) + `"`
}

// line is one line of somebody else's text. Tabs are arrows, and a space at the
// end is written out.
func line(s string) string {
	parts := strings.Split(s, "\t")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(visible.Escape(part), "⇥", `\u{21e5}`)
	}
	out := strings.Join(parts, "⇥")
	if head, ok := strings.CutSuffix(out, " "); ok {
		out = head + `\u{20}`
	}
	return out
}

// lines are the lines of a text, each with its newline; the last may have none.
func lines(s string) []string {
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// wrap cuts a line into parts of so many characters, at least one part.
func wrap(s string, columns int) []string {
	var out []string
	for utf8.RuneCountInString(s) > columns {
		cut := 0
		for range columns {
			_, n := utf8.DecodeRuneInString(s[cut:])
			cut += n
		}
		out, s = append(out, s[:cut]), s[cut:]
	}
	if s != "" || len(out) == 0 {
		out = append(out, s)
	}
	return out
}

// thousands is a number with its digits in groups.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return thousands(n) + " " + thing + "s"
}
