package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/internal/ask/inbox"
	"github.com/iff-run/iff/internal/keyfile"
	"github.com/iff-run/iff/internal/serve"
	"github.com/iff-run/iff/record"
)

// bench is a screen without a terminal, and the desk that it works at. Commands
// are done at once.
type bench struct {
	*screen
	t     *testing.T
	clock *clock
	have  map[string]approval.Question
	order []serve.InboxItem
	sent  []map[string]approval.Answer
	fails map[string]string // reasons by request
	quit  bool
	tries []string // passphrases
}

const log = "iff/log/4f2a"

// newBench has a screen on which questions of kinds wait, as and on.
func newBench(t *testing.T, width, height int, kinds ...string) *bench {
	t.Helper()
	b := &bench{t: t, clock: &clock{now: time.Date(2026, 5, 4, 14, 2, 11, 0, time.UTC)}, have: map[string]approval.Question{}, fails: map[string]string{}}
	key, err := keyfile.Generate()
	if err != nil {
		t.Fatal(err)
	}
	who := &approver{id: "me", name: "approver", public: key.Public(), open: func(pass keyfile.Passphrase) (*keyfile.Key, error) {
		secret, err := pass("approver")
		b.tries = append(b.tries, string(secret))
		if err == nil && string(secret) != "correct horse" {
			err = &keyfile.Error{Reason: keyfile.PassphraseWrong, Path: "approver", Detail: "the passphrase is wrong"}
		}
		return key, err
	}}
	b.screen = newScreen(b, who, b.clock.Now)
	for i, kind := range kinds {
		q, err := questionOf(log, fmt.Sprintf("R-%d", i+1), kind, b.clock.Now(), 2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b.have[q.Request] = q
		b.order = append(b.order, serve.InboxItem{
			Request: q.Request, Session: q.Session, Agent: q.Agent, Capability: q.Envelope.Target().Capability().String(),
			Target: q.Envelope.Target().String(), Level: q.Level, Asked: q.Asked, Deadline: q.Deadline,
		})
	}
	b.clock.pass(12 * time.Second)
	b.do(tea.WindowSizeMsg{Width: width, Height: height})
	b.hears()
	return b
}

func (b *bench) next(int64) (serve.Inbox, error) { return serve.Inbox{}, context.Canceled }

func (b *bench) question(id string) (approval.Question, error) {
	q, ok := b.have[id]
	if !ok {
		return q, &serve.Fault{Reason: "result-too-large", Message: "too large \x1b[2J"}
	}
	return q, nil
}

func (b *bench) answer(ids []string, answers []approval.Answer) ([]serve.Answered, error) {
	sent := map[string]approval.Answer{}
	var out []serve.Answered
	for i, id := range ids {
		sent[id] = answers[i]
		one := serve.Answered{Request: id, Reason: b.fails[id]}
		if one.Reason != "" {
			one.Message = one.Reason + ": it was answered before"
		}
		out = append(out, one)
	}
	b.sent = append(b.sent, sent)
	return out, nil
}

// hears tells the screen what the inbox is now.
func (b *bench) hears() {
	b.do(inboxMsg{inbox: serve.Inbox{Items: b.order}})
}

// ends has a question end, as its item says then.
func (b *bench) ends(id, how string) {
	for i := range b.order {
		if b.order[i].Request == id {
			b.order[i].Answered = how
		}
	}
	b.hears()
}

func (b *bench) do(msg tea.Msg) {
	b.t.Helper()
	_, cmd := b.Update(msg)
	b.run(cmd)
}

func (b *bench) run(cmd tea.Cmd) {
	b.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			b.run(c)
		}
	case tea.QuitMsg:
		b.quit = true
	default:
		b.do(msg)
	}
}

// press types keys: words for special ones, else each letter.
func (b *bench) press(keys ...string) {
	b.t.Helper()
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "end": tea.KeyEnd, "space": tea.KeySpace, "backspace": tea.KeyBackspace, "down": tea.KeyDown}
	for _, k := range keys {
		if code, ok := special[k]; ok {
			b.do(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			b.do(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// looks is a picture without what draws it.
func (b *bench) looks() string {
	return regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(b.picture(), "")
}

func (b *bench) says(want string) {
	b.t.Helper()
	if !strings.Contains(b.looks(), want) {
		b.t.Errorf("%q is not on the screen:\n%s", want, b.looks())
	}
}

// later lets a person read.
func (b *bench) later() { b.clock.pass(5 * time.Second); b.settle() }

// TestInboxScreens holds the screens against those in testdata/inbox.
func TestInboxScreens(t *testing.T) {
	for name, screen := range map[string]func(*testing.T) *bench{
		"question": func(t *testing.T) *bench { return newBench(t, 100, 30, "write", "tree") },
		"small":    func(t *testing.T) *bench { return newBench(t, 40, 14, "write") },
		"tree": func(t *testing.T) *bench {
			b := newBench(t, 100, 50, "tree")
			b.later()
			b.press("a", "ol")
			return b
		},
		"guarded": func(t *testing.T) *bench { return newBench(t, 100, 48, "guarded") },
		"hostile": func(t *testing.T) *bench { return newBench(t, 80, 60, "hostile") },
		"passphrase": func(t *testing.T) *bench {
			b := newBench(t, 80, 40, "write")
			b.later()
			b.press("a", "secret")
			return b
		},
		"list": func(t *testing.T) *bench {
			b := newBench(t, 80, 40, "write", "write", "guarded", "write")
			b.later()
			b.press("n")
			b.later()
			b.press("n", "p", "l")
			return b
		},
		"ended": func(t *testing.T) *bench {
			b := newBench(t, 80, 24, "write", "write")
			b.ends("R-1", string(inbox.TimedOut))
			return b
		},
		"failed": func(t *testing.T) *bench {
			b := newBench(t, 80, 12, "write")
			delete(b.have, "R-1")
			b.papers = map[string]*paper{}
			b.run(b.need("R-1"))
			return b
		},
		"empty": func(t *testing.T) *bench { return newBench(t, 80, 10) },
		"alone": func(t *testing.T) *bench {
			b := newBench(t, 80, 10)
			b.do(inboxMsg{err: &serve.Error{Reason: serve.NotRunning}})
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			for line := range strings.Lines(screen(t).looks()) {
				out.WriteString(strings.TrimRight(line, " \n") + "\n")
			}
			golden(t, filepath.Join("testdata", "inbox", name+".txt"), out.String(), "look at it, then: go test ./cmd/iff -run TestInboxScreens -update")
		})
	}
}

// TestInboxAnswers approves and denies by keys, and finds the signature good.
func TestInboxAnswers(t *testing.T) {
	b := newBench(t, 100, 60, "write", "write", "write")
	b.later()
	b.press("a", "wrong", "enter")
	b.says("the passphrase is wrong")
	b.press("correct horse", "enter")
	if len(b.sent) != 1 || b.sent[0]["R-1"].Choice != record.Approve || b.sent[0]["R-1"].View != b.have["R-1"].View() {
		t.Fatalf("sent %v", b.sent)
	}
	b.says("1 of 2")
	b.says("1 question approved")
	b.later()
	b.press("a") // the passphrase is asked for once
	b.later()
	b.press("d")
	if len(b.sent) != 3 || b.sent[1]["R-2"].Approver != "me" || b.sent[2]["R-3"].Choice != record.Deny || b.sent[2]["R-3"].Signature != "" {
		t.Fatalf("sent %v", b.sent)
	}
	if !slices.Equal(b.tries, []string{"wrong", "correct horse"}) {
		t.Errorf("tried %q", b.tries)
	}
	b.says("nothing waits")
	if b.press("q"); !b.quit {
		t.Error("q does not quit")
	}
}

// TestInboxHoldsBack tries what must not approve.
func TestInboxHoldsBack(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		height int
		try    func(*bench)
		says   string
	}{
		"at once":      {"write", 60, func(b *bench) { b.press("a") }, "came onto the screen just now"},
		"not read":     {"write", 14, func(b *bench) { b.later(); b.press("a") }, "lines below that you have not seen"},
		"too late":     {"write", 60, func(b *bench) { b.clock.pass(2 * time.Minute); b.press("a") }, "its time is over"},
		"ended":        {"write", 60, func(b *bench) { b.later(); b.ends("R-1", "deny"); b.press("a", "d") }, "it does not wait any more: denied"},
		"pasted":       {"write", 60, func(b *bench) { b.later(); b.do(tea.PasteMsg{Content: "a\rd"}) }, "a approve"},
		"wrong name":   {"tree", 60, func(b *bench) { b.later(); b.press("a", "reports/old", "enter") }, "that is not the name"},
		"no name":      {"guarded", 60, func(b *bench) { b.later(); b.press("a", "enter") }, "that is not the name"},
		"let go":       {"tree", 60, func(b *bench) { b.later(); b.press("a", "old", "esc") }, "it still waits"},
		"meanwhile":    {"write", 60, func(b *bench) { b.later(); b.press("a", "correct horse"); b.ends("R-1", "approve"); b.press("enter") }, "it does not wait any more"},
		"list unread":  {"write", 14, func(b *bench) { b.later(); b.press("l", "a") }, "nothing is selected"},
		"list guarded": {"guarded", 60, func(b *bench) { b.later(); b.press("l", "x", "x", "a") }, "nothing is selected"},
		"not shown": {"write", 60, func(b *bench) {
			delete(b.have, "R-1")
			b.papers = map[string]*paper{}
			b.run(b.need("R-1"))
			b.later()
			b.press("a")
		}, "cannot be approved"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 100, c.height, c.kind)
			c.try(b)
			b.says(c.says)
			if len(b.sent) > 0 {
				t.Errorf("sent %v", b.sent)
			}
		})
	}
}

// TestInboxName approves what takes a name.
func TestInboxName(t *testing.T) {
	for kind, word := range map[string]string{"tree": "old", "guarded": "AGENTS.md"} {
		b := newBench(t, 100, 60, kind)
		b.later()
		b.press("a", word+"x", "backspace", "enter")
		b.do(tea.PasteMsg{Content: "correct horse"})
		b.press("enter")
		if len(b.sent) != 1 || b.sent[0]["R-1"].Choice != record.Approve {
			t.Errorf("%s: sent %v\n%s", kind, b.sent, b.looks())
		}
	}
}

// TestInboxTogether approves several with one signature, those that were shown.
func TestInboxTogether(t *testing.T) {
	b := newBench(t, 100, 60, "write", "write", "guarded", "write", "write")
	other := b.have["R-5"]
	other.Skill.Name = "another"
	b.have["R-5"] = other
	b.later()
	b.press("n", "l")
	b.says(">  .  fs.write.irrev reports/q3.md   not read") // it was there for no time at all
	b.press("l")
	b.later()
	b.press("l")
	b.says("> [x] fs.write.irrev reports/q3.md")
	if strings.Count(b.looks(), "[x]") != 2 || strings.Contains(b.looks(), "another") || strings.Count(b.looks(), "fs.write.irrev") != 4 {
		t.Errorf("the list is\n%s", b.looks())
	}
	b.press("a", "correct horse", "enter")
	if len(b.sent) != 1 || len(b.sent[0]) != 2 || len(b.sent[0]["R-1"].Batch) != 2 || b.sent[0]["R-1"].Signature != b.sent[0]["R-2"].Signature {
		t.Fatalf("sent %v", b.sent)
	}
	b.says("2 questions approved")
}

// TestInboxLate says what did not count.
func TestInboxLate(t *testing.T) {
	b := newBench(t, 120, 60, "write")
	b.fails["R-1"] = string(inbox.AnswerLate)
	b.later()
	b.press("a", "correct horse", "enter")
	b.says("request R-1 is not approved: answer-late: it was answered before")
	b.ends("R-1", "deny")
	b.says("ENDED: denied")
	b.press("n")
	b.says("nothing waits")
}

// TestInboxStays keeps what is on the screen there, whatever comes and goes.
func TestInboxStays(t *testing.T) {
	b := newBench(t, 100, 60, "write", "tree", "guarded")
	b.press("n")
	b.says("DELETE  reports/old")
	b.ends("R-1", "approve")
	b.says("1 of 2")
	b.says("DELETE  reports/old")
	b.ends("R-2", "approve")
	b.says("ENDED: approved")
	b.says("DELETE  reports/old")
	b.press("n")
	b.says("AGENTS.md")
	b.do(inboxMsg{err: &serve.Error{Reason: serve.NotRunning}})
	b.says("ENDED: the runtime has ended")
}

// TestInboxNothingLeft presses every key on a list all of which has ended.
func TestInboxNothingLeft(t *testing.T) {
	for _, key := range []string{"a", "d", "x", "enter", "down", "space", "esc", "n"} {
		b := newBench(t, 100, 60, "write")
		b.press("l")
		b.ends("R-1", "deny")
		b.press(key, key, "n")
		b.says("nothing waits")
	}
}

// TestInboxShowsAll draws questions that somebody made to fool, at every width:
// no control character but ours, no line that is too wide, none that begins as
// ours does but for ours, and nothing of the rendering is lost.
func TestInboxShowsAll(t *testing.T) {
	for _, kind := range []string{"hostile", "huge", "write"} {
		q, err := questionOf(log, "R-1", kind, time.Time{}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for width := 8; width < 110; width += 3 {
			s := &screen{width: width}
			if err := faithful(q.Render(), s.layout(&paper{q: q}), width); err != nil {
				t.Errorf("%s at width %d: %v", kind, width, err)
			}
		}
		b := newBench(t, 30, 20, kind)
		for range 50 {
			for _, r := range b.looks() {
				if unicode.Is(unicode.Cf, r) || r != '\n' && unicode.IsControl(r) {
					t.Fatalf("%s: %q is on the screen", kind, r)
				}
			}
			b.press("space")
		}
	}
	// The check sees what it is for.
	for _, bad := range [][]string{{"  | ab", "cd"}, {"  | ab", "  : c"}, {"  | abcd", "  : "}} {
		if faithful("  | abcd\n", bad, 6) == nil {
			t.Errorf("%q passes", bad)
		}
	}
	if err := faithful("  | abcd\n", fold("  | abcd", 6), 6); err != nil {
		t.Error(err)
	}
}

// faithful holds lines of a screen against a rendering.
func faithful(rendering string, lines []string, width int) error {
	var whole strings.Builder
	n, own := 0, strings.Split(strings.TrimSuffix(rendering, "\n"), "\n")
	for _, line := range lines {
		if cells(line) > width {
			return fmt.Errorf("%q is too wide", line)
		}
		if n < len(own) && strings.HasPrefix(own[n], line) && whole.Len() == 0 {
			whole.WriteString(line)
		} else if rest, ok := strings.CutPrefix(line, restOfLine); ok {
			whole.WriteString(rest)
		} else {
			return fmt.Errorf("%q begins as a line of ours", line)
		}
		if n < len(own) && whole.String() == own[n] {
			n++
			whole.Reset()
		}
	}
	if n != len(own) {
		return fmt.Errorf("%d of %d lines are there", n, len(own))
	}
	return nil
}

// TestInboxCells is at least as wide as any terminal draws.
func TestInboxCells(t *testing.T) {
	for text, least := range map[string]int{"a": 1, "界": 2, "☕": 2, "❤\ufe0f": 2, "🏴": 2, "e\u0301": 1, "한": 2, "1\ufe0f\u20e3": 2} {
		if got := cells(text); got < least {
			t.Errorf("%q has %d cells", text, got)
		}
	}
	if cut("界界界", 5) != "界界" || tail("abcdef", 4) != "..ef" {
		t.Error("what is cut is not what fits")
	}
}
