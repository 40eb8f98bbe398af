package tool

import (
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

// member is one member of an object, its value in canonical form.
type member struct{ name, value string }

// members takes an object in canonical form apart; nil if it is none. It is for
// objects of somebody else's shape, where null is a value too.
func members(object string) []member {
	var out []member
	for _, part := range parts(object, '{', '}') {
		at := canonical.ValueLength(part)
		name, ok := text(part[:at])
		if !ok {
			return nil
		}
		out = append(out, member{name, part[at+1:]})
	}
	return out
}

// find is the value of a member; empty if there is none, or null.
func find(list []member, name string) string {
	for _, m := range list {
		if m.name == name && m.value != "null" {
			return m.value
		}
	}
	return ""
}

// elements takes an array in canonical form apart; nil if it is none.
func elements(array string) []string { return parts(array, '[', ']') }

// parts cuts canonical JSON at the commas of its outermost level.
func parts(json string, open, end byte) []string {
	if len(json) < 2 || json[0] != open || json[len(json)-1] != end || len(json) == 2 {
		return nil
	}
	var out []string
	rest := json[1 : len(json)-1]
	for {
		at := canonical.ValueLength(rest)
		if open == '{' && at < len(rest) { // the name; then the value
			at += 1 + canonical.ValueLength(rest[at+1:])
		}
		out = append(out, rest[:at])
		if at >= len(rest) {
			return out
		}
		rest = rest[at+1:]
	}
}

// text reads a string in canonical form.
func text(json string) (string, bool) {
	switch {
	case !strings.HasPrefix(json, `"`):
		return "", false
	case len(json) > 1 && json[len(json)-1] == '"' && strings.IndexByte(json, '\\') < 0:
		return json[1 : len(json)-1], true // it is written as it is
	}
	var s string
	err := canonical.Parse([]byte(json), &s, canonical.Limits{Bytes: MaxFrame})
	return s, err == nil
}

// quote writes a string in canonical form; false if it is not UTF-8.
func quote(s string) (string, bool) {
	b, err := canonical.Marshal(s)
	return string(b), err == nil
}
