package control

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/iff-run/iff/corpus"
	"github.com/iff-run/iff/internal/canonical"
)

const (
	header = "iff/control/v1\n"

	// The parser of TOML takes time quadratic in the parts of a key and the nesting of
	// tables in a line; both end with the line.
	maxTOML  = 1 << 20
	maxLine  = 4096
	maxParts = 64
)

// members is the state of a file of which only some members count; false if it
// has not the form that its name promises.
func members(name string, data []byte, keys []string) (corpus.State, bool) {
	if len(bytes.TrimSpace(data)) == 0 {
		return corpus.Absent, true
	}
	if path.Ext(name) == ".toml" {
		var ok bool
		if data, ok = fromTOML(data); !ok {
			return "", false
		}
	}
	limits := canonical.Limits{Bytes: 2 * maxBytes, Depth: 128}
	top, err := canonical.NewRaw(data, limits)
	if err != nil || !strings.HasPrefix(top.String(), "{") {
		return "", false
	}
	keys = slices.Clone(keys)
	slices.Sort(keys)
	text := []byte(header)
	for _, key := range slices.Compact(keys) {
		if value, ok := member(top.String(), key); ok {
			text = fmt.Appendf(text, "%q %s\n", key, value)
		}
	}
	if len(text) == len(header) {
		return corpus.Absent, true
	}
	return corpus.Facts{Kind: corpus.File, Content: sha256.Sum256(text)}.State(), true
}

// member is the value at a key, in canonical form.
func member(top, key string) (string, bool) {
	pointer, ok := strings.CutPrefix(key, "/")
	if !ok {
		return child(top, key)
	}
	at := top
	for _, step := range strings.Split(pointer, "/") {
		if at, ok = child(at, strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")); !ok {
			return "", false
		}
	}
	return at, true
}

// child is a member of a value in canonical form, in which nothing but strings
// needs a second look.
func child(object, key string) (string, bool) {
	name, err := canonical.Marshal(key)
	if err != nil || !strings.HasPrefix(object, "{") {
		return "", false
	}
	for at := 1; object[at] == '"'; at++ {
		colon := skip(object, at)
		end := skip(object, colon+1)
		if object[at:colon] == string(name) {
			return object[colon+1 : end], true
		}
		if at = end; object[at] == '}' {
			break
		}
	}
	return "", false
}

// skip is where the value that begins at a place of a canonical form ends.
func skip(text string, at int) int {
	depth, quoted := 0, false
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ':' || c == ',' || c == '}' || c == ']'):
			return at
		case c == '}' || c == ']':
			depth--
		}
	}
	return at
}

// fromTOML is the JSON document that a TOML file means.
func fromTOML(data []byte) ([]byte, bool) {
	if len(data) > maxTOML {
		return nil, false
	}
	for line := range bytes.Lines(data) {
		if len(line) > maxLine || bytes.Count(line, []byte(".")) > maxParts || bytes.Count(line, []byte("{")) > maxParts {
			return nil, false
		}
	}
	var value map[string]any
	if err := toml.Unmarshal(data, &value); err != nil {
		return nil, false
	}
	return appendJSON(nil, value)
}

// appendJSON writes a value of TOML; false for what JSON has not.
func appendJSON(out []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case map[string]any:
		return appendTable(out, v)
	case []map[string]any:
		return appendList(out, v)
	case []any:
		return appendList(out, v)
	case string:
		return appendText(out, v)
	case bool:
		return strconv.AppendBool(out, v), true
	case int64:
		if v > 1<<53 || v < -1<<53 { // as text: JSON would round it
			return appendText(out, strconv.FormatInt(v, 10))
		}
		return strconv.AppendInt(out, v, 10), true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return appendText(out, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return strconv.AppendFloat(out, v, 'g', -1, 64), true
	case time.Time:
		return appendText(out, v.Format(time.RFC3339Nano))
	}
	return out, false
}

func appendTable(out []byte, v map[string]any) ([]byte, bool) {
	out = append(out, '{')
	ok := true
	for key, item := range v {
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		if out, ok = appendText(out, key); !ok {
			return out, false
		}
		if out, ok = appendJSON(append(out, ':'), item); !ok {
			return out, false
		}
	}
	return append(out, '}'), true
}

func appendList[T any](out []byte, v []T) ([]byte, bool) {
	out = append(out, '[')
	ok := true
	for i, item := range v {
		if i > 0 {
			out = append(out, ',')
		}
		if out, ok = appendJSON(out, item); !ok {
			return out, false
		}
	}
	return append(out, ']'), true
}

func appendText(out []byte, s string) ([]byte, bool) {
	quoted, err := canonical.Marshal(s)
	return append(out, quoted...), err == nil && utf8.ValidString(s)
}
