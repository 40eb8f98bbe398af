package model

import (
	"maps"
	"net/http"
	"slices"
)

// geminiAside satisfies what gemini-cli asks aside: who speaks next, and which
// model is to answer.
const geminiAside = `{"complexity_reasoning":"x","complexity_score":10,"model_choice":"flash","next_speaker":"user","reasoning":"x"}`

// hearGemini reads a request of Gemini's generateContent.
func hearGemini(request map[string]value) heard {
	var h heard
	for _, tool := range request["tools"].list() {
		members := tool.object()
		for _, name := range slices.Sorted(maps.Keys(members)) {
			functions := members[name].list()
			if functions == nil {
				h.hosted = append(h.hosted, name) // googleSearch and the like
			}
			for _, f := range functions {
				h.offered = append(h.offered, f.object()["name"].text())
			}
		}
	}
	var opening []string
	for i, content := range request["contents"].list() {
		c := content.object()
		role := c["role"].text()
		for _, part := range c["parts"].list() {
			p := part.object()
			switch {
			case p["functionCall"] != "" && role == "model":
				h.calls++
			case p["functionResponse"] != "":
				r := p["functionResponse"].object()
				h.results = append(h.results, result{r["id"].text(), r["response"].plain()})
			case i < 2 && role != "model":
				opening = append(opening, p["text"].plain())
			}
		}
	}
	h.opening = first(opening, len(opening))
	return h
}

func sayGemini(w http.ResponseWriter, h heard, t turn) {
	part := form{"text": t.Text}
	if t.Tool != "" {
		part = form{"functionCall": form{"name": t.Tool, "args": t.args()}}
	}
	body := form{
		"candidates": []form{{
			"content": form{"role": "model", "parts": []form{part}}, "finishReason": "STOP", "index": 0,
		}},
		"usageMetadata": form{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  "scripted",
	}
	if h.stream {
		writeEvents(w, false, []form{body}, "")
		return
	}
	writeJSON(w, body)
}
