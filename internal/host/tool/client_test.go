package tool

//lint:file-ignore SA1019 versions of MCP that iff speaks have what newer ones deprecate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/gate"
)

// audience is the clients of all sessions, and notes what they are told.
type audience struct {
	mu     sync.Mutex
	told   []string
	deaf   bool // wants no progress
	answer mcp.Result
	err    error
}

func (a *audience) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, fmt.Sprintf(format, args...))
}

func (a *audience) heard() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told)
}

func (a *audience) Follows(Caller) bool { return !a.deaf }

func (a *audience) Progress(_ context.Context, of Caller, p Progress) {
	a.note("%s %v/%v %s", of.Request, p.Done, p.Total, p.Message)
}

func (a *audience) Log(_ context.Context, of Caller, l Log) {
	a.note("%s %s %s %s", of.Request, l.Level, l.Logger, l.Data)
}

func (a *audience) Ask(_ context.Context, of Caller, q Question) (mcp.Result, error) {
	data, err := json.Marshal(q.Params)
	a.note("%s %s %s %d %v", of.Request, q.Server, data, len(q.Labels), err)
	return a.answer, a.err
}

// as has a call done for a session.
func (w *world) as(session, request, tool, args string) (gate.Result, error) {
	return w.h.do(w.Context(), gate.Order{Phase: gate.Execute, Session: session, Request: request, Envelope: w.call(tool, args)})
}

// What an upstream says during a call reaches the client of that call, in order and before the answer, and no other.
func TestSaidDuringACall(t *testing.T) {
	w := newWorld(t, nil, upstreamOf(t, "fake", "plain"))
	a := &audience{}
	w.h.Attach(a)
	if _, err := w.as("s1", "r1", "report", `{}`); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`r1 0/2 at [31m0`, `r1 info fake/l {"n":0,"t":"ab"}`, `r1 1/2 at [31m1`, `r1 info fake/l {"n":1,"t":"ab"}`, `r1 2/2 at [31m2`, `r1 info fake/l {"n":2,"t":"ab"}`,
	}
	if got := a.heard(); !slices.Equal(got, want) {
		t.Errorf("told\n%s", strings.Join(got, "\n"))
	}
	a = &audience{deaf: true}
	w.h.Attach(a)
	if _, err := w.as("s1", "r2", "report", `{}`); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(a.heard(), "\n"); strings.Contains(got, "/2") || strings.Count(got, "info") != 3 {
		t.Errorf("who wants no progress is told\n%s", got)
	}
}

// naive is who tells everything to the latest call.
func naive(s *screen) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	var latest *flight
	for _, f := range s.flights {
		if f.talk != nil && (latest == nil || f.number > latest.number) {
			latest = f
		}
	}
	return latest
}

// While calls of two sessions are under way, neither is told what is logged, and neither is asked. A call that was not answered in time
// still is one.
func TestNothingBetweenSessions(t *testing.T) {
	up := upstreamOf(t, "fake", "plain")
	up.Relay = []string{RelayElicitation}
	w := newWorld(t, nil, up)
	a := &audience{answer: &mcp.ElicitResult{Action: "accept"}}
	w.h.Attach(a)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stalled := make(chan struct{})
	env := w.call("stall", `{}`)
	go func() {
		defer close(stalled)
		_, _ = w.h.do(ctx, gate.Order{Phase: gate.Execute, Session: "s2", Request: "r1", Envelope: env})
	}()
	s := &w.h.upstreams["fake"].current().screen
	for s.sole() == nil { // until it is under way
		time.Sleep(time.Millisecond)
	}
	if f := s.sole(); f.talk.caller.Session != "s2" {
		t.Errorf("the only session is %s", f.talk.caller.Session)
	}
	question := `{"method":"elicitation/create","params":"{\"message\":\"who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"}`
	for _, gone := range []bool{false, true} {
		if gone {
			cancel()
			<-stalled
		}
		if _, err := w.as("s1", "r2", "report", `{}`); err != nil {
			t.Fatal(err)
		}
		r, err := w.as("s1", "r3", "question", question)
		if err != nil || !strings.Contains(string(r.Data), "decline") || r.Detail != "" {
			t.Errorf("told %s (%s), %v", r.Data, r.Detail, err)
		}
		if naive(s) == nil {
			t.Error("the planted bug tells nobody")
		}
		if got := strings.Join(a.heard(), "\n"); strings.Contains(got, "info") || strings.Contains(got, "who?") || !strings.Contains(got, "r2 1/2") {
			t.Errorf("while another session's call is under way, or was (%v), one is told\n%s", gone, got)
		}
	}
}

func TestQuestions(t *testing.T) {
	form := `{\"message\":\"who\\u001b[2J?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"title\":\"x\\u202ey\"}}}}`
	prompt := `{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"say\"}}],\"maxTokens\":9,\"includeContext\":\"allServers\",\"metadata\":{\"a\":1}}`
	for name, c := range map[string]struct {
		relay          []string
		method, params string
		err            error
		answer         mcp.Result
		shown, told    string
	}{
		"elicitation":           {[]string{"elicitation"}, "elicitation/create", form, nil, &mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": "b"}}, `"message":"upstream fake asks: who[2J?"`, `\"a\":\"b\"`},
		"its schema":            {[]string{"elicitation"}, "elicitation/create", form, nil, &mcp.ElicitResult{Action: "cancel"}, `"title":"xy"`, "cancel"},
		"declined":              {[]string{"elicitation"}, "elicitation/create", form, context.Canceled, nil, "who", "decline"},
		"not declared":          {[]string{"sampling"}, "elicitation/create", form, nil, nil, "", "-32601"},
		"a form with a url":     {[]string{"elicitation"}, "elicitation/create", `{\"message\":\"m\",\"url\":\"https://a\"}`, nil, nil, "", "-32602"},
		"a url of lines":        {[]string{"elicitation"}, "elicitation/create", `{\"mode\":\"url\",\"message\":\"m\",\"url\":\"https://a\\u0000b\"}`, nil, nil, "", "-32602"},
		"sampling":              {[]string{"sampling"}, "sampling/createMessage", prompt, nil, &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "m", Content: []mcp.Content{&mcp.TextContent{Text: "hi"}}}, `"text":"upstream fake asks: say"`, "hi"},
		"sampling declined":     {[]string{"sampling"}, "sampling/createMessage", prompt, context.Canceled, nil, "say", "declined"},
		"sampling not declared": {nil, "sampling/createMessage", prompt, nil, nil, "", "-32601"},
		"sampling with tools":   {[]string{"sampling"}, "sampling/createMessage", `{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"say\"}}],\"maxTokens\":9,\"tools\":[{\"name\":\"a\",\"inputSchema\":{}}]}`, nil, nil, "", "-32602"},
		"roots":                 {[]string{"sampling", "elicitation"}, "roots/list", `{}`, nil, nil, "", "-32601"},
	} {
		t.Run(name, func(t *testing.T) {
			up := upstreamOf(t, "fake", "plain")
			up.Relay = c.relay
			w := newWorld(t, nil, up)
			a := &audience{answer: c.answer, err: c.err}
			w.h.Attach(a)
			r, err := w.as("s1", "r1", "question", `{"method":"`+c.method+`","params":"`+c.params+`"}`)
			if err != nil || !strings.Contains(string(r.Data), c.told) {
				t.Errorf("the upstream is told %s, %v", r.Data, err)
			}
			got := strings.Join(a.heard(), "\n")
			if !strings.Contains(got, c.shown) || (got == "") != (c.shown == "") {
				t.Errorf("the client is asked %q", got)
			}
			if strings.Contains(got, "includeContext") || strings.Contains(got, "metadata") {
				t.Errorf("passed on: %s", got)
			}
			if asked := r.Detail == "questions put to the client: 1"; asked != (c.shown != "") {
				t.Errorf("the record says %q", r.Detail)
			}
		})
	}
}
