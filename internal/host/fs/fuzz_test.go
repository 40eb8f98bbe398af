//go:build linux || darwin

package fs

import (
	"errors"
	"strings"
	"testing"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
)

func quoteJSON(s string) string {
	data, err := canonical.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// What parses is a call that this host does: its operation belongs to the
// capability, what it writes to may be written, its bounds hold. What does not
// is refused with a reason.
func FuzzArguments(f *testing.F) {
	for op, members := range takes {
		f.Add("a/b", `{"op":"`+op+`"}`)
		for member := range strings.FieldsSeq(members) {
			f.Add("a/b", `{"op":"`+op+`","content":"x","`+member+`":"0644"}`)
			f.Add("a/b", `{"op":"`+op+`","`+member+`":1}`)
		}
	}
	f.Add(".iff-r1.2/x", `{}`)
	f.Add("d", `{"op":"mkdir","mode":"0477"}`)
	f.Add(".", `{"op":"rename","to":"x/../y"}`)
	f.Add("x", `{"op":"write","base64":"AA=="}`)
	f.Add("x", `{"op":"write","Op":"delete","content":""}`)
	f.Add("x", `{"op":"chmod","mode":"4755"}`)
	f.Fuzz(func(t *testing.T, target, args string) {
		for _, class := range []capability.Capability{capability.FSRead, capability.FSWriteRev, capability.FSWriteIrrev} {
			to, err := capability.ParseTarget(class, target)
			if err != nil {
				return
			}
			env, err := capability.NewEnvelope(capability.Call{Target: to, Arguments: []byte(args)})
			if err != nil {
				return
			}
			c, err := parse(env)
			if err != nil {
				var bad *fault
				if !errors.As(err, &bad) || bad.reason == "" || bad.detail == "" || c != (call{}) {
					t.Errorf("%s: %v", args, err)
				}
				continue
			}
			if _, known := takes[c.op]; !known || c.reads() != (class == capability.FSRead) || c.mode > 0o777 || c.limit > MaxRead || c.offset < 0 {
				t.Errorf("%s: %+v", args, c)
			}
			least := uint32(leastFile)
			if c.op == opMkdir {
				least = leastDir
			}
			if unreserved(c.object) != nil || c.op == opRename && unreserved(c.to) != nil || !c.reads() && c.mode&least != least && c.op != opDelete && c.op != opRename {
				t.Errorf("%s %s: reserved, or unreadable with %04o", target, args, c.mode)
			}
			if !c.reads() && (writable(c.object) != nil || c.op == opRename && (writable(c.to) != nil || c.to.Corpus() != c.object.Corpus())) {
				t.Errorf("%s %s: written to", target, args)
			}
		}
	})
}

func TestArgumentsRefused(t *testing.T) {
	for _, c := range []struct {
		class capability.Capability
		args  string
	}{
		{capability.FSRead, `{"op":"delete"}`}, {capability.FSRead, `{"op":"list","limit":1}`}, {capability.FSRead, `{"offset":-1}`},
		{capability.FSRead, `{"expect":"absent"}`}, {capability.FSRead, `{"limit":null}`}, {capability.FSRead, `{"offset":1.5}`},
		{capability.FSWriteRev, `{}`}, {capability.FSWriteRev, `{"op":"read"}`}, {capability.FSWriteRev, `{"op":"write"}`},
		{capability.FSWriteRev, `{"op":"write","content":"x","base64":"AA=="}`}, {capability.FSWriteRev, `{"op":"write","base64":"A"}`},
		{capability.FSWriteRev, `{"op":"write","base64":"AA==\n"}`}, {capability.FSWriteRev, `{"op":"write","base64":"AB=="}`},
		{capability.FSWriteRev, `{"op":"write","content":"","mode":"644"}`}, {capability.FSWriteRev, `{"op":"write","content":"","mode":"4755"}`},
		{capability.FSWriteRev, `{"op":"write","content":"","mode":"+644"}`}, {capability.FSWriteRev, `{"op":"write","content":"","expect":"any"}`},
		{capability.FSWriteRev, `{"op":"mkdir","content":""}`}, {capability.FSWriteRev, `{"op":"write","content":"","recursive":true}`},
		{capability.FSWriteRev, `{"op":"write","content":"","size":1}`}, {capability.FSWriteIrrev, `{"op":"chmod"}`},
		{capability.FSWriteIrrev, `{"op":"rename"}`}, {capability.FSWriteIrrev, `{"op":"delete","to":"x"}`},
		{capability.FSWriteIrrev, `{"op":"Delete"}`}, {capability.FSWriteIrrev, `{"op":"rename","to":"/etc/passwd"}`},
	} {
		_, err := parse(envelope(t, c.class, "f", c.args))
		wantReason(t, c.args, refusal("", err), "arguments-invalid")
	}
}
