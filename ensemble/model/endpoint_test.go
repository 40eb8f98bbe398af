package model_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/iff-run/iff/ensemble/model"
)

// act is what a scripted endpoint does with one request.
type act struct {
	tool, args string // a call; args is JSON
	more       int    // calls of the same beside it
	text       string // in place of a call
	refusal    bool
	status     int // in place of an answer
	raw, kind  string
}

// endpoint answers with its script, and looks at requests as real ones do. After
// the script it says that all is done.
type endpoint struct {
	t       *testing.T
	dialect model.Dialect
	script  []act
	*httptest.Server

	mu      sync.Mutex
	bodies  []string
	headers []http.Header
}

func serve(t *testing.T, d model.Dialect, script []act) *endpoint {
	e := &endpoint{t: t, dialect: d, script: script}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.bodies...)
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e.t.Error(err)
	}
	e.mu.Lock()
	n := len(e.bodies)
	e.bodies, e.headers = append(e.bodies, string(body)), append(e.headers, r.Header.Clone())
	e.mu.Unlock()
	a := act{text: "All is done."}
	if n < len(e.script) {
		a = e.script[n]
	}
	if a.status != 0 || a.raw != "" {
		w.Header().Set("Content-Type", a.kind)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(max(a.status, 200))
		fmt.Fprint(w, a.raw)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if e.dialect == model.Chat {
		err = e.chat(r, body)
		fmt.Fprint(w, sayChat(n, a))
	} else {
		err = e.messages(r, body)
		fmt.Fprint(w, sayMessages(n, a))
	}
	if err != nil {
		e.t.Errorf("request %d: %v\n%s", n, err, body)
	}
}

// chat holds a request against what such endpoints insist on.
func (e *endpoint) chat(r *http.Request, body []byte) error {
	var q struct {
		Model    string
		Messages []struct {
			Role, Content string
			Calls         []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			CallID string `json:"tool_call_id"`
		}
		Tools []struct {
			Type     string
			Function struct {
				Name       string
				Parameters map[string]any
			}
		}
		Temperature *float64
		Stream      bool
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if r.Method != "POST" || r.URL.Path != "/v1/chat/completions" || q.Model == "" || q.Stream || len(q.Tools) != 7 || q.Temperature == nil || *q.Temperature != 0 {
		return fmt.Errorf("%s %s, %d tools, temperature %v", r.Method, r.URL, len(q.Tools), q.Temperature)
	}
	role, id := "", ""
	for i, m := range q.Messages {
		want := map[string]string{"": "system", "system": "user", "user": "assistant", "tool": "assistant", "assistant": "user"}[role]
		if id != "" {
			want = "tool"
		}
		if m.Role != want || m.CallID != id || m.Role != "assistant" && m.Content == "" {
			return fmt.Errorf("message %d is of %s for %q", i, m.Role, m.CallID)
		}
		role, id = m.Role, ""
		for _, c := range m.Calls {
			id = c.ID
			if len(c.ID) != 9 || c.Type != "function" || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("message %d: call %+v", i, c)
			}
		}
	}
	if role == "assistant" {
		return fmt.Errorf("the last message is the model's own")
	}
	return nil
}

// messages does so for the other dialect.
func (e *endpoint) messages(r *http.Request, body []byte) error {
	var q struct {
		Model, System string
		MaxTokens     int `json:"max_tokens"`
		Messages      []struct {
			Role    string
			Content []struct {
				Type, Text, ID, Name string
				Input                map[string]any
				UseID                string `json:"tool_use_id"`
				Content              string
			}
		}
		Tools []struct {
			Name   string
			Schema map[string]any `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if r.URL.Path != "/v1/messages" || r.Header.Get("Anthropic-Version") == "" || q.MaxTokens == 0 || q.System == "" || len(q.Tools) != 7 || len(q.Messages)%2 == 0 {
		return fmt.Errorf("%s, max_tokens %d, %d tools, %d messages", r.URL, q.MaxTokens, len(q.Tools), len(q.Messages))
	}
	id := ""
	for i, m := range q.Messages {
		if m.Role != []string{"user", "assistant"}[i%2] || len(m.Content) != 1 {
			return fmt.Errorf("message %d is of %s", i, m.Role)
		}
		b := m.Content[0]
		if b.UseID != id || b.Type == "text" && b.Text == "" || b.Type == "tool_use" && (b.ID == "" || b.Input == nil) {
			return fmt.Errorf("message %d: %+v", i, b)
		}
		id = b.ID
	}
	return nil
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // strings can be written
	return string(data)
}

func sayChat(n int, a act) string {
	message, finish := `{"role":"assistant","content":`+quoted(a.text)+`,"refusal":null,"annotations":[]}`, "stop"
	if a.refusal {
		message = `{"role":"assistant","content":null,"refusal":"I can't help with that."}`
	}
	if a.tool != "" {
		call := fmt.Sprintf(`{"id":"call_%04d","index":0,"type":"function","function":{"name":%s,"arguments":%s}}`, n, quoted(a.tool), quoted(a.args))
		message = `{"role":"assistant","content":null,"tool_calls":[` + strings.Repeat(call+",", a.more) + call + `]}`
		finish = "tool_calls"
	}
	return fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion","created":1700000000,"model":"m","system_fingerprint":null,
"choices":[{"index":0,"message":%s,"logprobs":null,"finish_reason":%q}],
"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120},"timings":{"predicted_per_second":51.273364130000000001,"cache_n":-0.0}}`, n, message, finish)
}

func sayMessages(n int, a act) string {
	content, stop := `{"type":"text","text":`+quoted(a.text)+`}`, "end_turn"
	if a.refusal {
		content, stop = `{"type":"text","text":"I can't help with that."}`, "refusal"
	}
	if a.tool != "" {
		call := fmt.Sprintf(`{"type":"tool_use","id":"toolu_%04d","name":%s,"input":%s}`, n, quoted(a.tool), a.args)
		content, stop = `{"type":"text","text":"Let me see."},`+strings.Repeat(call+",", a.more)+call, "tool_use"
	}
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%q,"stop_sequence":null,
"usage":{"input_tokens":100,"output_tokens":20,"cache_read_input_tokens":null}}`, n, content, stop)
}
