package connect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iff-run/iff/internal/canonical"
)

// Object is an object or table to write, its members in this order. Values are
// string, bool, int, []string and Object.
type Object []Member

// Member is a named value.
type Member struct {
	Name  string
	Value any
}

// tree is what a file means: string, bool, number (as text), nil, []any and tree.
type tree = map[string]any

// number is a number as it is written, which no edit touches.
type number string

// meaning is the value as a parser would give it back.
func meaning(v any) any {
	switch v := v.(type) {
	case int:
		return number(strconv.Itoa(v))
	case []string:
		out := []any{}
		for _, s := range v {
			out = append(out, s)
		}
		return out
	case Object:
		out := tree{}
		for _, m := range v {
			out[m.Name] = meaning(m.Value)
		}
		return out
	}
	return v
}

// at is the value at a path.
func at(t tree, path ...string) (any, bool) {
	var v any = t
	for _, name := range path {
		object, ok := v.(tree)
		if !ok {
			return nil, false
		}
		if v, ok = object[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// members are the names of the members of the object at a path, sorted.
func members(t tree, path ...string) []string {
	v, _ := at(t, path...)
	object, _ := v.(tree)
	var out []string
	for name := range object {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// items are the texts of the array at a path.
func items(t tree, path ...string) []string {
	v, _ := at(t, path...)
	array, _ := v.([]any)
	var out []string
	for _, item := range array {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// jsonText writes a value as JSON, over several lines where indent is not empty:
// what begins each line of the value's own members.
func jsonText(v any, indent, step, newline string) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []string:
		var parts []string
		for _, s := range v {
			parts = append(parts, quote(s))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Object:
		if len(v) == 0 {
			return "{}"
		}
		open, between, end := newline+indent, ","+newline+indent, newline+strings.TrimSuffix(indent, step)
		if newline == "" {
			open, between, end = "", ", ", ""
		}
		var parts []string
		for _, m := range v {
			parts = append(parts, quote(m.Name)+": "+jsonText(m.Value, indent+step, step, newline))
		}
		return "{" + open + strings.Join(parts, between) + end + "}"
	}
	return fmt.Sprint(v)
}

// quote writes a text as JSON has it, which TOML reads too.
func quote(s string) string {
	out, err := canonical.Marshal(s)
	if err != nil { // not UTF-8: it is no path that a configuration file can name
		return strconv.QuoteToASCII(s)
	}
	return string(out)
}

func tomlText(v any) string {
	object, ok := v.(Object)
	if !ok {
		return jsonText(v, "", "", "")
	}
	var parts []string
	for _, m := range object {
		parts = append(parts, tomlKey(m.Name)+" = "+tomlText(m.Value))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func tomlKey(name string) string {
	bare := name != ""
	for _, r := range name {
		bare = bare && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	if bare {
		return name
	}
	return quote(name)
}
