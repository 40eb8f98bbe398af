package model

import (
	"net/http"

	"github.com/iff-run/iff/internal/canonical"
)

// chat is OpenAI's chat completions, as Ollama, vLLM, llama.cpp and hosted services
// speak them.
type chat struct{}

type (
	chatRequest struct {
		Model       string        `json:"model"`
		Messages    []chatMessage `json:"messages"`
		Tools       []chatTool    `json:"tools"`
		ToolChoice  string        `json:"tool_choice"`
		Stream      bool          `json:"stream"`
		Temperature *int          `json:"temperature,omitempty"`
		Seed        *uint64       `json:"seed,omitempty"`
		MaxTokens   int           `json:"max_tokens,omitzero"`
	}
	chatMessage struct {
		Role    string     `json:"role"`
		Content string     `json:"content"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
		CallID  string     `json:"tool_call_id,omitzero"`
	}
	chatCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON in a string
	}
	chatTool struct {
		Type     string         `json:"type"`
		Function chatDefinition `json:"function"`
	}
	chatDefinition struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  schema `json:"parameters"`
	}
)

func (chat) path() string { return "/chat/completions" }

func (chat) sign(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (chat) ask(o Options, k *talk) ([]byte, error) {
	r := chatRequest{Model: o.Model, ToolChoice: "auto", Messages: []chatMessage{{Role: "system", Content: k.system}, {Role: "user", Content: k.opening}}}
	if o.Sampling == Fixed {
		r.Temperature, r.MaxTokens = new(int), maxTokens
	}
	if o.Seed != 0 {
		seed := o.Seed % (1 << 31)
		r.Seed = &seed
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, chatTool{"function", chatDefinition{t.name, t.about, t.schema()}})
	}
	for _, e := range k.past {
		if e.id == "" {
			r.Messages = append(r.Messages, chatMessage{Role: "assistant", Content: e.said}, chatMessage{Role: "user", Content: e.reply})
			continue
		}
		call := chatCall{e.id, "function", chatFunction{e.tool, e.args.String()}}
		r.Messages = append(r.Messages, chatMessage{Role: "assistant", Calls: []chatCall{call}}, chatMessage{Role: "tool", Content: e.reply, CallID: e.id})
	}
	return canonical.Marshal(r)
}

func (chat) hear(v value) (heard, error) {
	if !v.isObject() || v.get("error").isObject() {
		return heard{}, faultOf(v)
	}
	choices, ok := v.get("choices").list()
	if !ok {
		return heard{}, refuse(Malformed, nil, "the response has no choices")
	}
	var choice value
	for choice = range choices {
		break
	}
	message := choice.get("message")
	if !message.isObject() {
		return heard{}, refuse(Malformed, nil, "the response has no message")
	}
	if message.get("refusal").isText() || choice.get("finish_reason").text() == "content_filter" {
		return heard{}, refuse(Declined, nil, "the model would not")
	}
	var h heard
	calls, _ := message.get("tool_calls").list() // null where there are none
	for call := range calls {
		h.add(func() (string, []byte) {
			f := call.get("function")
			args := f.get("arguments")
			if args.isText() { // JSON in a string; some send it as it is
				args = value(args.text())
			}
			if args == "" { // some leave it so where there are none
				args = "{}"
			}
			return f.get("name").text(), []byte(args)
		})
	}
	return h, nil
}
