package model

import (
	"net/http"

	"github.com/iff-run/iff/internal/canonical"
)

// messages is Anthropic's messages.
type messages struct{}

type (
	messagesRequest struct {
		Model       string            `json:"model"`
		System      string            `json:"system"`
		Messages    []messagesMessage `json:"messages"`
		Tools       []messagesTool    `json:"tools"`
		MaxTokens   int               `json:"max_tokens"`
		Temperature *int              `json:"temperature,omitempty"`
	}
	messagesMessage struct {
		Role    string          `json:"role"`
		Content []messagesBlock `json:"content"`
	}
	messagesBlock struct {
		Type    string        `json:"type"`
		Text    string        `json:"text,omitzero"`
		ID      string        `json:"id,omitzero"`
		Name    string        `json:"name,omitzero"`
		Input   canonical.Raw `json:"input,omitzero"`
		UseID   string        `json:"tool_use_id,omitzero"`
		Content string        `json:"content,omitzero"`
		IsError bool          `json:"is_error,omitzero"`
	}
	messagesTool struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		InputSchema schema `json:"input_schema"`
	}
)

// messagesVersion is that of the API.
const messagesVersion = "2023-06-01"

func (messages) path() string { return "/messages" }

func (messages) sign(h http.Header, key string) {
	h.Set("Anthropic-Version", messagesVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (messages) ask(o Options, k *talk) ([]byte, error) {
	say := func(role string, b messagesBlock) messagesMessage { return messagesMessage{role, []messagesBlock{b}} }
	r := messagesRequest{Model: o.Model, System: k.system, MaxTokens: maxTokens}
	if o.Sampling == Fixed {
		r.Temperature = new(int)
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, messagesTool{t.name, t.about, t.schema()})
	}
	r.Messages = append(r.Messages, say("user", messagesBlock{Type: "text", Text: k.opening}))
	for _, e := range k.past {
		if e.id == "" {
			r.Messages = append(r.Messages, say("assistant", messagesBlock{Type: "text", Text: e.said}), say("user", messagesBlock{Type: "text", Text: e.reply}))
			continue
		}
		r.Messages = append(r.Messages,
			say("assistant", messagesBlock{Type: "tool_use", ID: e.id, Name: e.tool, Input: e.args}),
			say("user", messagesBlock{Type: "tool_result", UseID: e.id, Content: e.reply, IsError: e.bad}))
	}
	return canonical.Marshal(r)
}

func (messages) hear(v value) (heard, error) {
	if !v.isObject() || v.get("type").text() == "error" {
		return heard{}, faultOf(v)
	}
	blocks, ok := v.get("content").list()
	if !ok {
		return heard{}, refuse(Malformed, nil, "the response has no content")
	}
	if v.get("stop_reason").text() == "refusal" {
		return heard{}, refuse(Declined, nil, "the model would not")
	}
	var h heard
	for block := range blocks {
		if !block.isObject() {
			return heard{}, refuse(Malformed, nil, "the response has a block that is none")
		}
		if block.get("type").text() == "tool_use" {
			h.add(func() (string, []byte) { return block.get("name").text(), []byte(block.get("input")) })
		}
	}
	return h, nil
}
