package model

import "net/http"

// hearResponses reads a request of OpenAI's responses.
func hearResponses(request map[string]value) heard {
	h := heard{stream: request["stream"] == "true", model: request["model"].text(), opening: request["input"].text()}
	for _, tool := range request["tools"].list() {
		h.offered = append(h.offered, responsesTool(tool.object())...)
	}
	var opening []string
	for _, item := range request["input"].list() {
		m := item.object()
		switch m["type"].text() {
		case "function_call", "custom_tool_call":
			h.calls++
		case "function_call_output", "custom_tool_call_output":
			h.results = append(h.results, result{m["call_id"].text(), m["output"].plain()})
		case "message", "":
			if m["role"].text() == "user" {
				opening = append(opening, m["content"].plain())
			}
		}
	}
	h.opening += first(opening, 3)
	return h
}

// responsesTool names the tools of one entry.
func responsesTool(t map[string]value) []string {
	name, kind := t["name"].text(), t["type"].text()
	if kind == "namespace" {
		var out []string
		for _, inner := range t["tools"].list() {
			out = append(out, name+"/"+inner.object()["name"].text())
		}
		return out
	}
	if name == "" {
		name = kind
	}
	return []string{name}
}

func sayResponses(w http.ResponseWriter, h heard, t turn) {
	item, parts := responsesItem(t)
	response := func(status string) form {
		return form{"id": "resp_1", "object": "response", "created_at": 0, "model": h.model, "status": status, "output": []form{}}
	}
	whole := response("completed")
	whole["output"] = []form{item}
	whole["usage"] = form{
		"input_tokens": 1, "input_tokens_details": form{"cached_tokens": 0},
		"output_tokens": 1, "output_tokens_details": form{"reasoning_tokens": 0}, "total_tokens": 2,
	}
	if !h.stream {
		writeJSON(w, whole)
		return
	}
	events := []form{
		{"type": "response.created", "response": response("in_progress")},
		{"type": "response.output_item.added", "item": begun(item)},
	}
	for _, p := range parts {
		p["item_id"] = item["id"]
		events = append(events, p)
	}
	events = append(events,
		form{"type": "response.output_item.done", "item": item}, form{"type": "response.completed", "response": whole})
	for i, e := range events {
		e["sequence_number"] = i
		if e["response"] == nil {
			e["output_index"] = 0
		}
	}
	writeEvents(w, true, events, "")
}

// responsesItem is the item of a turn, and the events that bring its content.
func responsesItem(t turn) (form, []form) {
	if t.Tool == "" {
		part := form{"type": "output_text", "text": t.Text, "annotations": []form{}}
		return form{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []form{part}}, []form{
			{"type": "response.content_part.added", "content_index": 0, "part": form{"type": "output_text", "text": "", "annotations": []form{}}},
			{"type": "response.output_text.delta", "content_index": 0, "delta": t.Text},
			{"type": "response.output_text.done", "content_index": 0, "text": t.Text},
			{"type": "response.content_part.done", "content_index": 0, "part": part},
		}
	}
	item := form{"type": "function_call", "id": t.id("fc"), "call_id": t.id("call"), "name": t.Tool, "status": "completed"}
	if t.Namespace != "" {
		item["namespace"] = t.Namespace
	}
	kind, member, content := "response.function_call_arguments", "arguments", t.arguments()
	if t.Input != "" {
		item["type"], kind, member, content = "custom_tool_call", "response.custom_tool_call_input", "input", t.Input
	}
	item[member] = content
	return item, []form{{"type": kind + ".delta", "delta": content}, {"type": kind + ".done", member: content}}
}

// begun is an item before its content.
func begun(item form) form {
	out := form{}
	for k, v := range item {
		out[k] = v
	}
	out["status"] = "in_progress"
	for _, member := range []string{"arguments", "input"} {
		if _, ok := out[member]; ok {
			out[member] = ""
		}
	}
	if _, ok := out["content"]; ok {
		out["content"] = []form{}
	}
	return out
}
