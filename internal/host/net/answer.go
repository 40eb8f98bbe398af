package net

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	maxTold = 2 << 10 // bytes of one header that are told
	maxText = 6 << 20 // bytes that a text may take in JSON
)

// answer is what the agent is told.
type answer struct {
	Status    int               `json:"status"`
	FinalURL  string            `json:"finalUrl"`
	Headers   map[string]string `json:"headers"`
	Content   *string           `json:"content,omitempty"`
	Base64    *string           `json:"base64,omitempty"`
	Truncated bool              `json:"truncated,omitzero"`
	Note      string            `json:"note,omitzero"`

	size int
}

// names are the headers that are told, in small letters.
var names = []string{
	"allow", "cache-control", "content-encoding", "content-language", "content-type", "date", "etag", "last-modified", "link",
	"location", "retry-after", "www-authenticate",
}

func told(h http.Header) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if all := h.Values(name); len(all) > 0 {
			value := strings.Join(all, ", ")
			out[name] = strings.ToValidUTF8(value[:min(len(value), maxTold)], "\ufffd")
		}
	}
	return out
}

// fill tells the body as text where it is text and fits. What was cut in the
// middle of a character loses the character.
func (a *answer) fill(data []byte) {
	a.size = len(data)
	text := data
	if a.Truncated {
		text = whole(text)
	}
	if utf8.Valid(text) && written(text) <= maxText {
		s := string(text)
		a.Content = &s
		return
	}
	s := base64.StdEncoding.EncodeToString(data)
	a.Base64 = &s
}

// whole is text without the beginning of a character at its end.
func whole(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// written is how many bytes a text takes in JSON, at most.
func written(text []byte) int {
	n := len(text)
	for _, c := range text {
		switch {
		case c == '\n' || c == '\t' || c == '\r' || c == '"' || c == '\\':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}
