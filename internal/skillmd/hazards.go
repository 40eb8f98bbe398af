package skillmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/internal/visible"
)

// Hazards reports what a person reading text would miss, in the order of
// position; file is only copied into the findings. It works for a whole file
// and for a single string, a description say, alike; text need not be UTF-8.
// Time is linear in the text.
func Hazards(file, text string) []Finding {
	all, more := scan(file, text)
	return limit(file, all, more)
}

// scan is Hazards without the limit on the total; of each kind it makes at most
// MaxFindings and counts the others.
func scan(file, text string) ([]Finding, tally) {
	s := &sheet{text: text, kept: map[Kind]int{}, more: tally{}}
	s.characters()
	s.words()
	s.lines()
	return s.findings(file), s.more
}

// sheet collects the hazards of one text by byte offset.
type sheet struct {
	text  string
	marks []mark
	kept  map[Kind]int
	more  tally
	line  line // the last line looked at by lineAt
}

type mark struct {
	offset int
	class  Class
	kind   Kind
	detail string
}

// add keeps a finding at a byte offset; detail is only called if there is room
// for another of its kind. Its result must be escaped.
func (s *sheet) add(offset int, class Class, kind Kind, detail func() string) {
	if s.kept[kind] == MaxFindings {
		s.more[counted{class, kind}]++
		return
	}
	s.kept[kind]++
	s.marks = append(s.marks, mark{offset, class, kind, detail()})
}

// findings turns offsets into lines and columns in one sweep.
func (s *sheet) findings(file string) []Finding {
	slices.SortStableFunc(s.marks, func(a, b mark) int { return cmp.Compare(a.offset, b.offset) })
	all := make([]Finding, 0, len(s.marks))
	at, row, column := 0, 1, 1
	for _, m := range s.marks {
		between := s.text[at:m.offset]
		if n := strings.Count(between, "\n"); n > 0 {
			row, column = row+n, 1
			between = between[strings.LastIndexByte(between, '\n')+1:]
		}
		column += utf8.RuneCountInString(between)
		at = m.offset
		all = append(all, Finding{m.class, m.kind, file, row, column, m.detail})
	}
	return all
}

// shown is how much of somebody else's text a detail repeats, in characters.
const shown = 80

// quote shows the beginning of untrusted text in a detail.
func quote(s string) string { return `"` + escape(s) + `"` }

func escape(s string) string {
	return visible.Truncate(visible.Escape(visible.Truncate(s, shown)), shown)
}

// around shows text[from:to] with a little of its line on both sides.
func (s *sheet) around(from, to int) string {
	const margin = 16
	start := from
	for n := 0; n < margin && start > 0 && s.text[start-1] != '\n'; n++ {
		_, size := utf8.DecodeLastRuneInString(s.text[:start])
		start -= size
	}
	rest := s.text[to:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 && i < 4*margin {
		rest = rest[:i]
	}
	return quote(s.text[start:to] + visible.Truncate(rest, margin))
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
