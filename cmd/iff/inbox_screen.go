package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/internal/visible"
	"github.com/iff-run/iff/record"
)

// screen is iff inbox on a terminal: one question at a time, or a list of those
// that one signature may answer. All that it does to the world is in commands;
// what it shows follows from the messages alone.
//
// A question stays on the screen until a person goes on: neither that it was
// answered elsewhere nor that another came in puts something else under a key.
type screen struct {
	desk clerk
	who  *approver
	pass keyfile.Passphrase // nil if it is typed here
	now  func() time.Time

	width, height int
	running       bool // as far as was heard
	heard         bool
	items         []serve.InboxItem // that wait, oldest first
	papers        map[string]*paper // by request
	at            string            // the request on the screen, empty for none
	place         int               // of it among the items
	note          string            // what happened last, in one line

	mode    mode
	typed   []byte   // a name or a passphrase
	pending []string // what is to be approved once that was typed
	chosen  int      // line of the list
}

// clerk is what the screen has done at the desk, outside of Update.
type clerk interface {
	// next waits for a change of the inbox after a cursor.
	next(since int64) (serve.Inbox, error)
	question(id string) (approval.Question, error)
	answer(ids []string, answers []approval.Answer) ([]serve.Answered, error)
}

// mode is what keys are for.
type mode int

const (
	reading   mode = iota
	choosing       // which of the list are answered together
	naming         // the target's name is typed
	unlocking      // the passphrase is typed
	sending        // an answer is on its way
)

// paper is one question as far as it is here.
type paper struct {
	q     approval.Question
	err   error    // why it cannot be shown, and so not be approved
	lines []string // wrapped to the width; nil until it came
	top   int
	since time.Time // on the screen from then on
	read  bool      // was shown to its end
	off   bool      // is not to be answered together with others
	ended string    // why it does not wait any more
}

type inboxMsg struct {
	inbox serve.Inbox
	err   error
}

type questionMsg struct {
	id  string
	q   approval.Question
	err error
}

type openedMsg struct{ err error }

type answeredMsg struct {
	choice record.Choice
	got    []serve.Answered
	err    error
}

type tickMsg struct{}

func newScreen(desk clerk, who *approver, now func() time.Time) *screen {
	return &screen{desk: desk, who: who, now: now, papers: map[string]*paper{}}
}

// run shows it until the person quits. Of the environment nothing but TERM
// matters.
func (s *screen) run(a *app) error {
	in, _ := a.stdin.(*os.File)
	p := tea.NewProgram(s, tea.WithInput(in), tea.WithOutput(a.out),
		tea.WithEnvironment([]string{"TERM=" + os.Getenv("TERM")}), tea.WithoutSignalHandler())
	// A program that is killed by its context leaves its reader on the terminal.
	ended := make(chan struct{})
	stop := context.AfterFunc(a.ctx, func() { p.Quit(); close(ended) })
	_, err := p.Run()
	if !stop() {
		<-ended
	}
	clear(s.typed)
	if a.ctx.Err() != nil {
		return context.Canceled
	}
	return err
}

// Init is part of tea.Model.
func (s *screen) Init() tea.Cmd { return tea.Batch(s.watch(0), tick()) }

func tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

func (s *screen) watch(since int64) tea.Cmd {
	return func() tea.Msg {
		in, err := s.desk.next(since)
		return inboxMsg{in, err}
	}
}

func (s *screen) fetch(id string) tea.Cmd {
	return func() tea.Msg {
		q, err := s.desk.question(id)
		return questionMsg{id, q, err}
	}
}

// Update is part of tea.Model.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.resize(msg.Width, msg.Height)
	case tickMsg:
		cmd = tick()
	case inboxMsg:
		cmd = s.hear(msg)
	case questionMsg:
		s.put(msg)
	case openedMsg:
		cmd = s.opened(msg)
	case answeredMsg:
		cmd = s.answered(msg)
	case tea.PasteMsg:
		if s.mode == naming || s.mode == unlocking {
			s.typed = append(s.typed, msg.Content...)
		}
	case tea.KeyPressMsg:
		cmd = s.key(msg)
	}
	s.settle()
	return s, cmd
}

// hear takes what the inbox has become.
func (s *screen) hear(msg inboxMsg) tea.Cmd {
	if errors.Is(msg.err, context.Canceled) {
		return nil // the desk is closed
	}
	s.heard, s.running = true, msg.err == nil
	if msg.err != nil && !notRunning(msg.err) {
		s.note = shown(msg.err)
	}
	s.items = s.items[:0]
	fate := map[string]string{}
	for _, i := range waitingFirst(msg.inbox.Items) {
		if i.Answered == "" {
			s.items = append(s.items, i)
		} else {
			fate[i.Request] = i.Answered
		}
	}
	for id, p := range s.papers {
		if s.waits(id) || p.ended != "" {
			continue
		}
		if p.ended = s.fate(fate[id]); id != s.at {
			delete(s.papers, id)
		}
	}
	again := s.watch(msg.inbox.Cursor)
	if s.at != "" {
		return again
	}
	return tea.Batch(again, s.turn(0))
}

// fate says why a question does not wait any more.
func (s *screen) fate(answered string) string {
	switch {
	case !s.running:
		return "the runtime has ended"
	case answered == string(record.Approve):
		return "approved"
	case answered == string(inbox.TimedOut):
		return "denied, its time is over"
	case answered == string(inbox.Cancelled):
		return "denied, the agent went away"
	case answered == string(record.Deny):
		return "denied"
	}
	return "it waits no more"
}

func (s *screen) waits(id string) bool {
	return slices.ContainsFunc(s.items, func(i serve.InboxItem) bool { return i.Request == id })
}

// put takes a question that was fetched.
func (s *screen) put(msg questionMsg) {
	p := s.papers[msg.id]
	if p == nil || p.lines != nil {
		return
	}
	p.q, p.err = msg.q, msg.err
	p.lines = s.layout(p)
}

// turn shows the item of a place, the last one if there are fewer.
func (s *screen) turn(place int) tea.Cmd {
	s.place = max(0, min(place, len(s.items)-1))
	if len(s.items) == 0 {
		s.at = ""
		return nil
	}
	s.leave()
	s.at = s.items[s.place].Request
	return s.need(s.at)
}

// leave notes that what is on the screen is not any more.
func (s *screen) leave() {
	s.glanced()
	if p := s.papers[s.at]; p != nil {
		p.since = time.Time{}
		if p.ended != "" {
			delete(s.papers, s.at)
		}
	}
}

// glanced takes it back that a question was read which was there for no longer
// than an eye takes to move.
func (s *screen) glanced() {
	if p := s.paper(); p != nil && s.now().Sub(p.since) < inbox.ReadingTime {
		p.read = false
	}
}

// need fetches a question that is not here.
func (s *screen) need(id string) tea.Cmd {
	if s.papers[id] != nil {
		return nil
	}
	s.papers[id] = &paper{}
	return s.fetch(id)
}

// paper is what is on the screen, nil for nothing or what is still to come.
func (s *screen) paper() *paper {
	if p := s.papers[s.at]; p != nil && p.lines != nil {
		return p
	}
	return nil
}

func (s *screen) resize(width, height int) {
	s.width, s.height = width, height
	for _, p := range s.papers {
		if p.lines != nil {
			p.lines, p.top = s.layout(p), 0
		}
	}
}

// settle keeps positions within bounds, and notes what the screen has shown.
func (s *screen) settle() {
	if i := slices.IndexFunc(s.items, func(i serve.InboxItem) bool { return i.Request == s.at }); i >= 0 {
		s.place = i
	}
	s.chosen = max(0, min(s.chosen, len(s.group())-1))
	p := s.paper()
	if p == nil || s.width == 0 || s.mode == choosing {
		return
	}
	p.top = max(0, min(p.top, len(p.lines)-s.room()))
	if p.since.IsZero() {
		p.since = s.now()
	}
	if p.top+s.room() >= len(p.lines) {
		p.read = true
	}
}

// opened goes on with an approval once the key is open.
func (s *screen) opened(msg openedMsg) tea.Cmd {
	if msg.err == nil {
		return s.sign()
	}
	s.note, s.mode = shown(msg.err), reading
	if s.pass == nil {
		s.mode = unlocking // another try
	}
	return nil
}

// sign answers what is pending and still waits.
func (s *screen) sign() tea.Cmd {
	var qs []approval.Question
	for _, id := range s.pending {
		if p := s.papers[id]; p != nil && p.ended == "" {
			qs = append(qs, p.q)
		}
	}
	s.pending = nil
	if len(qs) == 0 {
		s.mode, s.note = reading, "not approved: it does not wait any more"
		return nil
	}
	s.mode = sending
	return func() tea.Msg {
		answers, err := s.who.sign(qs, record.Approve, s.now())
		if err != nil {
			return answeredMsg{err: err}
		}
		got, err := s.desk.answer(idsOf(qs), answers)
		return answeredMsg{record.Approve, got, err}
	}
}

// deny answers without a signature.
func (s *screen) deny(ids []string) tea.Cmd {
	s.mode = sending
	return func() tea.Msg {
		got, err := s.desk.answer(ids, slices.Repeat([]approval.Answer{denial()}, len(ids)))
		return answeredMsg{record.Deny, got, err}
	}
}

// answered says what became of answers, and goes on to what waits.
func (s *screen) answered(msg answeredMsg) tea.Cmd {
	s.mode = reading
	if msg.err != nil {
		s.note = shown(msg.err)
		return nil
	}
	done := answerJSON{Choice: string(msg.choice)}.done()
	counted, mine := 0, false
	s.note = ""
	for _, g := range msg.got {
		if g.Reason != "" {
			s.note += "request " + visible.Escape(g.Request) + " is not " + done + ": " + visible.Escape(g.Message) + "  "
			continue
		}
		counted++
		mine = mine || g.Request == s.at
		s.items = slices.DeleteFunc(s.items, func(i serve.InboxItem) bool { return i.Request == g.Request })
		if p := s.papers[g.Request]; p != nil {
			p.ended = done
		}
	}
	if counted > 0 {
		s.note = plural(counted, "question") + " " + done + ". " + s.note
	}
	if mine {
		return s.turn(s.place)
	}
	return nil
}
