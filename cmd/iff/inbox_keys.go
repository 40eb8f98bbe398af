package main

import (
	"fmt"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
)

// maxTyped bounds a name or passphrase.
const maxTyped = maxPassphrase

// key does what a key is for.
func (s *screen) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	switch s.mode {
	case naming, unlocking:
		return s.typing(k)
	case sending:
		return nil
	}
	s.note = ""
	if s.mode == choosing {
		return s.choose(k.String())
	}
	return s.read(k.String())
}

// read is the keys while one question is on the screen.
func (s *screen) read(key string) tea.Cmd {
	switch key {
	case "q":
		return tea.Quit
	case "n", "right":
		return s.step(1)
	case "p", "left":
		return s.step(-1)
	case "l":
		return s.openList()
	case "a":
		return s.approve()
	case "d":
		if p := s.paper(); p != nil && s.answerable(p) {
			return s.deny([]string{s.at})
		}
		return nil
	}
	s.scroll(key)
	return nil
}

// step goes to a neighbour. What has ended has none before or behind it but
// what took its place.
func (s *screen) step(by int) tea.Cmd {
	if len(s.items) == 0 {
		s.leave()
		s.at = ""
		return nil
	}
	if by > 0 && !s.waits(s.at) {
		by = 0
	}
	return s.turn(s.place + by)
}

func (s *screen) scroll(key string) {
	p := s.paper()
	if p == nil {
		return
	}
	switch page := max(1, s.room()-1); key {
	case "space", "pgdown", "f":
		p.top += page
	case "b", "pgup":
		p.top -= page
	case "down", "j", "enter":
		p.top++
	case "up", "k":
		p.top--
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.top = len(p.lines)
	}
}

// answerable says whether a question can be answered now; if not, the note says
// why.
func (s *screen) answerable(p *paper) bool {
	switch d := p.q.Deadline; {
	case p.ended != "":
		s.note = "it does not wait any more: " + p.ended
	case p.err == nil && !d.IsZero() && !s.now().Before(d):
		s.note = "it does not wait any more: its time is over"
	case s.now().Sub(p.since) < inbox.ReadingTime:
		s.note = "this came onto the screen just now; read it first"
	default:
		return true
	}
	return false
}

// approve begins to approve what is on the screen.
func (s *screen) approve() tea.Cmd {
	p := s.paper()
	if p == nil || !s.answerable(p) {
		return nil
	}
	switch more := len(p.lines) - p.top - s.room(); {
	case p.err != nil:
		s.note = "what cannot be shown cannot be approved"
		return nil
	case !p.read:
		s.note = fmt.Sprintf("%s below that you have not seen: space", plural(more, "line"))
		return nil
	}
	s.pending = []string{s.at}
	if word, _ := wordFor(p.q); word != "" {
		s.ask(naming)
		return nil
	}
	return s.unlock()
}

func (s *screen) ask(m mode) {
	clear(s.typed)
	s.typed, s.mode = s.typed[:0], m
}

// unlock goes on to sign, by way of the passphrase if the key is not open.
func (s *screen) unlock() tea.Cmd {
	switch {
	case s.who.key != nil:
		return s.sign()
	case s.pass == nil:
		s.ask(unlocking)
		return nil
	}
	s.mode = sending
	return func() tea.Msg { return openedMsg{s.who.unlock(s.pass)} }
}

// typing takes a name or a passphrase.
func (s *screen) typing(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		s.ask(reading)
		s.pending, s.note = nil, "not approved; it still waits"
	case "backspace":
		_, n := utf8.DecodeLastRune(s.typed)
		s.typed = s.typed[:len(s.typed)-n]
	case "ctrl+u":
		s.ask(s.mode)
	case "enter":
		return s.entered()
	default:
		if len(s.typed)+len(k.Text) <= maxTyped {
			s.typed = append(s.typed, k.Text...)
		}
	}
	return nil
}

func (s *screen) entered() tea.Cmd {
	s.note = ""
	if s.mode == naming {
		p := s.papers[s.pending[0]]
		if word, _ := wordFor(p.q); string(s.typed) != word {
			s.ask(reading)
			s.pending, s.note = nil, "that is not the name; not approved, it still waits"
			return nil
		}
		return s.unlock()
	}
	if len(s.typed) == 0 {
		return nil
	}
	secret := append([]byte(nil), s.typed...)
	s.ask(sending)
	return func() tea.Msg {
		defer clear(secret)
		return openedMsg{s.who.unlock(passphraseIs(secret))}
	}
}

// group is what is like the question on the screen: of the same session and, as
// far as is known, the same skill.
func (s *screen) group() []serve.InboxItem {
	i := s.place
	if i >= len(s.items) {
		return nil
	}
	here := s.items[i]
	of := s.papers[here.Request]
	var out []serve.InboxItem
	for _, i := range s.items {
		p := s.papers[i.Request]
		same := p == nil || of == nil || p.lines == nil || of.lines == nil || p.q.Skill == of.q.Skill
		if i.Session == here.Session && same {
			out = append(out, i)
		}
	}
	return out
}

// openList shows the group, and has all of it fetched.
func (s *screen) openList() tea.Cmd {
	var cmds []tea.Cmd
	group := s.group()
	if len(group) == 0 {
		return nil
	}
	for n, i := range group {
		if i.Request == s.at {
			s.chosen = n
		}
		cmds = append(cmds, s.need(i.Request))
	}
	s.glanced()
	s.mode = choosing
	return tea.Batch(cmds...)
}

// choose is the keys in the list.
func (s *screen) choose(key string) tea.Cmd {
	group := s.group()
	if len(group) == 0 && key != "q" {
		key = "l" // all have ended
	}
	switch key {
	case "q":
		return tea.Quit
	case "l", "esc":
		s.mode = reading
	case "down", "j", "n":
		s.chosen++
	case "up", "k", "p":
		s.chosen--
	case "x", "space":
		if p := s.papers[group[min(s.chosen, len(group)-1)].Request]; p != nil {
			p.off = !p.off
		}
	case "enter":
		s.mode = reading
		return s.show(group[min(s.chosen, len(group)-1)].Request)
	case "a", "d":
		return s.together(key, group)
	}
	return nil
}

// show turns to a request that waits.
func (s *screen) show(id string) tea.Cmd {
	for n, i := range s.items {
		if i.Request == id {
			return s.turn(n)
		}
	}
	return nil
}

// together answers the selected of the list.
func (s *screen) together(key string, group []serve.InboxItem) tea.Cmd {
	var ids []string
	for _, i := range group {
		if s.mark(s.papers[i.Request]) == selected {
			ids = append(ids, i.Request)
		}
	}
	switch {
	case len(ids) == 0:
		s.note = "nothing is selected: read them first, with enter"
		return nil
	case len(ids) > approval.MaxBatch:
		s.note = fmt.Sprintf("%d are selected; one signature covers at most %d", len(ids), approval.MaxBatch)
		return nil
	case key == "d":
		return s.deny(ids)
	}
	s.pending = ids
	return s.unlock()
}

// The marks of a list. What was not shown to its end, and what takes a typed
// name, is not answered together with others.
const (
	selected   = "[x]"
	unselected = "[ ]"
	unread     = " . "
	alone      = " ! "
)

func (s *screen) mark(p *paper) string {
	if p == nil || p.lines == nil || p.err != nil || p.ended != "" {
		return unread
	}
	if word, _ := wordFor(p.q); word != "" {
		return alone
	}
	switch {
	case !p.read:
		return unread
	case p.off:
		return unselected
	}
	return selected
}

// prompt is what is asked for in the last line but one.
func (s *screen) prompt() string {
	switch s.mode {
	case naming:
		if p := s.papers[s.pending[0]]; p != nil {
			word, why := wordFor(p.q)
			return fmt.Sprintf("%s. Type %s and Enter to approve: %s", why, visible.Escape(word), visible.Escape(string(s.typed)))
		}
	case unlocking:
		return "passphrase for key " + visible.Escape(s.who.name) + " (not shown): "
	case sending:
		return "..."
	}
	return ""
}
