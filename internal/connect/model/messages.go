package model

import "net/http"

// hearMessages reads a request of Anthropic's messages.
func hearMessages(request map[string]value) heard {
	h := heard{stream: request["stream"] == "true", model: request["model"].text()}
	for _, tool := range request["tools"].list() {
		t := tool.object()
		if _, ok := t["input_schema"]; ok {
			h.offered = append(h.offered, t["name"].text())
		} else {
			h.hosted = append(h.hosted, t["name"].text())
		}
	}
	var opening []string
	for i, message := range request["messages"].list() {
		m := message.object()
		if i < 2 && m["role"].text() == "user" {
			opening = append(opening, m["content"].plain())
		}
		for _, block := range m["content"].list() {
			b := block.object()
			switch b["type"].text() {
			case "tool_use":
				h.calls++
			case "tool_result":
				h.results = append(h.results, result{b["tool_use_id"].text(), b["content"].plain()})
			}
		}
	}
	h.opening = first(opening, 2)
	return h
}

func sayMessages(w http.ResponseWriter, h heard, t turn) {
	block, empty := form{"type": "text", "text": t.Text}, form{"type": "text", "text": ""}
	delta, stop := form{"type": "text_delta", "text": t.Text}, "end_turn"
	if t.Tool != "" {
		id := t.id("toolu")
		block = form{"type": "tool_use", "id": id, "name": t.Tool, "input": t.args()}
		empty = form{"type": "tool_use", "id": id, "name": t.Tool, "input": form{}}
		delta, stop = form{"type": "input_json_delta", "partial_json": t.arguments()}, "tool_use"
	}
	usage := form{"input_tokens": 1, "output_tokens": 1}
	message := func(content []form, reason any) form {
		return form{
			"id": "msg_1", "type": "message", "role": "assistant", "model": h.model, "content": content,
			"stop_reason": reason, "stop_sequence": nil, "usage": usage,
		}
	}
	if !h.stream {
		writeJSON(w, message([]form{block}, stop))
		return
	}
	writeEvents(w, true, []form{
		{"type": "message_start", "message": message([]form{}, nil)},
		{"type": "content_block_start", "index": 0, "content_block": empty},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": form{"stop_reason": stop, "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	}, "")
}
