package model

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

const maxRepairs = 64 // of one request

// value is a JSON value in canonical form. The zero value is none: like a value
// of another kind than is asked for, it is an empty text, list and object.
type value string

func limits() canonical.Limits { return canonical.Limits{Bytes: maxBody + 1<<10, Depth: maxDepth} }

// read reads a request, and makes good what package canonical refuses and what
// does not matter to us.
func read(data []byte) (value, error) {
	data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	for n := 0; ; n++ {
		text, err := canonical.Transform(data, limits())
		if err == nil {
			return value(withoutNulls(text)), nil
		}
		var fault *canonical.Error
		if !errors.As(err, &fault) || n == maxRepairs {
			return "", err
		}
		if data = repair(data, fault, n); data == nil {
			return "", err
		}
	}
}

// repair returns the data without one fault, nil if it has no remedy.
func repair(data []byte, fault *canonical.Error, n int) []byte {
	at := int(fault.Offset)
	if at < 0 || at >= len(data) {
		return nil
	}
	before, rest := data[:at:at], data[at:]
	switch fault.Reason {
	case canonical.NumberInexact:
		rest = bytes.TrimLeft(rest, "+-.0123456789eE")
		return append(append(before, '0'), rest...)
	case canonical.DuplicateKey, canonical.CaseKey:
		if rest[0] != '"' {
			return nil
		}
		return append(fmt.Appendf(before, `"(again %d) `, n), rest[1:]...)
	case canonical.LoneSurrogate:
		if len(rest) < 6 || rest[0] != '\\' {
			return nil
		}
		return append(append(before, `\ufffd`...), rest[6:]...)
	}
	return nil
}

// withoutNulls writes false for every null of a canonical document: Parse has no
// place for it, and false is of no kind that we ask for either.
func withoutNulls(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		end := bytes.IndexByte(text, '"')
		if end < 0 {
			end = len(text)
		}
		out = append(out, bytes.ReplaceAll(text[:end], []byte("null"), []byte("false"))...)
		text = text[end:]
		n := canonical.StringLength(text)
		out, text = append(out, text[:n]...), text[n:]
	}
	return out
}

// object returns the members of an object.
func (v value) object() map[string]value {
	var raw map[string]canonical.Raw
	if !strings.HasPrefix(string(v), "{") || canonical.Parse([]byte(v), &raw, limits()) != nil {
		return nil
	}
	out := make(map[string]value, len(raw))
	for k, r := range raw {
		out[k] = value(r.String())
	}
	return out
}

// list returns the elements of an array.
func (v value) list() []value {
	var raw []canonical.Raw
	if !strings.HasPrefix(string(v), "[") || canonical.Parse([]byte(v), &raw, limits()) != nil {
		return nil
	}
	out := make([]value, len(raw))
	for i, r := range raw {
		out[i] = value(r.String())
	}
	return out
}

// text returns a string.
func (v value) text() string {
	var out string
	if !strings.HasPrefix(string(v), `"`) || canonical.Parse([]byte(v), &out, limits()) != nil {
		return ""
	}
	return out
}

// plain is what a person reads in a content: texts one after the other, and as
// JSON what is none.
func (v value) plain() string {
	if strings.HasPrefix(string(v), `"`) {
		return v.text()
	}
	if strings.HasPrefix(string(v), "[") {
		var out []string
		for _, part := range v.list() {
			out = append(out, part.plain())
		}
		return strings.Join(out, "\n")
	}
	members := v.object()
	for _, name := range []string{"text", "output", "content", "error"} {
		if inner, ok := members[name]; ok && inner != "false" {
			return inner.plain()
		}
	}
	return string(v)
}
