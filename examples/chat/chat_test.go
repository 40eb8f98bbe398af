package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/examples/webhook/receiver"
	"github.com/iff-run/iff/internal/ask/webhook"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/internal/trusttest"
	"github.com/iff-run/iff/record"
)

var (
	now      = trusttest.Now
	asking   = trusttest.NewKey(30)
	approver = trusttest.NewKey(31)
)

const (
	chatID = -100200
	alice  = 42
	mallet = 66
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// telegram plays the Bot API.
type telegram struct {
	testing.TB
	mu      sync.Mutex
	calls   []string
	told    []string
	updates []string
	last    int
	sent    chan message // each message
	press   chan struct{}
}

type message struct {
	text          string
	approve, deny string // the buttons' data
}

func (s *telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/botSECRET/")
	body, _ := io.ReadAll(r.Body)
	var o object
	if err := canonical.Parse(body, &o, canonical.Limits{}); err != nil || !ok {
		s.Errorf("%s: %v", r.URL.Path, err)
	}
	s.mu.Lock()
	s.calls = append(s.calls, method)
	s.mu.Unlock()
	result := "true"
	switch method {
	case "sendMessage":
		result = `{"message_id":7,"date":1,"chat":{"id":-100200,"type":"group"}}`
		s.message(o)
	case "getUpdates":
		result = s.next(r.Context(), o)
	case "answerCallbackQuery":
		var text string
		must(s, o.read("text", &text))
		s.mu.Lock()
		s.told = append(s.told, text)
		s.mu.Unlock()
	}
	fmt.Fprintf(w, `{"ok":true,"result":%s}`, result)
}

func (s *telegram) message(o object) {
	var m message
	var chat int64
	var markup struct {
		Rows [][]button `json:"inline_keyboard"`
	}
	must(s, o.read("text", &m.text))
	must(s, o.read("chat_id", &chat))
	must(s, o.read("reply_markup", &markup))
	if _, styled := o["parse_mode"]; chat != chatID || styled || len(markup.Rows) != 1 || len(markup.Rows[0]) != 2 {
		s.Errorf("sent %v", o)
	}
	m.approve, m.deny = markup.Rows[0][0].Data, markup.Rows[0][1].Data
	s.sent <- m
}

// next holds the request until there is something, as the service does.
func (s *telegram) next(ctx context.Context, o object) string {
	var offset int
	must(s, o.read("offset", &offset))
	for {
		s.mu.Lock()
		if offset <= s.last && len(s.updates) > 0 {
			out := "[" + strings.Join(s.updates, ",") + "]"
			s.updates = nil
			s.mu.Unlock()
			return out
		}
		s.mu.Unlock()
		select {
		case <-s.press:
		case <-ctx.Done():
			return "[]"
		}
	}
}

// pressed is a button pressed by a user.
func (s *telegram) pressed(user int, data string) {
	s.mu.Lock()
	s.last++
	s.updates = append(s.updates, fmt.Sprintf(`{"update_id":%d,"callback_query":{"id":"q%d","from":{"id":%d,"is_bot":false,"first_name":"X"},"message":{"message_id":7},"chat_instance":"-1","data":%q}}`, s.last, s.last, user, data))
	s.mu.Unlock()
	s.press <- struct{}{}
}

func question(tb testing.TB, n int, reasoning string) approval.Question {
	tb.Helper()
	where, err := capability.ParseTarget(capability.FSWriteIrrev, fmt.Sprintf("reports/q%d.md", n))
	must(tb, err)
	env, err := capability.NewEnvelope(capability.Call{Target: where, Reasoning: reasoning})
	must(tb, err)
	return approval.Question{
		Log: "iff/log/1", Fence: 1, Session: "S", Request: fmt.Sprint("R-", n), Seq: int64(n), Agent: "uid-1000", Profile: "dev",
		Envelope: env, Op: "write", Level: "unverified", Mark: "PUBLIC", Asked: now, Deadline: now.Add(time.Minute),
	}
}

// start is a service, a receiver that asks in its chat, and the broker in front.
func start(t *testing.T) (*telegram, *webhook.Broker) {
	t.Helper()
	service := &telegram{TB: t, sent: make(chan message, 10), press: make(chan struct{}, 100)}
	api := httptest.NewServer(service)
	d := &desk{bot: newBot(api.URL+"/", "SECRET"), chat: chatID, users: []int64{alice}, log: func(string) {}}
	r := &receiver.Receiver{Runtime: asking.Public(), Approver: "chat", Signer: approver, Now: func() time.Time { return now }, Decide: d.decide}
	s := httptest.NewServer(r)
	ctx, cancel := context.WithCancel(t.Context())
	var polling sync.WaitGroup
	polling.Go(func() { d.poll(ctx, time.Millisecond) })
	t.Cleanup(func() { cancel(); polling.Wait(); s.Close(); api.CloseClientConnections(); api.Close() })
	locked := trusttest.Locked(trusttest.Approver("chat", approver.Public()))
	b, err := webhook.New(webhook.Options{
		URL: s.URL, Key: asking, Log: "iff/log/1", Fence: 1, Now: func() time.Time { return now }, Timeout: time.Minute,
		Check: func(q approval.Question, a approval.Answer) error { return q.Check(a, locked, now) },
	})
	must(t, err)
	return service, b
}

// Only who is named decides, and what he sees is the rendering, whole.
func TestButtons(t *testing.T) {
	for _, want := range []record.Choice{record.Approve, record.Deny} {
		service, b := start(t)
		q := question(t, 1, "the skill says <b>so</b> *now*")
		got := make(chan approval.Answer, 1)
		go func() {
			answers, _ := b.Ask(t.Context(), []approval.Question{q})
			got <- answers[0]
		}()
		m := <-service.sent
		if m.text != q.Render() {
			t.Errorf("shown:\n%s", m.text)
		}
		data := m.deny
		if want == record.Approve {
			data = m.approve
		}
		service.pressed(mallet, m.approve)
		service.pressed(alice, "approve 00000000000000000000000000000000")
		service.pressed(alice, "grant "+strings.TrimPrefix(m.approve, "approve "))
		service.pressed(alice, data)
		service.pressed(alice, m.approve) // the first press counted
		a := <-got
		if a.Choice != want || a.Cause != record.CauseWebhook || a.Approver != "chat" {
			t.Errorf("%+v", a)
		}
		service.mu.Lock()
		if !slices.Contains(service.calls, "editMessageReplyMarkup") || len(service.told) == 0 || service.told[0] != "you may not decide this" {
			t.Errorf("%q %q", service.calls, service.told)
		}
		service.mu.Unlock()
	}
}

// What cannot be shown in full, or needs more than a button, is left to who is
// asked next.
func TestNoOpinion(t *testing.T) {
	service, b := start(t)
	guarded := question(t, 2, "")
	guarded.Guarded = "skill notes"
	got, err := b.Ask(t.Context(), []approval.Question{question(t, 1, strings.Repeat("words ", 2000)), guarded})
	if err != nil || got[0].Choice != "" || got[1].Choice != "" {
		t.Errorf("%+v %v", got, err)
	}
	if len(service.sent) != 0 {
		t.Error("something was sent")
	}
}

// Who asks gives up: the buttons go, and a press has no effect.
func TestGivenUp(t *testing.T) {
	service, b := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan approval.Answer, 1)
	go func() {
		answers, _ := b.Ask(ctx, []approval.Question{question(t, 1, "")})
		got <- answers[0]
	}()
	<-service.sent
	cancel()
	if a := <-got; a.Choice != record.Deny || a.Cause != record.CauseCancelled {
		t.Errorf("%+v", a)
	}
}

// A service that fails or answers anything is no decision.
func TestBadService(t *testing.T) {
	for _, answer := range []string{
		"", "null", "[]", `{"ok":false,"error_code":403}`, `{"ok":true}`, `{"ok":true,"result":{}}`, `{"ok":true,"result":[{"update_id":1,"message":{}}]}`,
		`{"ok":true,"ok":true,"result":[]}`, `{"ok":true,"result":[{"callback_query":{"from":{"id":42}}}]}`, strings.Repeat("[", 1000),
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		var said []string
		d := &desk{bot: newBot(s.URL, "SECRET"), chat: chatID, users: []int64{alice}, log: func(l string) { said = append(said, l) }}
		if c := d.decide(t.Context(), question(t, 1, "")); c != "" || len(said) == 0 || strings.Contains(strings.Join(said, ""), "SECRET") {
			t.Errorf("%q: %q %q", answer, c, said)
		}
		if all, _, _ := d.bot.presses(t.Context(), 0); len(all) != 0 {
			t.Errorf("%q: %v", answer, all)
		}
		s.Close()
	}
	b := newBot("http://127.0.0.1:1", "SECRET")
	if err := b.tell(t.Context(), "x", "y"); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{nil, {"-chat", "1"}, {"-chat", "1", "-users", "alice"}, {"-chat", "1", "-users", "0"}, {"-users", "1"}, {"-chat", "1", "-users", "1", "-token-file", "none"}} {
		if run(t.Context(), args, io.Discard) == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
