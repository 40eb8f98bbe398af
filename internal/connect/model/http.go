package model

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// form is any JSON object that is written.
type form map[string]any

// dialect is how one provider's API is spoken.
type dialect struct {
	hear func(request map[string]value) heard
	say  func(w http.ResponseWriter, h heard, t turn)
	// aside answers what offers no tools.
	aside string
}

// ServeHTTP implements [http.Handler].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	note := Request{Method: r.Method, Path: r.URL.Path, Who: Aux}
	body, status := io.Reader(nil), 0
	if body, status, note.Refused = e.admit(w, r); status != 0 {
		e.refuse(w, note, status)
		return
	}
	data, err := io.ReadAll(body)
	request := value("{}")
	if err == nil && len(data) > 0 {
		request, err = read(data)
	}
	if err != nil {
		note.Refused = err.Error()
		e.refuse(w, note, statusOf(err))
		return
	}
	note.Body = string(request)
	d, stream, ok := dialectOf(r.URL.Path)
	if r.Method != http.MethodPost || !ok {
		e.note(note)
		writeJSON(w, fixed(r))
		return
	}
	h := d.hear(request.object())
	h.stream = h.stream || stream
	if len(h.offered) > 0 { // else an agent's tool has asked to search the web, say
		h.offered = append(h.offered, h.hosted...)
	}
	note.Offered, note.Opening = h.offered, h.opening
	t := e.answer(note, d, h)
	select {
	case <-time.After(t.Delay):
		d.say(w, h, t)
	case <-r.Context().Done():
		panic(http.ErrAbortHandler) // no answer is better than an empty one
	}
}

// answer chooses what is said to a question to a model.
func (e *Endpoint) answer(note Request, d dialect, h heard) turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := turn{who: Aux, Step: Step{Text: d.aside}}
	if len(h.offered) > 0 {
		t = e.state.next(h)
	}
	note.Who, note.Step = t.who, t.step
	e.state.note(note)
	return t
}

// admit says whether the body is read at all.
func (e *Endpoint) admit(w http.ResponseWriter, r *http.Request) (io.Reader, int, string) {
	e.mu.Lock()
	full := e.state.full()
	e.mu.Unlock()
	if full {
		return nil, http.StatusServiceUnavailable, "too many requests"
	}
	if c := r.Header.Get("Content-Encoding"); c != "" && c != "identity" {
		return nil, http.StatusUnsupportedMediaType, "the body is compressed"
	}
	return http.MaxBytesReader(w, r.Body, maxBody), 0, ""
}

func statusOf(err error) int {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

func (e *Endpoint) note(r Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.state.full() {
		e.state.note(r)
	}
}

func (e *Endpoint) refuse(w http.ResponseWriter, r Request, status int) {
	e.note(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	data, _ := json.Marshal(form{"error": form{"type": "invalid_request_error", "message": r.Refused}}) // strings can be written
	_, _ = w.Write(data)
}

// dialectOf chooses by the path.
func dialectOf(path string) (d dialect, stream, ok bool) {
	for _, c := range []struct {
		ending string
		dialect
		stream bool
	}{
		{"/chat/completions", dialect{hearChat, sayChat, "title"}, false},
		{"/responses", dialect{hearResponses, sayResponses, "title"}, false},
		{"/messages", dialect{hearMessages, sayMessages, "title"}, false},
		{":generateContent", dialect{hearGemini, sayGemini, geminiAside}, false},
		{":streamGenerateContent", dialect{hearGemini, sayGemini, geminiAside}, true},
	} {
		if strings.HasSuffix(path, c.ending) {
			return c.dialect, c.stream, true
		}
	}
	return dialect{}, false, false
}

// fixed answers what is no question to a model.
func fixed(r *http.Request) form {
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		return form{"input_tokens": 10}
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		return form{"totalTokens": 10}
	case r.Method == http.MethodPost:
		return form{}
	}
	return form{"object": "list", "data": []form{{"id": "scripted", "object": "model"}}, "models": []form{}}
}

// writeJSON answers in one piece.
func writeJSON(w http.ResponseWriter, body form) {
	data, err := json.Marshal(body)
	if err != nil { // an argument of a step that is no JSON
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // an agent that has gone is no concern of ours
}

// writeEvents answers as server-sent events; an event with a type is named by it.
func writeEvents(w http.ResponseWriter, named bool, events []form, tail string) {
	var out []byte
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if name, ok := e["type"].(string); named && ok {
			out = append(out, "event: "+name+"\n"...)
		}
		out = append(append(append(out, "data: "...), data...), "\n\n"...)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(append(out, tail...))
}

// arguments is a step's Args as JSON text.
func (s Step) arguments() string {
	data, err := json.Marshal(s.args())
	if err != nil {
		return "{}"
	}
	return string(data)
}

func (s Step) args() map[string]any {
	if s.Args == nil {
		return map[string]any{}
	}
	return s.Args
}
