package mcpgate

import (
	"bytes"
	"regexp"

	"github.com/iff-run/iff/internal/canonical"
)

// A client waits for an answer to each of its ids, so one that is refused has to be answered under its own, also where the message cannot
// be read as a whole. An id is only ever told to whoever sent it.

// whose is the id of a message that was refused, as canonical JSON: of its outermost object, if that has exactly one that can be used. It
// is empty otherwise.
func whose(line []byte) string {
	ids := outerIDs(line)
	if len(ids) != 1 {
		return ""
	}
	raw, err := canonical.NewRaw(ids[0], canonical.Limits{Bytes: maxID})
	switch {
	case err == nil && usable(raw.String()):
		return raw.String()
	case err != nil && number.Match(ids[0]) && usable(string(ids[0])):
		return string(ids[0]) // a number that not every reader has room for
	}
	return ""
}

var (
	number = regexp.MustCompile(`^-?[0-9]{1,19}$`)
	// atEnd is an id among the last members of an object that is not in another one.
	atEnd = regexp.MustCompile(`"id"\s*:\s*(-?[0-9]{1,19}|"[^"\\]{1,100}")\s*(,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
)

// whoseEnds is the id of a message of which only the ends are known.
func whoseEnds(head, tail []byte) string {
	if id := whose(head); id != "" {
		return id
	}
	if m := atEnd.FindSubmatch(tail); m != nil {
		return whose(append(append([]byte(`{"id":`), m[1]...), '}'))
	}
	return ""
}

// outerIDs are the values of the members called id of an object, as far as it can be read.
func outerIDs(text []byte) [][]byte {
	var out [][]byte
	depth, key := 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			key = depth == 1 && text[i] == '{'
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			end := i + canonical.StringLength(text[i:])
			if key && string(text[i:end]) == `"id"` {
				out = append(out, valueAt(text[end:]))
			}
			key = false
			i = end - 1
		}
	}
	return out
}

// valueAt is the value behind a colon.
func valueAt(text []byte) []byte {
	text = bytes.TrimLeft(text, ": \t\r\n")
	if len(text) > 0 && text[0] == '"' {
		return text[:canonical.StringLength(text)]
	}
	if end := bytes.IndexAny(text, ",} \t\r\n"); end >= 0 {
		return text[:end]
	}
	return nil // it goes on where nothing is known
}
