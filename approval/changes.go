package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/visible"
)

const (
	maxDetailed  = 3         // changes that are shown with their contents
	maxDiffBytes = 256 << 10 // of a text that is shown line by line
	maxDiffLines = 5000
	headLines    = 100 // of a larger one
	tailLines    = 50
	headBytes    = 8 << 10
	dumpBytes    = 512 // of what is not text
)

// side is one side of a change: its state and, if they are known and are those
// of the state, its facts and contents.
type side struct {
	state corpus.State
	copy  corpus.Copy
	known bool // copy has the state
	off   bool // there is a copy, of something else
}

func newSide(state corpus.State, copies []corpus.Copy, i int) side {
	s := side{state: state}
	if i >= len(copies) || !state.Known() {
		return s
	}
	c := copies[i]
	whole := c.Cut || c.Facts.Kind != corpus.File && c.Facts.Kind != corpus.Link ||
		sha256.Sum256([]byte(c.Data)) == c.Facts.Content && corpus.XattrDigest(c.Xattrs) == c.Facts.Xattrs
	s.known = whole && c.State() == state
	s.off = !s.known
	if c.Facts.Kind != corpus.File {
		c.Xattrs = nil // those of links and directories do not count
	}
	if s.known {
		s.copy = c
	}
	return s
}

// holds says whether the contents are there to show.
func (s side) holds() bool { return s.known && !s.copy.Cut }

// showsContents says whether the changes show all that the call writes.
func (q Question) showsContents() bool {
	if q.Envelope.Target().Capability().Shape() != capability.PathShape || len(q.Plan) == 0 || len(q.Plan) > maxDetailed {
		return false
	}
	for i, c := range q.Plan {
		if !newSide(c.After, q.After, i).holds() {
			return false
		}
	}
	return true
}

// changes says what becomes of each object.
func (p *page) changes(q Question) {
	if len(q.Plan) > maxDetailed || q.Op == "rename" {
		p.list(q)
		return
	}
	for i, c := range q.Plan {
		before, after := newSide(c.Before, q.Before, i), newSide(c.After, q.After, i)
		p.field(changeWord(c), quoted(string(c.Object), maxTarget/4))
		p.side("before", q.Reach, before)
		p.side("after", q.Reach, after)
		if before.off || after.off {
			p.loud("CONTENTS ARE NOT THOSE OF THE PLAN, so they are not shown")
		}
		p.contents(before, after)
	}
}

func changeWord(c corpus.Change) string {
	switch op := c.Op(); {
	case op != "":
		return string(op)
	case c.Nothing():
		return "unchanged"
	}
	return "change"
}

// side says what an object is on one side of the change.
func (p *page) side(name, reach string, s side) {
	switch {
	case s.state == corpus.Absent:
		p.field(name, "absent")
	case s.state == corpus.Any && name == "before":
		p.field(name, "whatever is there then")
	case s.state == corpus.Any && reach == "exact":
		p.field(name, "that, and what the call adds")
	case s.state == corpus.Any:
		p.field(name, "not known beforehand")
	case !s.known:
		p.field(name, "not known here, with the state")
		p.field("", show(string(s.state)))
	default:
		p.field(name, s.words())
		if f := s.copy.Facts; f.Content != (corpus.Digest{}) {
			p.field("", "sha256 "+hex.EncodeToString(f.Content[:]))
		}
		if n := len(s.copy.Xattrs); n > 0 {
			p.field("", count(n, "extended attribute"))
			p.field("", "sha256 "+hex.EncodeToString(s.copy.Facts.Xattrs[:]))
		}
	}
}

func (s side) words() string {
	f := s.copy.Facts
	out := show(string(f.Kind))
	if f.Kind != corpus.Link {
		out += fmt.Sprintf(" %04o", f.Mode)
	}
	if f.Kind == corpus.File || f.Kind == corpus.Special {
		out += fmt.Sprintf(", owner %d:%d", f.UID, f.GID)
	}
	switch {
	case s.copy.Cut:
		out += ", too large to be kept"
	case f.Kind == corpus.File, f.Kind == corpus.Link:
		out += ", " + count(len(s.copy.Data), "byte")
	}
	if f.Kind == corpus.File && f.Mode&0o6000 != 0 {
		out += ", RUNS AS ITS OWNER OR GROUP"
	}
	return out
}

// contents shows what of a file's bytes or a link's text changes.
func (p *page) contents(before, after side) {
	p.attributes(before, after)
	a, b := before.copy.Data, after.copy.Data
	both := before.holds() && after.holds()
	switch {
	case both && a == b:
		if a != "" {
			p.own("the content stays the same")
		}
	case !isText(a) || !isText(b):
		p.dump("before", a)
		p.dump("after", b)
	case both && !large(a) && !large(b):
		p.hunks(diff(lines(a), lines(b)))
		p.unended("before", a)
		p.unended("after", b)
	default:
		p.ends("- ", "before", a)
		p.ends("+ ", "after", b)
	}
}

// attributes shows the extended attributes where they differ.
func (p *page) attributes(before, after side) {
	if before.copy.Facts.Xattrs == after.copy.Facts.Xattrs || !before.holds() && !after.holds() {
		return
	}
	for _, x := range before.copy.Xattrs {
		p.row("- ", "attribute "+show(x.Name)+" = "+show(x.Value))
	}
	for _, x := range after.copy.Xattrs {
		p.row("+ ", "attribute "+show(x.Name)+" = "+show(x.Value))
	}
}

func large(s string) bool {
	return len(s) > maxDiffBytes || strings.Count(s, "\n") >= maxDiffLines
}

// isText says whether a reader can make something of the bytes as they are.
func isText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	odd := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			odd++
		}
	}
	return strings.IndexByte(s, 0) < 0 && odd <= len(s)/100
}

// hunks shows a diff with three lines around each change.
func (p *page) hunks(edits []edit) {
	for _, h := range cutHunks(edits) {
		p.own("@@ before line %s, after line %s", thousands(h.before), thousands(h.after))
		for _, e := range h.edits {
			p.payload(string(e.op)+" ", strings.TrimSuffix(e.line, "\n"))
		}
	}
}

// unended says that the last line of a text has no newline.
func (p *page) unended(name, s string) {
	if s != "" && !strings.HasSuffix(s, "\n") {
		p.own("%s: no newline at the end", name)
	}
}

// ends shows a text, of a large one the first and last lines.
func (p *page) ends(mark, name, s string) {
	all := lines(s)
	head, rest := all, []string(nil)
	if large(s) {
		head, rest = take(all, headLines)
	}
	slices.Reverse(rest)
	tail, middle := take(rest, tailLines)
	slices.Reverse(tail)
	p.block(mark, strings.Join(head, ""))
	if len(head) == 0 && len(all) > 0 {
		p.payload(mark, visible.Truncate(all[0], headBytes))
	}
	if len(middle) > 0 {
		p.loud("NOT ALL IS SHOWN: %s of %s between these of what is %s", count(len(middle), "line"), thousands(len(all)), name)
	}
	p.block(mark, strings.Join(tail, ""))
	p.unended(name, s)
}

// take splits off so many lines, or as many as are short together.
func take(all []string, most int) (some, rest []string) {
	size := 0
	for i, l := range all {
		if size += len(l); i == most || size > headBytes {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

// dump shows the beginning of what is not text.
func (p *page) dump(name, s string) {
	if s == "" {
		return
	}
	head := []byte(s[:min(len(s), dumpBytes)])
	p.own("%s, first %s of %s", name, count(len(head), "byte"), thousands(len(s)))
	for at := 0; at < len(head); at += 16 {
		row := head[at:min(at+16, len(head))]
		p.payload("", fmt.Sprintf("%08x  %-48s %s", at, fmt.Sprintf("% x", row), strings.Map(printable, latin(row))))
	}
	if len(head) < len(s) {
		p.loud("NOT ALL IS SHOWN of what is %s", name)
	}
}

// latin is each byte as a character.
func latin(row []byte) string {
	out := make([]rune, len(row))
	for i, c := range row {
		out[i] = rune(c)
	}
	return string(out)
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '.'
	}
	return r
}

// list shows many changes, one a line.
func (p *page) list(q Question) {
	if len(q.Plan) == 0 {
		return
	}
	p.field("changes", count(len(q.Plan), "object"))
	for i, c := range q.Plan {
		if i == maxListed {
			p.loud("NOT ALL IS SHOWN: %s. The list, a line each of before, after and object, has", count(len(q.Plan)-i, "more object"))
			p.field("", "sha256 "+planDigest(q.Plan))
			break
		}
		p.row("", fmt.Sprintf("%-9s %s  %s", changeWord(c), listed(newSide(c.Before, q.Before, i), newSide(c.After, q.After, i)), quoted(string(c.Object), maxTarget/4)))
	}
}

// listed is what is known of a change in a few words.
func listed(before, after side) string {
	s := after
	if !s.known || s.state == corpus.Absent {
		s = before
	}
	if !s.known {
		return "not known"
	}
	f := s.copy.Facts
	if s.holds() && (f.Kind == corpus.File || f.Kind == corpus.Link) {
		return show(string(f.Kind)) + " " + count(len(s.copy.Data), "byte")
	}
	return show(string(f.Kind))
}

func planDigest(plan []corpus.Change) string {
	h := sha256.New()
	for _, c := range plan {
		fmt.Fprintf(h, "%s %s %s\n", c.Before, c.After, c.Object)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
