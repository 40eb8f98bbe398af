package broker

import (
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
)

// hints are what of the arguments of a call policies may ask for: members that are
// texts. One that is something else is as if it were not there.
type hints struct{ op, method, via string }

// hintsOf reads arguments in canonical form. Their keys are in order and there
// once, so a scan finds them: the arguments may hold a whole file.
func hintsOf(arguments string) hints {
	var h hints
	rest := strings.TrimPrefix(arguments, "{")
	for strings.HasPrefix(rest, `"`) {
		n := canonical.StringLength(rest)
		key, value := rest[:n], strings.TrimPrefix(rest[n:], ":")
		n = canonical.ValueLength(value)
		switch key {
		case `"op"`:
			h.op = textOf(value[:n])
		case `"method"`:
			h.method = textOf(value[:n])
		case `"via"`:
			h.via = textOf(value[:n])
		}
		rest = strings.TrimPrefix(value[n:], ",")
	}
	return h
}

// textOf is a JSON string's text; empty for another value.
func textOf(value string) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if plain := value[1 : len(value)-1]; strings.IndexByte(plain, '\\') < 0 {
		return strings.Clone(plain) // it may be kept, and not with a whole file beside it
	}
	var out string
	if canonical.Parse([]byte(value), &out, canonical.Limits{Bytes: capability.MaxEnvelope}) != nil {
		return ""
	}
	return out
}
