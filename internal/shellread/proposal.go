package shellread

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/visible"
)

// Bounds of one reading. What lies beyond is said to do so, never dropped
// silently.
const (
	MaxSource    = 1 << 20 // bytes of a script or a body
	MaxLines     = 1 << 17 // lines of either
	MaxProposals = 128     // grants proposed for one file, the note about more included
)

// Proposal is one grant that a skill seems to need, for a person to accept,
// narrow or strike out. The zero Proposal proposes nothing.
type Proposal struct {
	Grant  string // the spelling that [capability.ParseGrant] accepts
	File   string // as given by the caller
	Line   int    // from 1; 0 is the file as a whole
	Why    string // one printable line; what is not static is named here
	Static bool   // false: something could not be read off the text
}

// Tool is one entry of allowed-tools, as written.
type Tool struct {
	Text string
	Line int // from 1
}

// sheet collects the proposals of one file. A grant that is asked for again
// keeps its first line; what was not static about any of them stays said.
type sheet struct {
	file  string
	prose bool // only processes and hosts count
	list  []entry
	index map[string]int // grant to place in list
	left  map[string]bool
	stop  int // first line whose grant found no room
	code  int // bytes of nested code that may still be read
}

// entry is a proposal and the doubts that it already states.
type entry struct {
	Proposal
	doubts []string
}

func newSheet(file string) *sheet {
	return &sheet{file: file, index: map[string]int{}, left: map[string]bool{}, code: MaxSource}
}

// ask proposes class(argument). doubt is what is not static about it, or
// empty. An argument that no grant can spell leaves the bare class.
func (s *sheet) ask(line int, class capability.Capability, argument, why, doubt string) {
	grant := spelling(class.String() + "(" + argument + ")")
	if grant == "" {
		grant = class.String()
		doubt = strings.TrimPrefix(doubt+"; a grant has no spelling for it", "; ")
	}
	s.add(line, grant, why, doubt)
}

// bare proposes the class alone: declared, and asked about each time.
func (s *sheet) bare(line int, class capability.Capability, why, doubt string) {
	s.add(line, class.String(), why, doubt)
}

func (s *sheet) add(line int, grant, why, doubt string) {
	if s.prose && !strings.HasPrefix(grant, capability.SpawnProc.String()) && !strings.HasPrefix(grant, capability.NetEgress.String()) {
		return
	}
	if i, known := s.index[grant]; known {
		s.list[i].merge(line, why, doubt)
		return
	}
	if len(s.list) >= MaxProposals-1 {
		if len(s.left) == 0 || line < s.stop {
			s.stop = line
		}
		s.left[grant] = true
		return
	}
	e := entry{Proposal: Proposal{Grant: grant, File: s.file, Line: line, Why: why, Static: doubt == ""}}
	if doubt != "" {
		e.Why += ": " + doubt
		e.doubts = []string{doubt}
	}
	s.index[grant] = len(s.list)
	s.list = append(s.list, e)
}

// merge keeps the first line of a grant, and every doubt about it once, as far
// as there is room.
func (e *entry) merge(line int, why, doubt string) {
	const most = 8
	e.Line = min(e.Line, line)
	if doubt == "" || slices.Contains(e.doubts, doubt) {
		return
	}
	e.Static = false
	switch n := len(e.doubts); {
	case n < most:
		e.Why += fmt.Sprintf("; line %d: %s: %s", line, why, doubt)
		e.doubts = append(e.doubts, doubt)
	case n == most:
		e.Why += "; and more"
		e.doubts = append(e.doubts, "")
	}
}

// proposals returns what was collected, sorted by line and grant.
func (s *sheet) proposals() []Proposal {
	if n := len(s.left); n > 0 {
		s.more(n)
	}
	list := make([]Proposal, len(s.list))
	for i, e := range s.list {
		list[i] = e.Proposal
	}
	slices.SortFunc(list, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Grant, b.Grant))
	})
	return list
}

// more says how many grants found no room. It is a proposal of its own unless
// the bare class is proposed already.
func (s *sheet) more(n int) {
	why := fmt.Sprintf("%d more grants were left out; at most %d are proposed for one file", n, MaxProposals)
	bare := capability.SpawnProc.String()
	if i, known := s.index[bare]; known {
		s.list[i].Static = false
		s.list[i].Why += "; " + why
		return
	}
	s.list = append(s.list, entry{Proposal: Proposal{Grant: bare, File: s.file, Line: s.stop, Why: why}})
}

// spelling returns the one accepted spelling of a grant, or nothing if it has
// none.
func spelling(text string) string {
	g, err := capability.ParseGrant(text)
	if err == nil {
		return g.String()
	}
	if e := (*capability.Error)(nil); errors.As(err, &e) {
		return e.Canonical
	}
	return ""
}

// show makes a piece of somebody's text fit for a Why.
func show(s string) string {
	const most = 60
	const enough = 8 * most // bytes; the rest would be cut off anyway
	s = strings.TrimSpace(s)
	return visible.Truncate(visible.Escape(s[:min(enough, len(s))]), most)
}
