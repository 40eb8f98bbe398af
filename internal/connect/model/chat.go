package model

import (
	"net/http"
	"strings"
)

// hearChat reads a request of OpenAI's chat completions.
func hearChat(request map[string]value) heard {
	h := heard{stream: request["stream"] == "true", model: request["model"].text()}
	for _, tool := range request["tools"].list() {
		t := tool.object()
		if name := t["function"].object()["name"].text(); name != "" {
			h.offered = append(h.offered, name)
		} else {
			h.offered = append(h.offered, t["type"].text())
		}
	}
	var opening []string
	for _, message := range request["messages"].list() {
		m := message.object()
		switch m["role"].text() {
		case "user":
			opening = append(opening, m["content"].plain())
		case "assistant":
			h.calls += len(m["tool_calls"].list())
		case "tool":
			h.results = append(h.results, result{m["tool_call_id"].text(), m["content"].plain()})
		}
	}
	h.opening = first(opening, 3)
	return h
}

// first joins the first texts.
func first(texts []string, n int) string { return strings.Join(texts[:min(n, len(texts))], "\n") }

func sayChat(w http.ResponseWriter, h heard, t turn) {
	message, finish := form{"role": "assistant", "content": t.Text}, "stop"
	if t.Tool != "" {
		message["content"], finish = nil, "tool_calls"
		message["tool_calls"] = []form{{
			"index": 0, "id": t.id("call"), "type": "function", "function": form{"name": t.Tool, "arguments": t.arguments()},
		}}
	}
	usage := form{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	body := func(object string, choice form) form {
		choice["index"] = 0
		return form{"id": "chatcmpl-1", "object": object, "created": 0, "model": h.model, "choices": []form{choice}}
	}
	if !h.stream {
		whole := body("chat.completion", form{"message": message, "finish_reason": finish})
		whole["usage"] = usage
		writeJSON(w, whole)
		return
	}
	end := body("chat.completion.chunk", form{"delta": form{}, "finish_reason": finish})
	end["usage"] = usage
	writeEvents(w, false, []form{
		body("chat.completion.chunk", form{"delta": message, "finish_reason": nil}), end,
	}, "data: [DONE]\n\n")
}
