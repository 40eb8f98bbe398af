package model

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// chat is a request of the chat dialect with a history of so many calls, by ids
// that are the agent's own.
func chat(user string, calls int) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, `{"messages":[{"role":"user","content":%q}`, user)
	for i := range calls {
		fmt.Fprintf(&out, `,{"role":"assistant","content":null,"tool_calls":[{"id":"own%d"}]},{"role":"tool","tool_call_id":"own%d","content":"result %d"}`, i, i, i)
	}
	return []byte(out.String() + `],"tools":[{"type":"function","function":{"name":"t"}}]}`)
}

const chatPath = "/chat/completions"

func says(t *testing.T, e *Endpoint, body []byte, want string) {
	t.Helper()
	if _, got := post(t, e, chatPath, body); !strings.Contains(got, `"content":"`+want+`"`) {
		t.Errorf("%s, want %q", got, want)
	}
}

// TestConversations: a sub-agent has its own script, and its own count.
func TestConversations(t *testing.T) {
	e := start(t, Script{Main: []Step{{Text: "m0"}, {Text: "m1"}}, Sub: []Step{{Text: "s0"}}})
	says(t, e, chat("task", 0), "m0")
	says(t, e, chat("task "+SubMark, 0), "s0")
	says(t, e, chat("task", 1), "m1")
	says(t, e, chat("task "+SubMark, 1), Done)
	says(t, e, chat("task", 2), Done)
	if got, want := e.Results(), []string{"result 0", "result 1"}; !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

// TestRepeats: a request sent again has the same answer; an agent that does not
// get on is helped over the step, and results are those of the steps played.
func TestRepeats(t *testing.T) {
	e := start(t, Script{Main: []Step{{Text: "m0"}, {Text: "m1"}, {Text: "m2"}}})
	for range maxRepeats {
		says(t, e, chat("task", 0), "m0")
	}
	says(t, e, chat("task", 0), "m1")
	says(t, e, chat("task", 1), "m2")
	if got, want := e.Results(), []string{"", "result 0", ""}; !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

func TestAmong(t *testing.T) {
	offered := []string{"read", "mcp__iff__fs_read", "ns/fs_list"}
	for _, c := range []struct{ tool, space, want string }{
		{"read", "", "read"}, {"*fs_read", "", "mcp__iff__fs_read"}, {"*fs_list", "ns", "fs_list"}, {"*none", "", "none"}, {"absent", "", "absent"},
	} {
		if s := (Step{Tool: c.tool}).among(offered); s.Tool != c.want || s.Namespace != c.space {
			t.Errorf("%s became %s in %q", c.tool, s.Tool, s.Namespace)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, step := range []int{0, 7, 9999, 123456} {
		if got, ok := stepOf(turn{who: Main, step: step}.id("call")); !ok || got != step {
			t.Errorf("step %d is read as %d, %v", step, got, ok)
		}
	}
	for _, id := range []string{"", "call_sub_0001", "own1", "x_main_", "x_main_-1", "x_main_99999999999999999999"} {
		if got, ok := stepOf(id); ok {
			t.Errorf("%q is step %d", id, got)
		}
	}
}

// TestRefused: what cannot be read is answered so, and noted.
func TestRefused(t *testing.T) {
	e := start(t, Script{})
	send := func(body, encoding string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.URL()+chatPath, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Encoding", encoding)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		return got.StatusCode
	}
	for _, c := range []struct {
		body, encoding string
		want           int
	}{
		{`{"messages":`, "", http.StatusBadRequest},
		{`{} {}`, "", http.StatusBadRequest},
		{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "", http.StatusBadRequest},
		{`{"a":"` + strings.Repeat("x", maxBody) + `"}`, "", http.StatusRequestEntityTooLarge},
		{`{}`, "zstd", http.StatusUnsupportedMediaType},
		{`[]`, "identity", http.StatusOK},
	} {
		if got := send(c.body, c.encoding); got != c.want {
			t.Errorf("%.20s: status %d, want %d", c.body, got, c.want)
		}
	}
	for i, r := range e.Requests() {
		if (r.Refused == "") != (i == 5) {
			t.Errorf("request %d: refused %q", i, r.Refused)
		}
	}
}

// TestFull: no more than so many requests are answered or noted.
func TestFull(t *testing.T) {
	e := start(t, Script{})
	for range maxRequests {
		e.note(Request{})
	}
	if status, _ := post(t, e, chatPath, []byte(`{}`)); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	if n := len(e.Requests()); n != maxRequests {
		t.Errorf("%d requests", n)
	}
}

// TestKept: the requests that are kept have an end.
func TestKept(t *testing.T) {
	var n notes
	n.note(Request{Body: strings.Repeat("x", maxKept)})
	n.note(Request{Body: "y", Opening: "z"})
	if n.requests[0].Body == "" || n.requests[1].Body != "" || n.requests[1].Opening != "" {
		t.Error("bodies are kept beyond the bound, or not up to it")
	}
}

// TestClose ends an answer that takes long, waits for it, and can be repeated.
func TestClose(t *testing.T) {
	for _, by := range []string{"close", "context"} {
		ctx, cancel := context.WithCancel(t.Context())
		e, err := Start(ctx, Script{Main: []Step{{Text: "late", Delay: time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			r, err := http.Post(e.URL()+chatPath, "application/json", strings.NewReader(string(chat("x", 0))))
			if err == nil {
				_ = r.Body.Close()
			}
			failed <- err
		}()
		for len(e.Requests()) == 0 {
			time.Sleep(time.Millisecond)
		}
		if by == "context" {
			cancel()
		}
		if err := e.Close(); err != nil && by == "close" {
			t.Error(err)
		}
		if <-failed == nil {
			t.Error("an answer came after all")
		}
		_ = e.Close()
		cancel()
		if e.Offered() == nil {
			t.Error("what was noted is gone")
		}
	}
}
