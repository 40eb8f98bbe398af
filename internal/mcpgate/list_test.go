package mcpgate

import (
	"fmt"
	"strings"
	"testing"
)

// many are more tools than one list can hold.
type many struct{ upstreams }

func (many) Tools() []Tool {
	var out []Tool
	for i := range 5 {
		name := fmt.Sprintf("large%d", i)
		out = append(out, Tool{name, fmt.Appendf(nil, `{"description":"%s","inputSchema":{"type":"object"},"name":"%s"}`, strings.Repeat("x", 2<<20), name)})
	}
	return append(out, Tool{"small", []byte(`{"inputSchema":{"type":"object"},"name":"small"}`)})
}

// Servers with too much to say take nobody's tools away, iff's own least of all.
func TestTooManyTools(t *testing.T) {
	var said []string
	r := newRig(t, func(o *Options, _ *limits) {
		o.Tools = new(many)
		o.Report = func(err error) { said = append(said, err.Error()) }
	})
	list, err := r.g.listTools()
	text := string(list)
	if err != nil || !strings.Contains(text, `"name":"fs_write"`) || !strings.Contains(text, `"name":"large0"`) || !strings.Contains(text, `"name":"small"`) || strings.Contains(text, `"name":"large4"`) {
		t.Errorf("%v, a list of %d bytes", err, len(text))
	}
	if len(said) != 1 || !strings.Contains(said[0], "tools of upstream servers do not fit") {
		t.Errorf("said: %q", said)
	}
}
