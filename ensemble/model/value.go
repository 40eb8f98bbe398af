package model

import (
	"bytes"
	"errors"
	"iter"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

const (
	maxAnswer  = 4 << 20 // bytes of a response
	maxDepth   = 64      // of its JSON
	maxRepairs = 8
)

func limits() canonical.Limits { return canonical.Limits{Bytes: maxAnswer, Depth: maxDepth} }

// value is JSON in canonical form. Responses have members that we do not know and
// nulls, so they are not read into Go types. The zero value, like a value of
// another kind than is asked for, is an empty text, list and object.
type value string

// read checks a response. Numbers that a float64 does not hold are none of ours
// (servers tell how fast they were): they are read as 0.
func read(data []byte) (value, error) {
	for n := 0; ; n++ {
		text, err := canonical.Transform(data, limits())
		if err == nil {
			return value(text), nil
		}
		var c *canonical.Error
		if !errors.As(err, &c) || c.Reason != canonical.NumberInexact || n == maxRepairs || c.Offset < 0 || c.Offset >= int64(len(data)) {
			return "", fault(Malformed, "the response", err)
		}
		rest := bytes.TrimLeft(data[c.Offset:], "+-.0123456789eE")
		data = append(append(bytes.Clone(data[:c.Offset]), '0'), rest...)
	}
}

// parts are the elements of a list, or the members of an object with their keys.
func (v value) parts() iter.Seq[value] {
	return func(yield func(value) bool) {
		depth, from := 0, 1
		for i := 1; i < len(v)-1; i++ {
			switch v[i] {
			case '"':
				i += v[i:].quoted() - 1
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			case ',':
				if depth > 0 {
					continue
				}
				if !yield(v[from:i]) {
					return
				}
				from = i + 1
			}
		}
		if from < len(v)-1 {
			yield(v[from : len(v)-1])
		}
	}
}

// quoted is the length of the string that v begins with.
func (v value) quoted() int {
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(v)
}

// get is a member of an object; its name needs no escapes.
func (v value) get(name string) value {
	if !strings.HasPrefix(string(v), "{") {
		return ""
	}
	for part := range v.parts() {
		if rest, ok := strings.CutPrefix(string(part), `"`+name+`":`); ok {
			return value(rest)
		}
	}
	return ""
}

// list says what is in a list, and whether it is one.
func (v value) list() (iter.Seq[value], bool) {
	if !strings.HasPrefix(string(v), "[") {
		return func(func(value) bool) {}, false
	}
	return v.parts(), true
}

// text is a string.
func (v value) text() string {
	var out string
	if !v.isText() || canonical.Parse([]byte(v), &out, limits()) != nil {
		return ""
	}
	return out
}

func (v value) isText() bool   { return strings.HasPrefix(string(v), `"`) }
func (v value) isObject() bool { return strings.HasPrefix(string(v), "{") }
