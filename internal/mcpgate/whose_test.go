package mcpgate

import (
	"strings"
	"testing"
)

// What cannot be read is answered under the id that its sender gave it, if every
// reader would take that for the message's.
func TestWhose(t *testing.T) {
	for text, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":1,"A":2}}`:      "7",
		`{"params":{"id":9,"x":[{"id":8}]},"method":"m","jsonrpc":"2.0","id":"a b"}`: `"a b"`,
		`{"id": "\u0061", "x": "\ud800"}`:                                            `"a"`,
		`{"id":1,"id":2}`:                                                            "",
		`{"id":1.5}`:                                                                 "",
		`{"id":null}`:                                                                "",
		`{"id":{"id":1}}`:                                                            "",
		`{"id":12345678901234567}`:                                                   "12345678901234567",
		`{"id":123456789012345678901234567890}`:                                      "",
		`[{"id":1}]`:                                                                 "",
		`{"x":"\"id\":5"}`:                                                           "",
		`{"x":{"id":5`:                                                               "",
		`{"id":5`:                                                                    "",
		`{"id":"` + strings.Repeat("a", 200) + `"}`:                                  "",
		``:      "",
		`{"id"`: "",
	} {
		if got := whose([]byte(text)); got != want {
			t.Errorf("%.80s: %q, not %q", text, got, want)
		}
	}
	for _, c := range []struct{ head, tail, want string }{
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fs_write","arguments":{"content":"xxx`, `xxx"}}}`, "3"},
		{`{"method":"tools/call","params":{"arguments":{"content":"xxx`, `xxx"}},"jsonrpc":"2.0","id":4}`, "4"},
		{`{"method":"tools/call","params":{"arguments":{"content":"xxx`, `xxx"}},"id":"q","jsonrpc":"2.0"} `, `"q"`},
		{`{"method":"tools/call","params":{"arguments":{"content":"xxx`, `xxx","id":5}}}`, ""},
		{`{"params":{"id":6,"x":"`, `"}}`, ""},
	} {
		if got := whoseEnds([]byte(c.head), []byte(c.tail)); got != c.want {
			t.Errorf("%s ... %s: %q, not %q", c.head, c.tail, got, c.want)
		}
	}
}

func FuzzWhose(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":8}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got := whose(line)
		if read, fault := parse(line); fault == nil && read.id != "" && got != read.id {
			t.Errorf("%q: it is %q, and read strictly %q", line, got, read.id)
		}
	})
}
