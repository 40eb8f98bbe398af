package mcpgate

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/host/tool"
	"github.com/iff-run/iff/label"
)

// willing is a client that says yes to everything, and notes what it was asked and told.
type willing struct {
	mu   sync.Mutex
	told []string
}

func (w *willing) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, what)
}

func (w *willing) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			w.note(r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		},
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "hi"}}, nil
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			w.note(string(r.Params.Level) + " " + r.Params.Logger)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { w.note(r.Params.Message) },
	}
}

func (w *willing) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

func question() tool.Question {
	public, _ := label.Builtin("default")
	return tool.Question{Server: "files", Params: &mcp.ElicitParams{Mode: "form", Message: "upstream files asks: approve?"}, Labels: []label.Label{public.Bottom()}}
}

// approves is a gate that takes an answer to an upstream's question for a person's word.
func approves(answer mcp.Result) bool {
	e, ok := answer.(*mcp.ElicitResult)
	return ok && e.Action == "accept" && e.Content["approve"] == true
}

// What an upstream asks is answered by the client of that call, over a socket and over HTTP. The answer approves nothing: the call that
// waits for a person waits on.
func TestQuestionsOfUpstreams(t *testing.T) {
	for _, way := range []string{"socket", "http"} {
		t.Run(way, func(t *testing.T) {
			r, w := newRig(t, nil), new(willing)
			var s *mcp.ClientSession
			if way == "socket" {
				s = r.client(t, w.options())
			} else {
				s = webClient(t, r.web(t), secret, w.options())
			}
			ended := make(chan *mcp.CallToolResult)
			go func() {
				out, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "ask"}})
				if err != nil {
					t.Error(err)
				}
				ended <- out
			}()
			a := <-r.w.asked
			clients, of := r.g.Clients(), tool.Caller{Session: "s1", Request: a.p.id}
			answer := unwrap(clients.Ask(t.Context(), of, question()))(t)
			if !approves(answer) {
				t.Errorf("the answer is %+v", answer)
			}
			sampled := unwrap(clients.Ask(t.Context(), of, tool.Question{Params: &mcp.CreateMessageWithToolsParams{MaxTokens: 9, Messages: []*mcp.SamplingMessageV2{{Role: "user", Content: []mcp.Content{&mcp.TextContent{Text: "say"}}}}}, Labels: question().Labels}))(t)
			if m, ok := sampled.(*mcp.CreateMessageWithToolsResult); !ok || len(m.Content) != 1 || m.Model != "m" {
				t.Errorf("sampled %+v", sampled)
			}
			select {
			case <-a.p.done:
				t.Error("the answer to an upstream's question ended a call that waits for a person")
			default:
			}
			if got := w.heard(); !slices.Equal(got, []string{"upstream files asks: approve?"}) {
				t.Errorf("asked %q", got)
			}
			a.p.end(gate.Reply{Status: gate.Denied, Reason: gate.DeniedByBroker})
			if out := <-ended; !out.IsError || !strings.Contains(textOfResult(out), "denied") {
				t.Errorf("told %+v", out)
			}
			if _, err := clients.Ask(t.Context(), of, question()); !errors.Is(err, errNobody) {
				t.Errorf("after the call: %v", err)
			}
		})
	}
}

// Who is not asked: another call's client, one that declared nothing, one that has no urls; and an answer that may not flow goes nowhere.
func TestQuestionsThatAreNotPut(t *testing.T) {
	r, w := newRig(t, nil), new(willing)
	s, dumb := r.client(t, w.options()), r.client(t, nil)
	for _, c := range []*mcp.ClientSession{s, dumb} {
		go func() {
			_, _ = c.CallTool(t.Context(), &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "ask"}})
		}()
		<-r.w.asked
	}
	clients, link := r.g.Clients(), question()
	link.Params = &mcp.ElicitParams{Mode: "url", Message: "m", URL: "https://a"}
	capable, other := "s1", "s2"
	if r.player(t, 0).name != "tester 1" {
		t.Fatal("the sessions have other names")
	}
	nowhere := question()
	nowhere.Labels = nil
	for name, c := range map[string]struct {
		of   tool.Caller
		q    tool.Question
		want error
	}{
		"no session": {tool.Caller{Session: "s9", Request: "r1.1"}, question(), errNobody},
		"no call":    {tool.Caller{Session: capable, Request: "r9.9"}, question(), errNobody},
		"not able":   {tool.Caller{Session: other, Request: "r2.1"}, question(), errNobody},
		"a url":      {tool.Caller{Session: capable, Request: "r1.1"}, link, errNobody},
		"no label":   {tool.Caller{Session: capable, Request: "r1.1"}, nowhere, errMayNot},
	} {
		if _, err := clients.Ask(t.Context(), c.of, c.q); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := w.heard(); len(got) > 0 {
		t.Errorf("asked %q", got)
	}
	r.player(t, 0).rise(1) // after the question, before the answer
	if out, err := clients.Ask(t.Context(), tool.Caller{Session: capable, Request: "r1.1"}, question()); !errors.Is(err, errMayNot) || out != nil {
		t.Errorf("an answer that may not flow: %v, %v", out, err)
	}
	if got := w.heard(); len(got) != 1 {
		t.Errorf("asked %q", got)
	}
}

// What is told reaches the client that waits for the call, from its level on, and its numbers grow.
func TestToldDuringACall(t *testing.T) {
	r, w := newRig(t, func(o *Options, _ *limits) { o.Tools = new(whole) }), new(willing)
	s := r.client(t, w.options())
	must(t, s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}))
	ended := make(chan error)
	go func() {
		params := &mcp.CallToolParams{Name: "fs_read", Arguments: map[string]any{"path": "hang"}}
		params.SetProgressToken("mine")
		_, err := s.CallTool(t.Context(), params)
		ended <- err
	}()
	a := <-r.w.asked
	clients, of := r.g.Clients(), tool.Caller{Session: "s1", Request: a.p.id}
	if !clients.Follows(of) || clients.Follows(tool.Caller{Session: "s9"}) {
		t.Error("who wants progress is not known")
	}
	clients.Progress(t.Context(), of, tool.Progress{Done: 0, Message: "p0"})
	clients.Log(t.Context(), of, tool.Log{Level: "info", Logger: "files", Data: []byte(`"x"`)})
	clients.Log(t.Context(), of, tool.Log{Level: "error", Logger: "files", Data: []byte(`{"a":1}`)})
	clients.Progress(t.Context(), of, tool.Progress{Done: 1, Message: "p1"})
	a.approve(`{"content":"yes"}`)
	must(t, <-ended)
	eventually(t, func() bool { return len(w.heard()) >= 3 })
	if got := w.heard(); !slices.Equal(got, []string{"p0", "error files", "p1"}) {
		t.Errorf("told %q", got)
	}
}

func TestNumbersGrow(t *testing.T) {
	var got []float64
	p := &progress{token: 1, send: func(n *mcp.ProgressNotificationParams) { got = append(got, n.Progress) }}
	p.pass(tool.Progress{Done: 0, Total: 2})
	p.beat("here")
	p.pass(tool.Progress{Done: 1, Total: 2})
	p.pass(tool.Progress{Done: 1, Total: 2})
	p.pass(tool.Progress{Done: -5})
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 5 || got[0] != 0 || got[2] != 1 {
		t.Errorf("the numbers are %v", got)
	}
}
