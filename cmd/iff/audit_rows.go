package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/iff-run/iff/audit"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// lines prints records, each on one line: as it stands in the log with --json,
// else as a row of a table.
type lines interface {
	add(audit.Stored) error
	// flush has everything so far printed.
	flush() error
}

// lines are for records that come one at a time; all says that none comes
// later than the flush.
func (a *app) lines(all bool) lines {
	out := bufio.NewWriterSize(a.out, 64<<10)
	if a.json {
		return rawLines{out}
	}
	return &rows{out: out, width: a.width(), paint: a.paint, all: all}
}

type rawLines struct{ out *bufio.Writer }

func (l rawLines) add(s audit.Stored) error {
	if _, err := l.out.Write(s.Line); err != nil {
		return err
	}
	return l.out.WriteByte('\n')
}

func (l rawLines) flush() error { return l.out.Flush() }

// width is how many columns the terminal has, 0 if standard output is none.
func (a *app) width() int {
	f, ok := a.out.(*os.File)
	if !a.screen || !ok {
		return 0
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

const (
	// heldRows are looked at to choose the widths of the columns, which then
	// stay, so that any number of rows needs no memory.
	heldRows = 256
	// wide is the least terminal on which times and ids stand whole.
	wide = 130
	// longestSummary bounds what is printed elsewhere than on a terminal.
	longestSummary = 1000
	idEnd          = 8
)

// rows is a table of records.
type rows struct {
	out   *bufio.Writer
	width int
	paint func(colour, s string) string
	all   bool

	held   []row
	widths []int // nil until they are chosen
}

type row struct {
	cells  []string // all but the last have a column of their own
	colour string
}

const (
	timeWide   = "2006-01-02 15:04:05.000"
	timeNarrow = "01-02 15:04:05.000"
)

func (t *rows) add(s audit.Stored) error {
	form := timeWide
	if t.narrow() {
		form = timeNarrow
	}
	r := row{colour: tone(s.Body), cells: []string{
		strconv.FormatInt(s.Seq, 10), s.Time.Format(form), string(s.Body.Kind()), t.id(s.Session), t.id(s.Request), summary(s.Body),
	}}
	if t.widths != nil {
		return t.write(r)
	}
	if t.held = append(t.held, r); len(t.held) == heldRows {
		return t.choose(false)
	}
	return nil
}

func (t *rows) flush() error {
	if t.widths == nil && len(t.held) > 0 {
		if err := t.choose(t.all); err != nil {
			return err
		}
	}
	return t.out.Flush()
}

func (t *rows) narrow() bool { return t.width > 0 && t.width < wide }

// id is an id as far as it fits: its end, which verbs take for the whole.
func (t *rows) id(s string) string {
	if t.narrow() && len(s) > idEnd+1 {
		return "…" + s[len(s)-idEnd:]
	}
	return s
}

var rowHead = []string{"SEQ", "TIME (UTC)", "KIND", "SESSION", "CALL", "WHAT"}

// choose fixes the widths by the rows so far and writes them. A column without
// a value is left out if these are all.
func (t *rows) choose(all bool) error {
	head := row{cells: rowHead}
	t.widths = make([]int, len(rowHead)-1)
	for i := range t.widths {
		filled := false
		for _, r := range t.held {
			t.widths[i] = max(t.widths[i], columns(r.cells[i]))
			filled = filled || r.cells[i] != ""
		}
		if filled || !all {
			t.widths[i] = max(t.widths[i], columns(rowHead[i]))
		}
	}
	if !all { // those to come may be longer
		t.widths[0], t.widths[2] = t.widths[0]+1, max(t.widths[2], len(record.KindReversibleRequest))
	}
	for _, r := range append([]row{head}, t.held...) {
		if err := t.write(r); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

func (t *rows) write(r row) error {
	var b strings.Builder
	last := len(r.cells) - 1
	for i, c := range r.cells[:last] {
		if t.widths[i] > 0 {
			b.WriteString(c)
			b.WriteString(strings.Repeat(" ", max(0, t.widths[i]-columns(c))+2))
		}
	}
	b.WriteString(t.fit(r.cells[last], columns(b.String())))
	text := strings.TrimRight(b.String(), " ")
	if r.colour != "" {
		text = t.paint(r.colour, text)
	}
	if _, err := t.out.WriteString(text + "\n"); err != nil || t.width == 0 {
		return err
	}
	return t.out.Flush() // whole lines, for progress is shown between them
}

// fit cuts a summary to what is left of the terminal's line.
func (t *rows) fit(s string, used int) string {
	if t.width == 0 {
		return visible.Truncate(s, longestSummary)
	}
	return fitted(s, max(t.width-used, 16))
}

// fitted cuts s to so many columns.
func fitted(s string, room int) string {
	if columns(s) <= room {
		return s
	}
	runes, used := 0, 1 // one for the ellipsis
	for _, r := range s {
		if used += runeColumns(r); used > room {
			break
		}
		runes++
	}
	return visible.Truncate(s, runes+1)
}

// columns is how many columns of a terminal a text takes, as far as that can be
// known.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// tone is the colour of a record: red for what did not go as it was asked,
// faint for what the log writes about itself.
func tone(b record.Body) string {
	bad := false
	switch b := b.(type) {
	case record.Checkpoint, record.LateDecision:
		return faint
	case record.Decision:
		bad = b.Choice != record.Approve
	case record.Resolved:
		bad = b.Finding != record.FoundExecuted && b.Finding != record.FoundNotExecuted
	case record.Verdict:
		bad = b.Result != record.Pass
	case record.Session:
		bad = b.Transition == record.SessionAborted
	case record.Tool:
		bad = b.Event == record.ToolChanged
	case record.Hook:
		bad = b.Choice != record.Approve
	case record.Error, record.Refused, record.SkillRefused, record.SkillEvicted, record.Mutation, record.Recovery, record.Revocation:
		bad = true
	}
	if bad {
		return red
	}
	return ""
}
