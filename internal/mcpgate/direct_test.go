package mcpgate

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/iff-run/iff/internal/canonical"
)

const (
	newest = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"agent","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}}`
	older  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}`
)

// TestDirectCallsAreAnsweredLikeThoseOfTheSDK makes each call three times: the first passes through the SDK, the others need not.
func TestDirectCallsAreAnsweredLikeThoseOfTheSDK(t *testing.T) {
	for _, meta := range []string{`"_meta":{}`, `"_meta":{"progressToken":7,"claudecode/toolUseId":"x"}`, newest} {
		for _, call := range []string{`"name":"ping","arguments":{"a":[null]}`, `"name":"ping"`, `"name":"rm"`, `"name":"fs_read","arguments":{"path":1}`} {
			c := newRig(t, nil).raw(t)
			if meta != newest {
				c.hello("2025-11-25")
			}
			var first string
			for i := range 3 {
				c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"n%d","method":"tools/call","params":{%s,%s}}`, i, call, meta))
				got := strings.Replace(c.hear(), fmt.Sprintf(`"id":"n%d"`, i), `"id":0`, 1)
				if first == "" {
					first = got
				}
				if got != first {
					t.Errorf("%s %s: at first %s\nthen %s", call, meta, first, got)
				}
			}
		}
	}
}

// TestWhatIsDirect is that a call which says of the protocol what the SDK has not let pass is the SDK's.
func TestWhatIsDirect(t *testing.T) {
	raw := func(text string) canonical.Raw { return unwrap(canonical.NewRaw([]byte(text), canonical.Limits{}))(t) }
	plain := &spoken{said: map[string]canonical.Raw{}, meta: mcp.Meta{}}
	modern := &spoken{said: map[string]canonical.Raw{mcp.MetaKeyProtocolVersion: raw(`"2026-07-28"`)}, meta: mcp.Meta{mcp.MetaKeyProtocolVersion: "2026-07-28"}}
	const same = `{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	for _, c := range []struct {
		like               *spoken
		method, id, params string
		direct             bool
	}{
		{plain, methodCall, "1", `{"name":"a","arguments":{}}`, true},
		{plain, methodCall, "1", `{"name":"a","_meta":{"progressToken":"x","other":1}}`, true},
		{nil, methodCall, "1", `{"name":"a"}`, false},
		{plain, methodCall, "", `{"name":"a"}`, false},
		{plain, "tools/list", "1", `{"name":"a"}`, false},
		{plain, methodCall, "1", `{"arguments":{}}`, false},
		{plain, methodCall, "1", `{"name":"a","requestState":"x"}`, false},
		{plain, methodCall, "1", `{"name":"a","_meta":{"progressToken":{}}}`, false},
		{plain, methodCall, "1", same, false},
		{modern, methodCall, "1", same, true},
		{modern, methodCall, "1", `{"name":"a"}`, false},
		{modern, methodCall, "1", `{"name":"a",` + older + `}`, false},
		{modern, methodCall, "1", `{"name":"a",` + newest + `}`, false},
	} {
		w := &wire{of: &session{}}
		w.of.spoken.Store(c.like)
		d := w.direct(frame{id: c.id, method: c.method, params: c.params})
		if (d != nil) != c.direct {
			t.Errorf("%s %s: direct %t", c.method, c.params, d != nil)
		}
		if d != nil && c.like == modern && !maps.Equal(map[string]any(d.req.Params.Meta), map[string]any(modern.meta)) {
			t.Errorf("%s: %v", c.params, d.req.Params.Meta)
		}
	}
}
