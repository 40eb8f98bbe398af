package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/text/width"

	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// How the screen is divided: a line on top, the question, how much of it is
// below, what happened or is asked, and the keys.
const (
	linesAround = 5
	restOfLine  = "  : " // begins the rest of a line that was too long, as in a rendering
)

const (
	reversed = "\x1b[7m"
	bold     = "\x1b[1m"
	plain    = "\x1b[m"
)

// room is how many lines of a question fit.
func (s *screen) room() int { return max(1, s.height-linesAround) }

// View is part of tea.Model.
func (s *screen) View() tea.View {
	v := tea.NewView(s.picture())
	v.AltScreen = true
	if s.mode == naming || s.mode == unlocking {
		v.Cursor = tea.NewCursor(min(cells(s.prompt())+1, max(0, s.width-1)), max(0, s.height-2))
	}
	return v
}

// picture is the whole screen. Nothing in it that somebody else wrote is
// unescaped: a rendering has no control characters, all else goes through
// package visible.
func (s *screen) picture() string {
	if s.width == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(reversed + s.fill(s.title()) + plain + "\n\n")
	body, more := s.body()
	for i := range s.room() {
		line := ""
		if i < len(body) {
			line = body[i]
		}
		if strings.HasPrefix(line, "  !! ") {
			line = bold + line + plain
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(cut(more, s.width) + "\n")
	told := s.note
	if p := s.prompt(); p != "" {
		told = p
		if s.note != "" && s.mode == unlocking {
			told = s.note + "  " + p
		}
	}
	b.WriteString(tail(" "+told, s.width) + "\n")
	b.WriteString(cut(" "+s.keys(), s.width))
	return b.String()
}

// title is the line on top.
func (s *screen) title() string {
	if s.at == "" {
		return " iff inbox"
	}
	p := s.papers[s.at]
	left := fmt.Sprintf(" %d of %d", s.place+1, len(s.items))
	if p != nil && p.ended != "" {
		return " ENDED: " + p.ended + "; n for what waits"
	}
	if p == nil || p.lines == nil || p.err != nil {
		return left
	}
	left += "   waiting " + waited(p.q.Asked, p.q.Deadline, s.now())
	for _, right := range whose(p.q.Skill, p.q.Novel) {
		if gap := s.width - cells(left) - cells(right) - 1; gap >= 3 {
			return left + strings.Repeat(" ", gap) + right
		}
	}
	return left
}

// whose is the skill in fewer and fewer words; the question has all of them.
func whose(sk record.Skill, novel bool) []string {
	if sk.Name == "" {
		return []string{"outside any skill"}
	}
	short := func(s string) string { return visible.Truncate(visible.Escape(s), 40) }
	signed := fmt.Sprintf("%s (%s, signed by %s)", short(sk.Name), short(sk.Level), short(sk.Signer))
	out := []string{signed, fmt.Sprintf("%s (%s)", short(sk.Name), short(sk.Level)), short(sk.Name)}
	if novel {
		return append([]string{signed + ", never asked before"}, out...)
	}
	return out
}

// body is what fits of the question or list, and what is to be said of the rest.
func (s *screen) body() (lines []string, more string) {
	if s.mode == choosing {
		return s.list(), ""
	}
	if s.at == "" {
		return []string{cut(s.idle(), s.width)}, ""
	}
	p := s.paper()
	if p == nil {
		return []string{"  ..."}, ""
	}
	end := min(len(p.lines), p.top+s.room())
	if left := len(p.lines) - end; left > 0 {
		more = fmt.Sprintf("%s%s: space", strings.Repeat(" ", max(1, s.width-28)), plural(left, "more line"))
	}
	return p.lines[min(p.top, end):end], more
}

func (s *screen) idle() string {
	switch {
	case !s.heard:
		return "  ..."
	case !s.running:
		return "  nothing waits: no runtime is running. What it asks appears here once one is."
	}
	return "  nothing waits. What comes appears here."
}

// list is the group, around the chosen line.
func (s *screen) list() []string {
	group := s.group()
	out := make([]string, 0, len(group))
	for n, i := range group {
		p := s.papers[i.Request]
		mark, why := s.mark(p), ""
		switch mark {
		case unread:
			why = "   not read to its end: enter"
		case alone:
			why = "   by itself only: enter"
		}
		pointer := "  "
		if n == s.chosen {
			pointer = "> "
		}
		head := pointer + mark + " " + visible.Escape(i.Capability) + " "
		target := visible.Escape(i.Target)
		out = append(out, cut(head+tail(target, max(8, s.width-cells(head)-cells(why)-1))+why, s.width))
	}
	from := max(0, min(s.chosen-s.room()/2, len(out)-s.room()))
	return out[from:]
}

// keys is the last line.
func (s *screen) keys() string {
	switch s.mode {
	case choosing:
		return "a approve selected   d deny selected   x select   enter read   l back   q quit"
	case naming, unlocking:
		return "enter go on   esc do not approve"
	case sending:
		return ""
	}
	if s.at == "" {
		return "q quit"
	}
	return "a approve   d deny   n next   p previous   l " + s.listName() + "   q quit"
}

func (s *screen) listName() string {
	if p := s.paper(); p != nil && p.q.Skill.Name != "" {
		return "all of this skill"
	}
	return "all of this session"
}

// layout wraps a question to the width. What does not fit goes on behind the
// prefix that the rendering uses too, so no content begins a line.
func (s *screen) layout(p *paper) []string {
	text := ""
	if p.err != nil {
		text = "  !! THIS QUESTION CANNOT BE SHOWN and so not be approved: " + shown(p.err) + "\n"
	} else {
		text = p.q.Render()
	}
	out := []string{}
	for line := range strings.Lines(text) {
		out = append(out, fold(strings.TrimSuffix(line, "\n"), s.width)...)
	}
	return out
}

// fold cuts a line into parts of so many columns.
func fold(line string, most int) []string {
	most = max(most, len(restOfLine)+2)
	var out []string
	for cells(line) > most {
		head := cut(line, most)
		out, line = append(out, head), restOfLine+line[len(head):]
	}
	return append(out, line)
}

// cells is at least as wide as a text can be on a terminal, so that nothing is
// lost at the edge: more than columns where those who draw do not agree.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return max(1, runeColumns(r))
}

// cut is as much of the beginning as fits.
func cut(s string, most int) string {
	n := 0
	for i, r := range s {
		if n += cellsOf(r); n > most {
			return s[:i]
		}
	}
	return s
}

// tail is as much of the end as fits, where what counts is the end.
func tail(s string, most int) string {
	if cells(s) <= most {
		return s
	}
	n := 2
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n += cellsOf(r); n > most {
			return ".." + s[i:]
		}
		i -= size
	}
	return s
}

// fill is a text of exactly the width.
func (s *screen) fill(text string) string {
	text = cut(text, s.width)
	return text + strings.Repeat(" ", s.width-cells(text))
}

// minutes is a time span as minutes and seconds.
func minutes(d time.Duration) string {
	n := int(max(0, d) / time.Second)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%02d:%02d", n/60, n%60)
}
